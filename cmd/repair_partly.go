package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/ui"
)

// errChanged is the cause of an error after which a store is not what it was.
var errChanged = errors.New("the store was changed")

// partly says of a repair that failed what was changed before; nothing was when
// there is no receipt.
func partly(receipt *repair.Receipt, err error) error {
	if receipt == nil {
		return err
	}
	if errors.Is(err, store.ErrReplaced) { // which says where they are
		return errors.Join(err, errChanged)
	}
	sessions := 0
	for _, b := range receipt.Batches {
		sessions += len(b.Sessions)
	}
	what, class := err.Error(), problem.Unreadable
	if known, ok := errors.AsType[*problem.Error](err); ok {
		what, class = known.What, known.Class
	}
	if errors.Is(err, context.Canceled) {
		what = "interrupted"
	}
	if receipt.State == repair.Done {
		return &problem.Error{
			Class: class, Err: errors.Join(errChanged, err), What: what,
			Next: "Nothing else is missing. To take the repair back: `" + undoCommand(receipt).Line + "`.",
		}
	}
	return &problem.Error{
		Class: class, Err: errors.Join(errChanged, err),
		What: fmt.Sprintf("%s; %s changed before that, verified, and stay as they are now", what, ui.Count(sessions, "session")),
		Next: "Run the repair again for the rest, or take the part back with `" + undoCommand(receipt).Line + "`.",
	}
}

// interruption is the error of a command that a signal stopped, with what it
// had changed. One that had done everything before the signal came ends as
// always.
func interruption(err error) error {
	if !errors.Is(err, errChanged) {
		return errInterrupted
	}
	if _, done := errors.AsType[shown](err); done {
		return err
	}
	return errors.Join(errInterrupted, err)
}
