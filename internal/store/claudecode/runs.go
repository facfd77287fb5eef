package claudecode

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// fieldLine is how the names of what a repair takes apart begin: see nameRun.
const fieldLine = "line"

// nameRun says which lines a run is.
func nameRun(r *filelog.Run) string {
	if r.Last == r.Number {
		return fmt.Sprintf("%s %d", fieldLine, r.Number)
	}
	return fmt.Sprintf("%ss %d to %d", fieldLine, r.Number, r.Last)
}

// runOf is the one that a line is a piece of, nil for none.
func (c *chain) runOf(i int) *filelog.Run {
	at, exact := slices.BinarySearchFunc(c.runs, c.nodes[i].offset, func(r *filelog.Run, at int64) int { return cmp.Compare(r.Offset, at) })
	if !exact {
		at--
	}
	if at < 0 || c.nodes[i].offset >= c.runs[at].Offset+int64(c.runs[at].Length) {
		return nil
	}
	return c.runs[at]
}

// tellRuns are the faults of lines that the runtime passes over, although there are records
// in them. The session is read as a repair leaves it, and these say what is missing until
// then: a result that is there is neither missing nor made up.
func (c *chain) tellRuns() {
	apart := "each record on its own line"
	for _, r := range c.runs {
		name := nameRun(r)
		f := session.Fault{Kind: session.Undecodable, Item: -1, Field: name, Passed: true}
		switch {
		case r.Joined:
			f.Detail, f.Remedy = "line ends stand within a record", "join what is one record in "+name
		case r.Records > 1 && r.Last > r.Number:
			f.Detail, f.Remedy = fmt.Sprintf("%d records are within them", r.Records), fmt.Sprintf("split %s into their %d records", name, r.Records)
		case r.Records > 1:
			f.Detail, f.Remedy = fmt.Sprintf("%d records share it", r.Records), fmt.Sprintf("split %s into its %d records", name, r.Records)
		case len(r.Pieces) > 1:
			f.Detail, f.Remedy = "a whole record is beside what was cut off", "part the record on "+name+" from what was cut off"
		default:
			f.Detail, f.Remedy = "NUL bytes are beside a record, or in it", "take the NUL bytes out of "+name
		}
		if f.Calls = c.answeredIn(r); len(f.Calls) > 0 {
			f.Detail += "; the results of these calls are there, and the model does not see them: " + strings.Join(f.Calls, ", ")
		}
		if uuid := c.twice[r]; uuid != "" {
			f.Detail += "; another line has the identifier " + uuid + " as well and says something else, so compare the two before you repair"
		} else {
			f.Default = &apart
		}
		c.faults = append(c.faults, f)
	}
}

// nodeAt is the line that begins at an offset, or the one behind it.
func (c *chain) nodeAt(offset int64) (at int, exact bool) {
	return slices.BinarySearchFunc(c.nodes, offset, func(n node, at int64) int { return cmp.Compare(n.offset, at) })
}

// answeredIn are the calls whose results a run has.
func (c *chain) answeredIn(r *filelog.Run) (calls []string) {
	for i, _ := c.nodeAt(r.Offset); i < len(c.nodes) && c.runOf(i) == r; i++ {
		for _, call := range c.toolsOf(&c.nodes[i], user) {
			calls = append(calls, c.Text(call))
		}
	}
	return calls
}
