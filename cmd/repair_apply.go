package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/ui"
)

// inPlace repairs the store itself. It is closed before it is opened for
// writing: closing any other handle of this process would release the locks.
func (r *repairRun) inPlace(ctx context.Context) error {
	err := r.read(ctx, r.path, func(opened *registry.Opened) error {
		if seen, err := os.Stat(r.path); err == nil { // else it is standard input, or gone by now
			os.SameFile(seen, seen) // Windows asks which file it is only now
			r.planned = seen
		}
		return r.planFrom(ctx, opened)
	})
	if err != nil {
		return err
	}
	refused := r.refusal()
	if refused != nil && !r.plan.Empty() && !r.config.DryRun && r.config.PlanOut == "" {
		return refused
	}
	if err := r.show(); err != nil {
		return err
	}
	if r.plan.Empty() {
		return r.end(render.Outcome{ExitCode: r.code()})
	}
	stop, err := r.saves()
	switch {
	case err != nil:
		return err
	case stop && refused != nil:
		r.note("%v", refused)
		return r.stop(r.instead())
	case stop:
		return r.stop(r.again("carry this out"))
	case refused != nil:
		return refused
	}
	return r.confirm(ctx)
}

// show prints the plan.
func (r *repairRun) show() error {
	err := r.writer.Plan(r.plan, r.facts, r.left)
	if err == nil || errors.Is(err, syscall.EPIPE) {
		return err
	}
	return &problem.Error{Class: problem.Unreadable, Err: err, What: "nothing was changed: the plan could not be printed: " + problem.Reason(err)}
}

// backupTime is the form of the time in the name of a backup, in UTC.
const backupTime = "20060102T150405Z"

// backupMark stands between the name of a store and that time.
const backupMark = ".sessctl-"

const receiptEnding = repair.ReceiptEnding

// newName is a name that neither a backup nor its receipt has yet.
func newName(path string) string {
	name := path
	for n := 2; exists(name) || exists(name+receiptEnding); n++ {
		name = fmt.Sprintf("%s-%d", path, n)
	}
	return name
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// confirm asks, unless --yes says that nobody need be asked, and applies.
func (r *repairRun) confirm(ctx context.Context) error {
	backup := newName(r.plan.Store.Path + backupMark + time.Now().UTC().Format(backupTime)) //nolint:forbidigo // a name for people
	if r.config.Yes {
		return r.apply(ctx, backup)
	}
	if !r.canAsk() {
		r.say("sessctl: ", message{
			Type: "error", Message: "nothing was changed: this is not a terminal, so sessctl cannot ask",
			Next: "Look at the plan, and add --yes to carry it out.", ExitCode: exitFindings,
		})
		return r.stop(r.again("carry this out without asking", "--yes"))
	}
	if err := r.writer.Ask(backup, r.facts.Bytes); err != nil {
		return err
	}
	yes, err := ui.Ask(r.stdin, r.out, "Apply?")
	switch {
	case err != nil:
		return err
	case !yes:
		r.note("declined; nothing was changed")
		return r.stop()
	}
	return r.apply(ctx, backup)
}

// canAsk reports whether somebody sees the plan and can answer.
func (r *repairRun) canAsk() bool {
	in, ok := r.stdin.(*interruptible)
	return ok && ui.IsTerminal(in.r) && r.out.Terminal && r.config.Format == "text"
}

// apply changes the store.
func (r *repairRun) apply(ctx context.Context, backup string) error {
	if now, err := os.Stat(r.path); err != nil || !os.SameFile(r.planned, now) {
		return problem.New(problem.Busy, "Nothing was changed. Run the repair again for a new plan.",
			"%s was moved away or replaced by another file after the plan was made", r.path)
	}
	r.noteLeftovers(backup)
	ed, err := r.kind.Edit(ctx, registry.ToEdit(r.path))
	if err != nil {
		return err
	}
	set, clearLine := r.progress("backing up")
	receipt, err := repair.Apply{
		Backup: backup, Receipt: backup + receiptEnding, Tool: toolName(), Prologue: r.kind.Prologue, Progress: set,
	}.Run(ctx, ed, r.plan)
	clearLine()
	err = errors.Join(err, ed.Close())
	r.noteLeft(ed)
	if err != nil {
		return partly(receipt, err)
	}
	return r.applied(receipt, render.Outcome{Backup: backup, Next: []render.Command{undoCommand(receipt)}})
}

// noteLeftovers names what may be the remains of a killed process in the folder of a
// store. What certainly is is deleted without a word.
func (p *program) noteLeftovers(path string) {
	folder := filepath.Dir(path)
	if left := atomicfile.Leftovers(folder); len(left) > 0 {
		p.note("a killed sessctl may have left %s in %s, with a copy of a store: if no other sessctl is at work there, delete it",
			firstFew(left), folder)
	}
}

// noteLeft names what stays beside a store.
func (p *program) noteLeft(ed store.Editor) {
	if left := ed.Left(); left != "" {
		p.note("%s", left)
	}
}

// progress counts the bytes of a copy.
func (r *repairRun) progress(what string) (set func(int64), clearLine func()) {
	if r.config.Quiet {
		return nil, func() {}
	}
	p := r.err.Progress(what+" "+ui.Clean(ui.Tilde(r.path, r.home)), r.facts.Bytes)
	return p.Set, p.Clear
}

// toolName is this program as a receipt names it.
func toolName() string { return tool().Name + " " + tool().Version }

func undoCommand(receipt *repair.Receipt) render.Command {
	return render.Command{Line: "sessctl undo " + shell.Path(receipt.Path())}
}
