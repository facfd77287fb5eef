// Package problem is the error that people read: what is wrong, what to do
// next, and the exit code that a script sees. Package cmd prints it; every
// other package only makes it.
package problem

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Class is the kind of problem; its number is the exit code (docs/exit-codes.md).
type Class int

// The classes.
const (
	Usage      Class = 2 // wrong flags, configuration, unknown session
	Unreadable Class = 3 // no store found, not readable, result incomplete
	RolledBack Class = 4 // a repair did not verify and was undone
	Busy       Class = 5 // in use, changed meanwhile, undo refused
)

// Error is a problem for people.
type Error struct {
	Class Class
	What  string // one sentence without a final dot: "notes.txt is not a session store: it is plain text (72 bytes)"
	Next  string // what to do now, "" when nothing can be done
	Err   error  // the cause, not printed; for errors.Is
}

func (e *Error) Error() string { return e.What }
func (e *Error) Unwrap() error { return e.Err }

// New makes a problem; next may be "".
func New(class Class, next, format string, args ...any) *Error {
	return &Error{Class: class, Next: next, What: fmt.Sprintf(format, args...)}
}

// ClassOf finds the class of an error, 0 when it is none of ours.
func ClassOf(err error) Class {
	if p, ok := errors.AsType[*Error](err); ok {
		return p.Class
	}
	return 0
}

// DidYouMean is a question for the words that somebody may have meant, "" if none comes near:
// `Did you mean "select"?`
func DidYouMean(typed string, words []string) string {
	const most = 3
	low := strings.ToLower(typed)
	limit := max(1, len(low)/3)
	best := map[int][]string{}
	for _, w := range words {
		d := editDistance(low, strings.ToLower(w))
		if len(low) > 1 && (strings.HasPrefix(strings.ToLower(w), low) || len(w) > 2 && strings.HasPrefix(low, strings.ToLower(w))) {
			d = min(d, 1)
		}
		if w != "" && low != "" && d <= limit && !slices.Contains(best[d], w) {
			best[d] = append(best[d], w)
		}
	}
	for d := range limit + 1 {
		if found := best[d]; len(found) > 0 {
			return `Did you mean "` + strings.Join(found[:min(len(found), most)], `" or "`) + `"?`
		}
	}
	return ""
}

// editDistance is how many letters have to be put in, taken out, replaced, or exchanged with
// their neighbour to make one word of the other.
func editDistance(a, b string) int {
	var before, above []int // the two rows before the current one
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, above, row = above, row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(above[j+1]+1, row[j]+1, above[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

// Reason is why an operation on a file failed, in the system's words and without the
// path, which the sentence around it names as the user gave it.
func Reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err.Error()
	}
	return err.Error()
}
