package repair

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
)

// LeftOut is a tree of a plan that could not be carried out, and stayed as it was.
type LeftOut struct {
	Root string
	Why  string
	Next string // what to do about it, "" for nothing
}

// parts makes the changes of some trees in the transaction that is open. When that
// fails because of a tree, the transaction is rolled back and each half of them gets
// one of its own, so that in the end only those are left out that fail alone.
func (a *application) parts(trees []*Tree) error {
	err := a.batch(trees)
	if !aboutTrees(err) {
		return err
	}
	if len(trees) == 1 {
		a.leaveOut(trees[0], err)
		return nil
	}
	half := len(trees) / 2
	for _, part := range [][]*Tree{trees[:half], trees[half:]} {
		if err := a.ed.Begin(a.ctx); err != nil {
			return err
		}
		if err := a.parts(part); err != nil {
			return err
		}
	}
	return nil
}

// errUnclean is in the error of a batch that could not be taken back as a whole, or
// whose trace in the receipt could not: nothing is tried again then.
var errUnclean = errors.New("a failed change could not be taken back")

// unclean is the error of a batch, and of what was done to take it back.
func unclean(err, failed error) error {
	if failed == nil {
		return err
	}
	return errors.Join(err, errUnclean, failed)
}

// aboutTrees reports whether an error is about what was to become of some tree, so
// that others may do better: nobody else uses the store, and it can be written. An
// error without a class comes of what is stored, too, unless somebody ended the run.
func aboutTrees(err error) bool {
	if err == nil || errors.Is(err, errUnclean) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	class := problem.ClassOf(err)
	return class == problem.RolledBack || class == 0
}

// leaveOut notes a tree that cannot be repaired.
func (a *application) leaveOut(t *Tree, err error) {
	list := append(a.receipt.LeftOut, a.leftOut(t, err))
	a.receipt.LeftOut = list
	switch {
	case len(list) > 1:
		a.nothing = &problem.Error{
			Class: problem.RolledBack, Err: err, Next: nothingChanged + list[0].Next,
			What: fmt.Sprintf("the repair of %s was rolled back: none of %d sessions could be repaired, for example %s: %s",
				a.plan.Store.Path, len(list), list[0].Root, list[0].Why),
		}
	case problem.ClassOf(err) == problem.RolledBack:
		a.nothing = err
	default:
		a.nothing = &problem.Error{
			Class: problem.RolledBack, Err: err, What: fmt.Sprintf("the repair of %s was rolled back: %v", a.plan.Store.Path, err),
			Next: nothingChanged + reportIt,
		}
	}
}

// leftOut says why a tree stays as it was.
func (a *application) leftOut(t *Tree, err error) LeftOut {
	out := LeftOut{Root: t.Root, Why: err.Error(), Next: reportIt}
	if p, ok := errors.AsType[*problem.Error](err); ok {
		out.Why = reason(err)
		out.Next = strings.TrimPrefix(p.Next, nothingChanged)
	}
	if m, ok := errors.AsType[mismatch](err); ok {
		out.Why = "the result would not be what was planned: " + m.Error()
	}
	return out
}

// reason is what an error says of a store without that nothing was changed.
func reason(err error) string {
	text := err.Error()
	if p, ok := errors.AsType[*problem.Error](err); ok {
		text = p.What
	}
	if _, why, ok := strings.Cut(text, " was not changed: "); ok {
		return why
	}
	return text
}
