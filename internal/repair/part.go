package repair

import (
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// The lists of an item that a pointer can mean an element of.
const (
	inCalls   = "calls"
	inResults = "results"
	inBlocks  = "blocks"
)

// partOf splits a pointer: "/calls/1" means call 1. The list is "" when it has
// another form.
func partOf(pointer string) (list string, n int) {
	list, number, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 {
		return "", 0
	}
	return list, n
}

// rewords reports whether an edit changes what a record of an item says, in place
// of where it stands or of a column beside it.
func rewords(e session.Edit) bool {
	switch e.Op {
	case session.Wrap, session.Scrub:
		return true
	case session.Set:
		return e.Ref.Table != session.TableSessions &&
			(e.Ref.Pointer != "" || e.Field == session.FieldText || e.Field == session.FieldBranch)
	}
	return false
}

// scrubs counts the edits of a fix that mend what is no text.
func scrubs(f Fix) int {
	n := 0
	for _, e := range f.Edits {
		if e.Op == session.Scrub {
			n++
		}
	}
	return n
}

// partMark stands in the key of a part of an item between the key of the record
// that it was taken from and the number of the part.
const partMark = "#" + inResults + "/"

// isPart reports whether a reference means a part that was taken out of a record.
func isPart(r session.Ref) bool { return strings.Contains(r.Key, partMark) }

// recordRow is the row of the stored record that a row stands for a part of.
func recordRow(row string) string {
	row, _, _ = strings.Cut(row, partMark)
	return row
}

// recordOf is the stored record that a reference means something of, be it a part
// that an earlier edit took out.
func recordOf(r session.Ref) session.Ref {
	r.Pointer = ""
	if at := strings.LastIndex(r.Key, partMark); at >= 0 {
		r.Key = r.Key[:at]
	}
	return r
}
