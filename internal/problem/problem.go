// Package problem is the error that people read: what is wrong, what to do
// next, and the exit code that a script sees. Package cmd prints it; every
// other package only makes it.
package problem

import (
	"errors"
	"fmt"
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
