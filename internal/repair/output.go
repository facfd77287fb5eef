package repair

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store"
)

// Output carries a plan out on a copy of the store, in a new file, and leaves
// the store as it is. The file and the receipt are there when all of it is done, or not at
// all.
func (a Apply) Output(ctx context.Context, kind store.Kind, st store.Store, plan *Plan, out string) (r *Receipt, err error) {
	// A database would take in what another one of its name left behind.
	for _, path := range []string{out, out + "-wal", out + "-journal"} {
		if _, err := os.Lstat(path); err == nil {
			return nil, problem.New(problem.Usage, "Name a file that does not exist yet.", "%s already exists, and sessctl overwrites no file", path)
		}
	}
	folder, release, err := atomicfile.CreateTemporaryFolder(filepath.Dir(out))
	if err != nil {
		return nil, problem.New(problem.Unreadable, "Name a file in a folder that you may write to.", "%s cannot be written: %s", out, problem.Reason(err))
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)); release() }()
	temp := filepath.Join(folder, filepath.Base(out))
	made := *plan
	made.Store.Path, a.source = out, plan.Store.Path
	if r, err = a.editCopy(ctx, kind, st, &made, temp); err != nil {
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
