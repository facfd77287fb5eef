package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/changes"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/ui"
)

func newRepairCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "repair [STORE]",
		Short: "Repair sessions, with a backup and a way back",
		Long: `Show what would be changed so that sessions resume, and change it when you say
yes. Nothing is lost: ` + "`sessctl undo`" + ` takes the whole repair back.

Before anything is changed, the store is copied to STORE.sessctl-TIME. The
result is checked before it is committed; if it is not exactly what the plan
says, nothing is changed. Close the runtime first.

STORE is a file or the URL of a database of PostgreSQL, MySQL or MariaDB; without
one, the store at its usual place, if there is only one. On a terminal you are
asked; elsewhere --yes is needed. With --output the store stays as it is and a
repaired copy is written (STORE may be - then, for a canonical stream).

What the provider of a session accepts is left as it is, unless --select names
the rule.

Repairs that need a decision are made with --allow only: lossy (the model sees
less, or something is gone for good), prune (references and records that lead nowhere), guesses (what
is likely, not certain), split (one session into several), waiting (an answer in
place of one that somebody outside may still give; only where the runtime is gone,
or --assume-dead says so), reorder (undo does not bring back the order of events
of one time), unknown-form
(records that a newer or another program wrote go to the receipt), foreign-functions
(on a server, functions of other roles run with the rights of a superuser). A finding names
the word that its repair needs; ` + "`sessctl explain RULE`" + ` says what that costs.

` + exitStatus("nothing is left at or above --fail-on", append(changing, exitFindings)...) + `

With 1, findings are left, or a plan was shown and not carried out.`,
		Example: `  sessctl repair session.db --dry-run
  sessctl repair session.db
  sessctl repair session.db --dry-run --format html > plan.html
  sessctl repair session.db --session 1f0c --yes
  sessctl repair session.db --output repaired.db`,
		GroupID: groupRepair,
		Args:    atMost(1, "one STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRepair(cmd.Context(), p, args)
		},
	}
	cmd.ValidArgsFunction = completeStores(1)
	addRepairFlags(cmd)
	return cmd
}

// allowed are the words of --allow.
var allowed = []string{"lossy", "prune", "guesses", "split", "waiting", repair.Reorder, rules.UnknownForm, repair.ForeignFunctions}

// gone are words that --allow had, and why it has them no more.
var gone = map[string]string{
	"import-backup": "no repair ever copied the sessions of a .bak into the store; `sessctl explain SC004` says how to get them",
}

// allowForeign is the context of a command that --allow lets run functions of other roles.
func (p *program) allowForeign(ctx context.Context) context.Context {
	if p.foreignWords() != "" {
		return registry.AllowForeign(ctx)
	}
	return ctx
}

// foreignWords are what a command that goes on with this one needs of --allow.
func (p *program) foreignWords() string {
	if slices.Contains(p.config.Allow, repair.ForeignFunctions) {
		return " --allow " + repair.ForeignFunctions
	}
	return ""
}

func addRepairFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	addFormatFlag(cmd, "text", "json", "html")
	addStoreFlag(cmd)
	flags.BoolP("dry-run", "n", false, "show the plan and stop")
	flags.BoolP("yes", "y", false, "do not ask")
	flags.StringP("output", "o", "", "write a repaired copy into this new `FILE` instead")
	addPlanFlags(cmd)
	flags.StringSlice("select", nil, "repair only what these `RULES` find: ids, SC7, names")
	flags.StringSlice("ignore", nil, "leave these `RULES` out")
	flags.String("session", "", "repair only this `SESSION` and its tree")
	flags.String("plan-out", "", "write the plan to this new `FILE` and stop")
	flags.String("plan", "", "carry out exactly the plan in this `FILE`")
	addChoice(cmd, "fail-on", "error", []string{"error", "warning", "info", "never"}, "fail at")
	flags.Bool("show-content", false, "show what messages say off a terminal, too")
	flags.Uint("max-findings", 100, "show at most `N` steps, 0 for all")
	addProfileFlags(cmd)
	addAssumeDeadFlag(cmd)
}

// addPlanFlags declares what a plan may hold.
func addPlanFlags(cmd *cobra.Command) {
	cmd.Flags().StringSlice("allow", nil, "also make repairs of `KINDS`: "+strings.Join(allowed, ", "))
	cmd.Flags().Duration("live-window", liveWindow, "leave a server's sessions newer than `AGE`")
}

func runRepair(ctx context.Context, p *program, args []string) error {
	defer surviveClosedPipes()()
	r, err := newRepairRun(p)
	if err != nil {
		return err
	}
	ctx = p.allowForeign(ctx)
	if err := r.locateStore(ctx, args); err != nil {
		return err
	}
	if p.config.Output != "" {
		return r.toFile(ctx)
	}
	return r.inPlace(ctx)
}

// checkFlags refuses settings that exclude each other, and unknown words.
func (r *repairRun) checkFlags() error {
	c := r.config
	for _, word := range c.Allow {
		if why := gone[word]; why != "" {
			return problem.New(problem.Usage, "Leave it out.", "--allow %s is gone: %s", word, why)
		}
		if !slices.Contains(allowed, word) {
			return problem.New(problem.Usage, problem.DidYouMean(word, allowed), "--allow has no word %q: use %s", word, strings.Join(allowed, ", "))
		}
	}
	if c.Plan == "" {
		return nil
	}
	for _, other := range []string{"select", "ignore", "session", "allow", "profile", "as-is", "plan-out"} {
		if c.Sources[other] == "--"+other && (other != "allow" || !slices.Equal(c.Allow, []string{repair.ForeignFunctions})) { // which changes no plan
			return problem.New(problem.Usage, "Make a new plan with --plan-out.", "--plan makes exactly the changes of a saved plan, so it cannot be combined with --%s", other)
		}
	}
	return nil
}

// repairRun is one run of repair over one store.
type repairRun struct {
	*program
	path   string
	rules  []*rules.Rule
	saved  *repair.Plan // of --plan, else nil
	writer render.RepairWriter
	roots  []string // of the only trees to repair; nil for what --session says

	// eachTree, when set, is given each tree that is changed: see repair.Options.
	eachTree func(plan *repair.Tree, was, will *session.Tree)

	kind       store.Kind
	facts      *session.Store
	planned    fs.FileInfo // the file that the plan was made for
	plan       *repair.Plan
	left       []*check.Finding // what the plan does not repair
	incomplete string           // why not everything is known, "" if it is
	recovery   string           // what to do about that where it is damage
}

func newRepairRun(p *program) (*repairRun, error) {
	c := p.config
	c.Deep = true // damage is looked for before anything is changed
	r := &repairRun{program: p}
	if err := r.checkFlags(); err != nil {
		return nil, err
	}
	var err error
	if r.rules, err = p.selectedRules(); err != nil {
		return nil, err
	}
	if c.Plan != "" {
		if r.saved, err = readPlan(c.Plan); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// locateStore finds the one store to repair. A saved plan names its own.
func (r *repairRun) locateStore(ctx context.Context, args []string) (err error) {
	if r.saved != nil && len(args) == 0 {
		r.path = r.saved.Store.Path
	} else if r.path, err = r.onePath(ctx, args); err != nil {
		return err
	}
	r.writer = changes.NewRepairWriter(r.config.Format, render.RepairOptions{
		Screen: r.out, Tool: thisTool(), Home: r.home, Quiet: r.config.Quiet, MaxSteps: int(r.config.MaxFindings),
		Content: r.out.Terminal || r.config.ShowContent, Check: "sessctl check " + shell.Path(r.path), Allowed: r.config.Allow,
	})
	return nil
}

// leftCode is the exit code of what a repair leaves.
func (r *repairRun) leftCode() int {
	code := r.findingsCode(r.left)
	if r.incomplete != "" {
		code = max(code, int(problem.Unreadable))
	}
	return code
}

func (r *repairRun) printOutcome(o render.Outcome) error {
	if err := r.writer.Close(o); err != nil {
		return err
	}
	if r.incomplete != "" {
		return problem.New(problem.Unreadable, cmp.Or(ui.AsSentence(r.recovery), seeCheck), "the plan does not cover all of %s: %s", r.facts.Path, r.incomplete)
	}
	if o.Applied && o.ExitCode != exitOK {
		return errors.Join(withCode(o.ExitCode), errChanged)
	}
	return withCode(o.ExitCode)
}

// savePlanIfAsked writes the plan where --plan-out says, and reports whether the run is
// over with that.
func (r *repairRun) savePlanIfAsked() (stop bool, err error) {
	if r.config.PlanOut == "" {
		return r.config.DryRun, nil
	}
	return r.config.DryRun || !r.config.Yes, r.savePlan()
}

// stopUnchanged ends a run in which nothing was changed, with the command that does it.
func (r *repairRun) stopUnchanged(next ...render.Command) error {
	return r.printOutcome(render.Outcome{ExitCode: max(exitFindings, r.leftCode()), Next: next})
}

// commandWithWords is this command line without what kept it from changing anything, and
// with more words.
func (r *repairRun) commandWithWords(why string, words ...string) render.Command {
	flags, stores := beforeDashes(r.args)
	if r.config.PlanOut != "" {
		return render.Command{Line: repairCommand(r.path, shell.Words(append([]string{"--plan", r.config.PlanOut}, words...))...) + r.foreignWords(), Why: why}
	}
	without := []string{"--dry-run", "--dry-run=true", "-n", "--yes", "-y"}
	if r.config.Format == "html" { // a page is for a plan
		without = append(without, "--format=html", "--format", "html", "--show-content")
	}
	flags = slices.DeleteFunc(slices.Clone(flags), func(arg string) bool { return slices.Contains(without, arg) })
	return render.Command{Line: "sessctl " + strings.Join(shell.Words(slices.Concat(flags, words, stores)), " "), Why: why}
}

// inPlace repairs the store itself. It is closed before it is opened for
// writing: closing any other handle of this process would release the locks.
func (r *repairRun) inPlace(ctx context.Context) error {
	if err := r.readPlan(ctx); err != nil {
		return err
	}
	refused := r.refusalReason()
	if refused != nil && !r.plan.IsEmpty() && !r.config.DryRun && r.config.PlanOut == "" {
		return refused
	}
	if err := r.printPlan(); err != nil {
		return err
	}
	if r.plan.IsEmpty() {
		return r.printOutcome(render.Outcome{ExitCode: r.leftCode(), Next: r.allowingCommands()})
	}
	stop, err := r.savePlanIfAsked()
	switch {
	case err != nil:
		return err
	case stop && refused != nil:
		r.printNote("%v", refused)
		return r.stopUnchanged(r.insteadCommand())
	case stop:
		return r.stopUnchanged(r.commandWithWords("make these changes"))
	case refused != nil:
		return refused
	}
	return r.confirmAndApply(ctx)
}

// readPlan makes the plan for the store as it is now.
func (r *repairRun) readPlan(ctx context.Context) error {
	return r.readStore(ctx, r.path, func(opened *registry.Opened) error {
		if seen, err := os.Stat(r.path); err == nil { // else it is standard input, or gone by now
			os.SameFile(seen, seen) // Windows asks which file it is only now
			r.planned = seen
		}
		return r.planFrom(ctx, opened)
	})
}

func (r *repairRun) printPlan() error {
	err := r.writer.Plan(r.plan, r.facts, r.left)
	if err == nil || errors.Is(err, syscall.EPIPE) {
		return err
	}
	return &problem.Error{Class: problem.Unreadable, Err: err, What: "nothing was changed: the plan could not be printed: " + problem.Reason(err)}
}

// liveWindow is for how long a session on a server counts as one that is being written to.
const liveWindow = time.Minute

// backupTime is the form of the time in the name of a backup, in UTC.
const backupTime = "20060102T150405Z"

// backupMark stands between the name of a store and that time.
const backupMark = ".sessctl-"

const receiptEnding = repair.ReceiptEnding

// newName is a name that neither a backup nor its receipt has yet.
func newName(path string) string {
	name := path
	for n := 2; pathExists(name) || pathExists(name+receiptEnding); n++ {
		name = fmt.Sprintf("%s-%d", path, n)
	}
	return name
}

func pathExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// confirmAndApply asks, unless --yes says not to, and applies.
func (r *repairRun) confirmAndApply(ctx context.Context) error {
	backup := newName(besidePath(r.plan.Store.Path) + backupMark + time.Now().UTC().Format(backupTime)) //nolint:forbidigo // a name for people
	if r.config.Yes {
		return r.applyPlan(ctx, backup)
	}
	if !r.canAsk() {
		r.printMessage("sessctl: ", message{
			Type: "error", Message: "nothing was changed: this is not a terminal, so sessctl cannot ask",
			Next: "Read the plan above, and add --yes to make these changes.", ExitCode: exitFindings,
		})
		return r.stopUnchanged(r.commandWithWords("make these changes without asking", "--yes"))
	}
	if err := r.writer.Ask(backup, withLog(r.path, r.facts.Bytes), r.undoCommand(r.path, backup+receiptEnding)); err != nil {
		return err
	}
	yes, err := ui.AskYesNo(r.stdin, r.out, "Make these changes?")
	switch {
	case err != nil:
		return err
	case !yes:
		r.printNote("declined; nothing was changed")
		return r.stopUnchanged()
	}
	return r.applyPlan(ctx, backup)
}

// withLog is about the size of a backup: the log that is beside a store is in it.
func withLog(path string, bytes int64) int64 {
	if info, err := os.Stat(path + "-wal"); err == nil {
		bytes += info.Size()
	}
	return bytes
}

// canAsk reports whether somebody sees the plan and can answer.
func (p *program) canAsk() bool {
	in, ok := p.stdin.(*interruptible)
	return ok && ui.IsTerminal(in.r) && p.out.Terminal && !p.printsJSON() && p.outputFormat() != "html"
}

func (r *repairRun) applyPlan(ctx context.Context, backup string) error {
	now, err := os.Stat(r.path)
	const next = "Nothing was changed. Run the repair again to get a new plan."
	switch {
	case registry.OnServer(r.path):
	case err != nil || !os.SameFile(r.planned, now):
		return problem.New(problem.Busy, next, "%s was moved or replaced by another file after the plan was made", r.path)
	case r.kind.Stream && (now.Size() != r.planned.Size() || !now.ModTime().Equal(r.planned.ModTime())): // items are named by their places
		return problem.New(problem.Busy, next, "%s was changed after the plan was made", r.path)
	}
	r.noteLeftovers(backup)
	ed, err := r.kind.Edit(ctx, registry.ToEdit(r.path))
	if err != nil {
		return err
	}
	set, clearLine := r.startProgress("backing up")
	receipt, err := repair.Apply{
		Backup: backup, Receipt: backup + receiptEnding, Tool: toolName(), Role: registry.RoleOf(r.path), Prologue: r.kind.Prologue, Progress: set,
	}.Run(ctx, ed, r.plan)
	clearLine()
	err = errors.Join(err, ed.Close())
	r.noteLeft(ed)
	if err != nil {
		return r.partlyChanged(receipt, err)
	}
	return r.printApplied(receipt, render.Outcome{Backup: backup, Next: []render.Command{r.undoCommand(r.path, receipt.Path())}})
}

// noteLeftovers names what may be the remains of a killed process in the folder of a
// store. What certainly is is deleted without a word.
func (p *program) noteLeftovers(path string) {
	folder := filepath.Dir(path)
	if left := atomicfile.FindLeftovers(folder); len(left) > 0 {
		p.printNote("%s in %s may be left over from a sessctl that was killed, and may hold a copy of a store: if no other sessctl is running there, delete it",
			firstFew(left), folder)
	}
}

func (p *program) noteLeft(ed store.Editor) {
	if left := ed.Left(); left != "" {
		p.printNote("%s", left)
	}
}

// startProgress counts the bytes of a copy.
func (r *repairRun) startProgress(what string) (set func(int64), clearLine func()) {
	if r.config.Quiet {
		return nil, func() {}
	}
	p := r.err.StartProgress(what+" "+ui.Clean(ui.Tilde(r.path, r.home)), r.facts.Bytes)
	return p.Set, p.Clear
}

// toolName is this program as a receipt names it.
func toolName() string { return thisTool().Name + " " + thisTool().Version }

func (p *program) undoCommand(store, receipt string) render.Command {
	if registry.OnServer(store) { // a receipt does not have the role
		return render.Command{Line: "sessctl undo " + shell.Path(store) + p.foreignWords()}
	}
	return render.Command{Line: "sessctl undo " + shell.HomePath(receipt, p.home)}
}

// errChanged is the cause of an error after which a store is not what it was.
var errChanged = errors.New("the store was changed")

// partlyChanged says of a repair that failed what was changed before; nothing was when
// there is no receipt.
func (p *program) partlyChanged(receipt *repair.Receipt, err error) error {
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
			Next: "Everything else is done. To undo the repair: `" + p.undoCommand(receipt.Store.Path, receipt.Path()).Line + "`.",
		}
	}
	return &problem.Error{
		Class: class, Err: errors.Join(errChanged, err),
		What: fmt.Sprintf("%s; before that, %s had been repaired and verified, and will stay repaired", what, ui.Count(sessions, "session")),
		Next: "Run the repair again for the rest, or undo what was done with `" + p.undoCommand(receipt.Store.Path, receipt.Path()).Line + "`.",
	}
}

// printApplied prints what became of a plan that was carried out. A tree that was left out
// still has what was found in it.
func (r *repairRun) printApplied(receipt *repair.Receipt, o render.Outcome) error {
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
	o.Left, o.ExitCode = r.left, r.leftCode()
	if len(o.LeftOut) > 0 {
		o.ExitCode = max(o.ExitCode, exitFindings)
	}
	err := r.printOutcome(o)
	if isUnprinted(err) {
		return untoldChange(err, "the repair of "+r.plan.Store.Path+" is done and verified", keptIn(o))
	}
	return err
}

// keptIn says where what a repair leaves behind is, and how it is taken back.
func keptIn(o render.Outcome) string {
	if o.Output != "" {
		return "The repaired copy is " + o.Output + "; its receipt is " + o.Receipt + "."
	}
	return "The backup is " + o.Backup + ". To undo the repair: `" + o.Next[0].Line + "`."
}

// isUnprinted reports whether an error is one of writing what people or programs read.
func isUnprinted(err error) bool {
	_, done := errors.AsType[shown](err)
	return err != nil && !done && problem.ClassOf(err) == 0
}

// untoldChange is the problem with a change that was made and could not be told of.
func untoldChange(err error, done, next string) error {
	return &problem.Error{
		Class: problem.Unreadable, Err: errors.Join(errChanged, err), Next: next,
		What: done + "; only the report of it could not be printed: " + problem.Reason(err),
	}
}

// interruptionError is the error of a command that a signal stopped, with what it
// had changed. One that had done everything before the signal came ends as
// always.
func interruptionError(err error) error {
	if !errors.Is(err, errChanged) {
		return errInterrupted
	}
	if _, done := errors.AsType[shown](err); done {
		return err
	}
	return errors.Join(errInterrupted, err)
}
