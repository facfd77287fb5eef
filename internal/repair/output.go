package repair

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// Output carries a plan out on a copy of the store, in a new file, and leaves
// the store as it is. reopen opens a file of the store's kind for reading. The
// file and the receipt are there when all of it is done, or not at all.
func (a Apply) Output(ctx context.Context, kind store.Kind, st store.Store, plan *Plan, out string, reopen func(path string) (store.Store, error)) (r *Receipt, err error) {
	// A database would take in what another one of its name left behind.
	for _, path := range []string{out, out + "-wal", out + "-journal"} {
		if _, err := os.Lstat(path); err == nil {
			return nil, problem.New(problem.Usage, "Name a file that does not exist yet.", "%s already exists, and sessctl overwrites no file", path)
		}
	}
	folder, release, err := atomicfile.TemporaryFolder(filepath.Dir(out))
	if err != nil {
		return nil, problem.New(problem.Unreadable, "Name a file in a folder that you may write to.", "%s cannot be written: %s", out, problem.Reason(err))
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)); release() }()
	temp := filepath.Join(folder, filepath.Base(out))
	made := *plan
	made.Store.Path, a.source = out, plan.Store.Path
	if kind.Rewrite != nil {
		r, err = a.rewrite(ctx, kind, st, &made, temp, reopen)
	} else {
		r, err = a.editCopy(ctx, kind, st, &made, temp)
	}
	if err != nil {
		return nil, notWritten(temp, out, err)
	}
	if err := a.publish(temp, out); err != nil {
		return nil, errors.Join(err, removeFile(r.path))
	}
	return r, nil
}

// publish gives the copy its name, if the store is still the one that it was made of, and
// makes sure that it has it.
func (a Apply) publish(temp, out string) error {
	written, err := os.Lstat(temp)
	if err != nil {
		return err
	}
	atStep("publish")
	if err := a.unread(); err != nil {
		return err
	}
	if err := atomicfile.Publish(temp, out); err != nil { // never over a file that came meanwhile
		return problem.New(problem.Unreadable, "Nothing else was changed.", "%s cannot be written: %s", out, problem.Reason(err))
	}
	atStep("published")
	if there, err := os.Lstat(out); err != nil || !os.SameFile(written, there) {
		return problem.New(problem.Busy, "Nothing else was changed. Find out which program moves files there.",
			"%s is not the repaired copy: another program moved or replaced the copy as soon as it was written", out)
	}
	if err := a.unread(); err != nil {
		return errors.Join(err, removeFile(out))
	}
	return nil
}

// unread is the problem with a copy of a store that changed while it was read.
func (a Apply) unread() error {
	if a.Changed == nil {
		return nil
	}
	if changed := a.Changed(); changed != "" {
		return problem.New(problem.Busy, "Nothing was written. Close the runtime and try again.", "%s, so the copy may mix two states", changed)
	}
	return nil
}

// notWritten is the problem with a copy, under the name that it was to get.
func notWritten(temp, out string, err error) error {
	p, ok := errors.AsType[*problem.Error](err)
	if !ok {
		return err
	}
	told := *p
	told.What, told.Err = strings.ReplaceAll(p.What, temp, out), err
	if strings.Contains(p.Next, filepath.Dir(temp)) {
		told.Next = "Free some space in " + filepath.Dir(out) + ", or name a file in another folder."
	}
	return &told
}

// editCopy repairs a copy in place.
func (a Apply) editCopy(ctx context.Context, kind store.Kind, st store.Store, plan *Plan, temp string) (*Receipt, error) {
	copier, ok := st.(store.Copier)
	if !ok || kind.Edit == nil {
		return nil, problem.New(problem.Usage, "Copy it, and repair the copy.", "sessctl writes no repaired copy of a store of kind %s", kind.Name)
	}
	made, err := copier.Copy(ctx, temp, a.Progress)
	if err != nil {
		return nil, err
	}
	ed, err := kind.Edit(ctx, made)
	if err != nil {
		return nil, err
	}
	a.Backup = ""
	r, err := a.Run(ctx, ed, plan)
	if err = errors.Join(err, ed.Close()); err != nil && r != nil {
		return nil, errors.Join(err, removeFile(r.path))
	}
	return r, err
}

// rewrite writes the store anew, the planned trees as the plan makes them.
func (a Apply) rewrite(ctx context.Context, kind store.Kind, st store.Store, plan *Plan, temp string, reopen func(path string) (store.Store, error)) (*Receipt, error) {
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if owner, err := os.Stat(st.Facts().Path); err == nil && st.Facts().Path != "-" {
		if err := atomicfile.GiveTo(f, owner); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	b, foretold, err := a.writeTrees(ctx, kind, st, plan, f)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, err
	}
	again, err := reopen(temp)
	if err != nil {
		return nil, err
	}
	defer func() { _ = again.Close() }()
	if err := verifyRewrite(ctx, again, plan, foretold, b); err != nil {
		return nil, err
	}
	r := newReceipt(plan, a)
	defer func() { _ = r.Close() }()
	if err := r.add(b); err != nil {
		return nil, errors.Join(err, r.cut(tail{}))
	}
	r.keep(b)
	if err := r.finish(Done); err != nil {
		return nil, errors.Join(err, r.cut(tail{}))
	}
	return r, nil
}

// writeTrees writes the store and returns what was changed, with the trees that
// must be read back.
func (a Apply) writeTrees(ctx context.Context, kind store.Kind, st store.Store, plan *Plan, f *os.File) (*Batch, []*executed, error) {
	planned := map[string]*Tree{}
	for _, t := range plan.Trees {
		planned[t.Root] = t
	}
	w, err := kind.Rewrite(st, f)
	if err != nil {
		return nil, nil, err
	}
	b := &Batch{}
	var foretold []*executed
	for tree, err := range st.Trees(ctx) {
		if err != nil {
			return nil, nil, err
		}
		root := tree.Root().ID
		t := planned[root]
		if t == nil {
			continue
		}
		delete(planned, root)
		if err := st.Fill(ctx, tree); err != nil {
			return nil, nil, err
		}
		if err := fits(ctx, st, t, tree); err != nil {
			return nil, nil, err
		}
		c, err := t.execute(tree, a.Prologue, st)
		if err != nil {
			return nil, nil, err
		}
		if err := w.Write(&c.Change); err != nil {
			return nil, nil, err
		}
		b.Fixes, b.Kept = append(b.Fixes, t.Fixes...), append(b.Kept, c.kept...)
		foretold = append(foretold, c)
	}
	if left := sortedKeys(planned); len(left) > 0 {
		return nil, nil, problem.New(problem.Busy, "Run the repair again to get a new plan.", "session %s changed after the plan was made: it was deleted, or is now a sub-session of another one", left[0])
	}
	return b, foretold, w.Flush()
}

// fits makes sure that a tree is what the plan was made for.
func fits(ctx context.Context, st store.Store, t *Tree, tree *session.Tree) error {
	sums, err := sumsOf(ctx, st, tree)
	if err != nil || sums == nil {
		return err
	}
	return t.unchanged(sums)
}

// verifyRewrite reads the new file back: the changed trees are what the plan
// foretold, and every message is there or in the receipt.
func verifyRewrite(ctx context.Context, again store.Store, plan *Plan, foretold []*executed, b *Batch) error {
	stored, err := byID(ctx, again)
	if err != nil {
		return err
	}
	judged := *again.Facts()
	judged.Writer = session.ParseWriter(plan.Store.Writer)
	for _, c := range foretold {
		root := c.After.Root().ID
		got := stored[root]
		if got == nil {
			return notVerified(plan, fmt.Errorf("session %s is missing", root))
		}
		if err := (verification{&judged, plan.Judge(), c, false}).of(got); err != nil {
			return notVerified(plan, err)
		}
		if err := again.Fill(ctx, got); err != nil {
			return err
		}
		l, err := streamLedger(c, got)
		if err != nil {
			return notVerified(plan, err)
		}
		b.Ledger.add(l)
	}
	return nil
}
