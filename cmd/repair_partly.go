package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
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

// applied prints what became of a plan that was carried out. A tree that was left out
// still has what was found in it.
func (r *repairRun) applied(receipt *repair.Receipt, o render.Outcome) error {
	o.Applied, o.Receipt, o.Ledger, o.LeftOut = true, receipt.Path(), &receipt.Ledger, receipt.LeftOut
	for _, out := range receipt.LeftOut {
		at := slices.IndexFunc(r.plan.Trees, func(t *repair.Tree) bool { return t.Root == out.Root })
		r.left = slices.DeleteFunc(r.left, func(f *check.Finding) bool { return slices.Contains(r.plan.Trees[at].After, f) })
		for _, f := range r.plan.Trees[at].Before {
			if slices.Contains(r.rules, f.Rule) {
				r.left = append(r.left, f)
			}
		}
	}
	o.Left, o.ExitCode = r.left, r.code()
	if len(o.LeftOut) > 0 {
		o.ExitCode = worse(o.ExitCode, exitFindings)
	}
	err := r.end(o)
	if unprinted(err) {
		return untold(err, "the repair of "+r.plan.Store.Path+" is done and verified", keptIn(o))
	}
	return err
}

// keptIn says where what a repair leaves behind is, and how it is taken back.
func keptIn(o render.Outcome) string {
	if o.Output != "" {
		return "The repaired copy is " + o.Output + ", and what left it is in " + o.Receipt + "."
	}
	return "The backup is " + o.Backup + ". To take the repair back: `" + o.Next[0].Line + "`."
}

// unprinted reports whether an error is one of writing what people or programs read.
func unprinted(err error) bool {
	_, done := errors.AsType[shown](err)
	return err != nil && !done && problem.ClassOf(err) == 0
}

// untold is the problem with a change that was made and could not be told of.
func untold(err error, done, next string) error {
	return &problem.Error{
		Class: problem.Unreadable, Err: errors.Join(errChanged, err), Next: next,
		What: done + "; only the report of it could not be printed: " + problem.Reason(err),
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
