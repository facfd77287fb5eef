package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/ui"
)

func newUndoCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "undo RECEIPT",
		Short: "Take a repair back",
		Long: `Make a store what it was before a repair: all of it, or nothing. RECEIPT is the
file whose name the repair printed; it ends in .receipt.json.

It is refused when a session that the repair changed was changed again since,
and when the receipt is not what the repair wrote. Then the backup beside the
receipt still holds the whole store as it was.

` + exitStatus("taken back, or there was nothing to take back", changing...),
		Example: `  sessctl undo ~/.cagent/session.db.sessctl-20261120T214500Z.receipt.json`,
		GroupID: groupRepair,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return problem.New(problem.Usage, "The repair printed its name; it ends in .receipt.json.",
					"`sessctl undo` takes one RECEIPT; there are %s", countArguments(len(args)))
			}
			return runUndo(cmd.Context(), p, args[0])
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return fileEndings(receiptEnding)
		},
	}
}

func runUndo(ctx context.Context, p *program, path string) error {
	defer surviveClosedPipes()()
	receipt, err := repair.ReadReceipt(path)
	if errors.Is(err, repair.ErrNoReceipt) {
		return notAReceipt(path, err)
	}
	if err != nil {
		return err
	}
	return errors.Join(undo(ctx, p, receipt, path), receipt.Close())
}

func undo(ctx context.Context, p *program, receipt *repair.Receipt, path string) error {
	subject, was := receipt.Store, receipt.State
	name := ui.Clean(ui.Tilde(subject.Path, p.home))
	at := slices.IndexFunc(registry.Kinds, func(k store.Kind) bool { return k.Name == subject.Kind })
	switch {
	case receipt.State == repair.Undone:
		return p.tell("This repair of %s is undone already. Nothing was changed.", name)
	case at < 0:
		return problem.New(problem.Usage, "Use the sessctl that wrote the receipt.", "%s is for a store of an unknown kind: %s", path, subject.Kind)
	case registry.Kinds[at].Rewrite != nil:
		return p.tell("%s is a repaired copy: what it was made from was never changed. Remove the copy if you do not want it.", name)
	case registry.Kinds[at].Edit == nil:
		return problem.New(problem.Usage, "Put the backup that the receipt names in its place.",
			"a %s cannot be changed in place", registry.Kinds[at].Title)
	}
	ed, err := registry.Kinds[at].Edit(ctx, registry.ToEdit(subject.Path))
	if err != nil {
		return notOpened(receipt, err)
	}
	undone, err := repair.Undo(ctx, ed, receipt)
	err = errors.Join(err, ed.Close())
	p.noteLeft(ed)
	if undone > 0 && errors.Is(err, store.ErrReplaced) {
		return errors.Join(err, errChanged)
	}
	if undone > 0 {
		told := p.tell("%s as before the repair: %s", areBack(undone), name)
		switch {
		case err != nil:
			return errors.Join(err, errChanged, told)
		case told != nil:
			return untold(told, areBack(undone)+" as before the repair: "+subject.Path, "Nothing else is missing.")
		}
		return nil
	}
	if err != nil {
		return err
	}
	if was == repair.Undoing {
		return p.tell("This repair of %s is undone already, by an undo that was stopped before it could note that. Now the receipt says so.", name)
	}
	return p.tell("There is nothing to take back: %s is as it was before the repair.", name)
}

// notOpened is the problem with a store that cannot be written. What helps a
// repair then, a copy, does not help an undo.
func notOpened(receipt *repair.Receipt, err error) error {
	p, ok := errors.AsType[*problem.Error](err)
	if !ok || p.Class != problem.Unreadable {
		return err
	}
	told := *p
	told.Next, told.Err = "Nothing was changed. "+receipt.Restore(), err
	return &told
}

func areBack(n int) string {
	if n == 1 {
		return "1 session is"
	}
	return ui.Number(n) + " sessions are"
}

// tell prints a sentence for people.
func (p *program) tell(format string, args ...any) error {
	_, err := fmt.Fprint(p.out, ui.Hang("", "", fmt.Sprintf(format, args...), p.out.TextWidth()))
	return err
}

// notAReceipt is the problem with a store, or the copy of one, in place of its
// receipt: it names the one of the last repair that is not undone yet. Of any other
// file it is err.
func notAReceipt(path string, err error) error {
	receipts := receiptsOf(path)
	next := "Name the receipt of a repair; no receipt was found beside the store."
	switch last := undoable(receipts); {
	case last != "":
		next = "Its last receipt is " + last + ": `sessctl undo " + shell.Path(last) + "`."
	case len(receipts) > 0:
		next = "All repairs of it are undone: there is nothing to take back."
	case !isDatabase(path):
		return err
	}
	return &problem.Error{Class: problem.Unreadable, Err: err, What: path + " is a store, not a receipt", Next: next}
}

// undoable is the last of the receipts that is not undone, "" when all are.
func undoable(receipts []string) string {
	for _, path := range slices.Backward(receipts) {
		r, err := repair.ReadReceipt(path)
		if err != nil {
			return path // undo says what is wrong with it
		}
		if r.Close() == nil && r.State != repair.Undone {
			return path
		}
	}
	return ""
}

// receiptsOf are the receipts that stand beside a store or a copy of one, by their
// names, in the order of the repairs.
func receiptsOf(path string) []string {
	folder, file := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Clean(folder))
	if err != nil {
		return nil
	}
	var found []string // what stands between the name of the store and the ending
	for _, e := range entries {
		rest, of := strings.CutPrefix(e.Name(), file)
		rest, is := strings.CutSuffix(rest, receiptEnding)
		if of && is && (rest == "" || strings.HasPrefix(rest, backupMark)) {
			found = append(found, rest)
		}
	}
	slices.SortFunc(found, func(a, b string) int { // the second one of a second is TIME-2
		const n = len(backupMark) + len(backupTime)
		return cmp.Or(cmp.Compare(a[:min(n, len(a))], b[:min(n, len(b))]), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	for i, rest := range found {
		found[i] = path + rest + receiptEnding
	}
	return found
}

// isDatabase reports whether a file is one of SQLite.
func isDatabase(path string) bool {
	f, err := atomicfile.OpenRegular(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	const magic = "SQLite format 3\x00"
	start := make([]byte, len(magic))
	_, err = f.Read(start)
	return err == nil && string(start) == magic
}
