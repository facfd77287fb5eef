package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/ui"
)

func newUndoCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "undo [RECEIPT | STORE]",
		Short: "Undo a repair",
		Long: `Make a store what it was before a repair: all of it, or nothing. Without an
argument, undo the only repair that is not undone yet; with a STORE, its last
one. Then sessctl shows what it takes back, and asks.

RECEIPT is the file whose name the repair printed; it ends in .receipt.json. Without
an argument, the receipts beside the stores at their usual places and those in the
current folder are looked at. Off a terminal, where sessctl cannot ask, name the
receipt, or use --yes.

It is refused when a session that the repair changed was changed again since,
and when the receipt is not what the repair wrote. Then the backup beside the
receipt still holds the whole store as it was.

` + exitStatus("undone, or there was nothing to undo", append(changing, exitFindings)...),
		Example: `  sessctl undo
  sessctl undo --list
  sessctl undo ~/.cagent/session.db
  sessctl undo ~/.cagent/session.db.sessctl-20261120T214500Z.receipt.json`,
		GroupID: groupRepair,
		Args:    atMost(1, "one RECEIPT or STORE"),
		RunE:    func(cmd *cobra.Command, args []string) error { return runUndo(cmd.Context(), p, args) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return fileEndings(append([]string{receiptEnding}, registry.Endings...)...)
		},
	}
	cmd.Flags().Bool("list", false, "list the receipts that are found, and change nothing")
	cmd.Flags().BoolP("yes", "y", false, "do not ask")
	cmd.Flags().StringSlice("allow", nil, "also undo where that takes `KINDS`: "+repair.ForeignFunctions)
	completeFlag(cmd, "allow", oneOf(repair.ForeignFunctions))
	return cmd
}

func runUndo(ctx context.Context, p *program, args []string) error {
	defer surviveClosedPipes()()
	ctx = p.allowForeign(ctx)
	if len(args) == 1 && !p.config.List && !registry.OnServer(args[0]) && !isFolder(args[0]) {
		path := p.receiptNamed(ctx, args[0])
		receipt, err := repair.ReadReceipt(path)
		if err == nil {
			return errors.Join(undoRepair(ctx, p, receipt, path), receipt.Close())
		}
		if !errors.Is(err, repair.ErrNoReceipt) {
			return err
		}
		if err := notAReceipt(path, err); err != nil {
			return err
		}
	}
	found := p.findReceipts(ctx, args)
	if p.config.List && len(found)+len(args) == 0 {
		return p.printSentence("No receipt of a repair was found beside the stores at their usual places, nor in the current folder. `sessctl undo --list STORE` looks beside another store.")
	}
	if p.config.List {
		return render.PrintReceipts(p.out, p.home, found)
	}
	found = slices.DeleteFunc(found, func(r render.Receipt) bool { return r.State == repair.Undone || r.State == copied && len(args) == 0 })
	if len(args) == 1 && len(found) > 0 {
		found = found[:1] // the last repair goes first
	}
	switch len(found) {
	case 0:
		if len(args) == 1 && isFolder(args[0]) {
			return notAReceipt(args[0], nil)
		}
		return problem.New(problem.Unreadable, "`sessctl undo --list` lists the receipts of repairs; a receipt elsewhere has to be named.", "no repair was found that can be undone")
	case 1:
		return p.undoAsking(ctx, found[0])
	}
	return problem.New(problem.Usage, "Name the store or the receipt; `sessctl undo --list` lists them.",
		"%d repairs can be undone, the last one by `sessctl undo %s`", len(found), shell.Path(found[0].Path))
}

// undoAsking shows what a receipt takes back, and does it if that is wanted.
func (p *program) undoAsking(ctx context.Context, found render.Receipt) error {
	if !p.config.Yes && found.State != copied { // of a copy, undo says what it is
		if told := p.printUndo(found); told != nil {
			return told
		}
		if !p.canAsk() {
			line := "sessctl undo " + shell.Path(found.Path)
			if registry.RoleOf(found.Store) != "" { // that was named: a receipt leads there as another one
				line = p.undoCommand(found.Store, found.Path).Line + " --yes"
			}
			return problem.New(problem.Usage, "To undo this repair, type `"+line+"`.",
				"nothing was changed: this is not a terminal, so sessctl cannot ask")
		}
		yes, err := ui.AskYesNo(p.stdin, p.out, "Undo?")
		if err != nil {
			return err
		}
		if !yes {
			p.printNote("declined; nothing was changed")
			return withCode(exitFindings)
		}
	}
	receipt, err := repair.ReadReceipt(found.Path)
	if err != nil {
		return err
	}
	return errors.Join(undoRepair(ctx, p, receipt, found.Path), receipt.Close())
}

// printUndo says what an undo would take back.
func (p *program) printUndo(found render.Receipt) error {
	when := ""
	if found.Time != "" { // which the name of the receipt tells
		when = " at " + found.Time
	}
	return p.printSentence("%s was repaired%s. Undo %s.", ui.Clean(ui.Tilde(found.Store, p.home)), when, takesBack(found.Sessions, found.Made))
}

// receiptNamed is the path of a receipt: a bare name that is not in the current folder
// may be that of one beside a store at its usual place.
func (p *program) receiptNamed(ctx context.Context, name string) string {
	if pathExists(name) || filepath.Base(name) != name {
		return name
	}
	for _, l := range registry.Locations(ctx, p.home) {
		if path := filepath.Join(filepath.Dir(l.Path), name); pathExists(path) {
			return path
		}
	}
	return name
}

// findReceipts finds the receipts of the store that is named, or those beside the stores at
// their usual places and in the current folder, the last one first.
func (p *program) findReceipts(ctx context.Context, args []string) []render.Receipt {
	var paths []string
	if len(args) == 1 {
		paths = slices.DeleteFunc(receiptsOf(args[0]), func(r string) bool { return madeBackup(args[0], r) })
	} else {
		paths, _ = filepath.Glob("*" + receiptEnding) // the pattern is well formed
		for _, l := range registry.Locations(ctx, p.home) {
			paths = append(paths, receiptsOf(l.Path)...)
			if isFolder(l.Path) { // of transcripts that were repaired by their own names
				_ = filepath.WalkDir(l.Path, func(path string, _ fs.DirEntry, err error) error { // what cannot be read has no repair
					if err == nil && strings.HasSuffix(path, receiptEnding) {
						paths = append(paths, path)
					}
					return nil
				})
			}
		}
	}
	var found []render.Receipt
	for _, path := range registry.DistinctPaths(paths) {
		if one := inspectReceipt(path); len(args) == 0 || !registry.OnServer(args[0]) || one.Store == args[0] {
			found = append(found, one)
		}
	}
	slices.SortStableFunc(found, func(a, b render.Receipt) int { return strings.Compare(a.Time, b.Time) })
	slices.Reverse(found)
	return found
}

func inspectReceipt(path string) render.Receipt {
	found := render.Receipt{Path: path, State: "damaged"}
	if _, at := cutBackup(path); !at.IsZero() {
		found.Time = at.Format(time.DateTime) + " UTC"
	}
	r, err := repair.ReadReceipt(path)
	if err != nil {
		return found // undo says what is wrong with it
	}
	found.Store, found.State = r.Store.Path, r.State
	made := map[string]bool{}
	for _, b := range slices.Backward(r.Batches) {
		for _, s := range b.Sessions {
			made[s.ID] = s.Before == ""
		}
	}
	for _, is := range made {
		found.Made += oneIf(is)
	}
	found.Sessions = len(made) - found.Made
	if r.State == repair.Done && isCopy(r) {
		found.State = copied
	}
	_ = r.Close()
	return found
}

// madeBackup reports whether a receipt is that of the repair that made a backup, which is none of
// the backup.
func madeBackup(path, receipt string) bool {
	_, at := cutBackup(path)
	return !at.IsZero() && receipt == path+receiptEnding
}

// cutBackup is the store and the time of a repair that the name of a backup, or of its receipt,
// tells; the time is zero for anything else.
func cutBackup(path string) (store string, at time.Time) {
	mark := strings.LastIndex(path, backupMark)
	if mark < 0 || len(path) < mark+len(backupMark)+len(backupTime) {
		return path, at
	}
	at, _ = time.Parse(backupTime, path[mark+len(backupMark):][:len(backupTime)]) // zero with an error
	return path[:mark], at
}

// isCopy reports whether a receipt is that of a repaired copy of a stream.
func isCopy(r *repair.Receipt) bool {
	return r.Backup == "" && slices.ContainsFunc(registry.Kinds, func(k store.Kind) bool { return k.Stream && k.Name == r.Store.Kind })
}

// copied is the state of a receipt of a repaired copy: nothing was changed.
const copied = "copy"

func undoRepair(ctx context.Context, p *program, receipt *repair.Receipt, path string) error {
	subject, was := receipt.Store, receipt.State
	name := ui.Clean(ui.Tilde(subject.Path, p.home))
	at := slices.IndexFunc(registry.Kinds, func(k store.Kind) bool { return k.Name == subject.Kind })
	switch {
	case receipt.State == repair.Undone:
		return p.printSentence("This repair of %s is undone already. Nothing was changed.", name)
	case at < 0:
		return problem.New(problem.Usage, "Use the sessctl that wrote the receipt.", "%s is for a store of an unknown kind: %s", path, subject.Kind)
	case isCopy(receipt):
		return p.printSentence("%s is a repaired copy: what it was made from was never changed. Remove the copy if you do not want it.", name)
	case registry.Kinds[at].Edit == nil:
		return problem.New(problem.Usage, "Put the backup that the receipt names in its place.",
			"a %s cannot be changed in place", registry.Kinds[at].Title)
	}
	if err := registry.AsRole(subject.Path, receipt.Role); err != nil {
		return err
	}
	ed, err := registry.Kinds[at].Edit(ctx, registry.ToEdit(subject.Path))
	if err != nil {
		return p.notOpened(receipt, err)
	}
	undone, err := repair.Undo(ctx, ed, receipt)
	err = errors.Join(err, ed.Close())
	p.noteLeft(ed)
	if undone > 0 && errors.Is(err, store.ErrReplaced) {
		return errors.Join(err, errChanged)
	}
	if undone > 0 {
		told := p.printSentence("%s.", isUndone(undone-receipt.Removed, receipt.Removed, name))
		switch {
		case err != nil:
			return errors.Join(err, errChanged, told)
		case told != nil:
			return untoldChange(told, isUndone(undone-receipt.Removed, receipt.Removed, subject.Path), "Nothing else is missing.")
		}
		return nil
	}
	if err != nil && registry.OnServer(subject.Path) {
		return p.notOpened(receipt, err)
	}
	if err != nil {
		return err
	}
	if was == repair.Undoing {
		return p.printSentence("This repair of %s is undone already, by an undo that was stopped before it could note that. Now the receipt says so.", name)
	}
	return p.printSentence("There is nothing to undo: %s is as it was before the repair.", name)
}

// notOpened is the problem with a store that cannot be written. What helps a
// repair then, a copy, does not help an undo; on a server, another role may.
func (p *program) notOpened(receipt *repair.Receipt, err error) error {
	known, ok := errors.AsType[*problem.Error](err)
	if !ok || known.Class != problem.Unreadable {
		return err
	}
	told := *known
	told.Next, told.Err = "Nothing was changed. "+receipt.RestoreAdvice(), err
	if registry.OnServer(receipt.Store.Path) {
		told.Next = strings.TrimSpace(known.Next + " Nothing was changed. " + p.asRole(receipt))
	}
	return &told
}

// asRole says how a repair on a server is undone as another role than the one that failed. The
// receipt is named, and no address: of one, undo takes the last repair, which may be another.
func (p *program) asRole(receipt *repair.Receipt) string {
	was, role := "The receipt does not say which role made the repair: put that one, or the owner of the tables, in the place of ROLE", "ROLE"
	switch now := registry.RoleOf(receipt.Store.Path); {
	case receipt.Role != "" && receipt.Role != now:
		was, role = "The repair was made as the role "+ui.Clean(receipt.Role), shell.Word(receipt.Role)
	case receipt.Role != "":
		was = "sessctl connected as the role that made the repair; to undo it as another, put that one in the place of ROLE"
	}
	return was + ": `PGUSER=" + role + " sessctl undo " + shell.Path(receipt.Path()) + p.foreignWords() + "`."
}

// takesBack says what an undo will do with sessions that were changed, and that were made.
func takesBack(changed, made int) string {
	switch {
	case made == 0:
		return "takes back what changed in " + ui.Count(changed, "session")
	case changed == 0:
		return "removes " + ui.Count(made, "session") + " that the repair made"
	}
	return "takes back what changed in " + ui.Count(changed, "session") + " and removes " + ui.Number(made) + " that the repair made"
}

func isUndone(changed, made int, store string) string {
	switch {
	case changed == 0:
		return "Undone: " + ui.Count(made, "session") + " that the repair made in " + store + rules.VerbForm(made, " is", " are") + " removed"
	case made > 0:
		return isUndone(changed, 0, store) + "; " + ui.Number(made) + " that the repair made" + rules.VerbForm(made, " is", " are") + " removed"
	}
	return "Undone: " + ui.Count(changed, "session") + " in " + store + rules.VerbForm(changed, " is as it was", " are as they were") + " before the repair"
}

func (p *program) printSentence(format string, args ...any) error {
	_, err := fmt.Fprint(p.out, ui.Hang("", "", fmt.Sprintf(format, args...), p.out.TextWidth()))
	return err
}

// notAReceipt is the problem with a file that is none, for what it is. A store that has
// a repair to undo is no problem.
func notAReceipt(path string, err error) error {
	what, next := "a file of another kind", "The name of a receipt ends in "+receiptEnding+"."
	start := startOf(path)
	receipts := receiptsOf(path)
	open := slices.DeleteFunc(slices.Clone(receipts), func(r string) bool { return inspectReceipt(r).State == repair.Undone })
	schema := regexp.MustCompile(`"sessctl\.([a-z]+)/\d+"`).FindSubmatch(start)
	switch {
	case isFolder(path) || strings.HasPrefix(string(start), "SQLite format 3\x00") || schema != nil && string(schema[1]) == "canonical" || len(receipts) > 0:
		what, next = "a store", "No receipt was found beside it. `sessctl undo --list` lists those that are found elsewhere."
		if strings.Contains(filepath.Base(path), backupMark) {
			what = "a backup"
		}
		switch {
		case slices.ContainsFunc(open, func(r string) bool { return !madeBackup(path, r) }):
			return nil
		case len(open) > 0:
			next = "Its receipt is " + open[len(open)-1] + ": `sessctl undo " + shell.Path(open[len(open)-1]) + "`."
		case len(receipts) > 0:
			return problem.New(problem.Unreadable, "`sessctl undo --list` lists all repairs that are found.", "all repairs of %s are undone: there is nothing to undo", path)
		case what == "a store":
			return problem.New(problem.Unreadable, next, "%s has no repair to undo", path)
		}
	case schema != nil && string(schema[1]) == "plan":
		what, next = "a plan", "A plan changes nothing by itself; the repair that carried it out printed the name of its receipt."
	case schema != nil:
		what = "a report of `sessctl " + string(schema[1]) + "`"
	case !strings.HasPrefix(strings.TrimSpace(string(start)), "{"):
		return &problem.Error{Class: problem.Unreadable, Err: err, What: path + " is not JSON, so it is not a receipt", Next: next}
	}
	return &problem.Error{Class: problem.Unreadable, Err: err, What: path + " is " + what + ", not a receipt", Next: next}
}

// startOf is how a file begins.
func startOf(path string) []byte {
	f, err := atomicfile.OpenRegular(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	start := make([]byte, 512)
	n, _ := io.ReadFull(f, start)
	return start[:n]
}

// receiptsOf are the receipts that stand beside a store or a copy of one, by their
// names, in the order of the repairs.
func receiptsOf(path string) []string {
	path = besidePath(path)
	folder, file := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Clean(folder))
	if err != nil {
		return nil
	}
	var found []string // what stands between the name of the store and the ending
	for _, e := range entries {
		rest, of := strings.CutPrefix(e.Name(), file)
		rest, is := strings.CutSuffix(rest, receiptEnding)
		if of && is && (rest == "" || strings.HasPrefix(rest, backupMark) && strings.Count(rest, backupMark) == 1) { // not of a backup
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
