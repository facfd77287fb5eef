package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
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
	return &problem.Error{
		Class: class, Err: errors.Join(errChanged, err),
		What: fmt.Sprintf("%s; %s changed before that, verified, and stay as they are now", what, ui.Count(sessions, "session")),
		Next: "Run the repair again for the rest, or take the part back with `" + undoCommand(receipt).Line + "`.",
	}
}

// changeKey is where the context of a command holds an error with errChanged.
type changeKey struct{}

// keepChange notes for the end of the program what an interrupted command has
// changed.
func keepChange(cmd *cobra.Command, err error) error {
	if errors.Is(err, errChanged) {
		cmd.SetContext(context.WithValue(cmd.Context(), changeKey{}, err))
	}
	return err
}

// interruption is the error of an interrupted command: with what it changed, if
// it did. One that had done everything before the signal came ends as always.
func interruption(ran *cobra.Command) error {
	if part, ok := ran.Context().Value(changeKey{}).(error); ok {
		return errors.Join(errInterrupted, part)
	}
	return errInterrupted
}
