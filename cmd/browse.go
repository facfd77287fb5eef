package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/browse"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/changes"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

func newBrowseCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "browse [STORE...]",
		Short: "Look through sessions and their sub-agents on the whole screen",
		Long: `Browse the sessions of stores: what is wrong with each, the tree of its agents
with what each of them did, was sent and could see, and the plan of a repair.

The list is there at once, and health fills in while the check runs. At the foot of
the screen are the keys; ? lists all of them. Nothing is changed before you have
seen the plan, pressed a and typed yes. The repair is that of ` + "`sessctl repair`" + `, with
a backup and a way back.

STORE is what ` + "`sessctl check`" + ` takes, but for standard input. It needs a terminal.

` + exitStatus("left", int(problem.Unreadable), exitInterrupted),
		Example: `  sessctl browse
  sessctl browse session.db
  sessctl browse 'stores/**/*.db'`,
		GroupID:           groupStore,
		RunE:              func(cmd *cobra.Command, args []string) error { return p.browseStores(cmd.Context(), args) },
		ValidArgsFunction: completeStores(0),
	}
	addStoreFlag(cmd)
	addProfileFlags(cmd)
	addAssumeDeadFlag(cmd)
	flags := cmd.Flags()
	flags.StringSlice("select", nil, "look only for what these `RULES` find: ids, SC7, names")
	flags.StringSlice("ignore", nil, "leave these `RULES` out")
	addPlanFlags(cmd)
	return cmd
}

// keyboard is where keys come from at a terminal that can show the browser, nil at any other place.
func (p *program) keyboard() io.Reader {
	in, ok := p.stdin.(*interruptible)
	if !ok || !ui.IsTerminal(in.r) || !p.out.Terminal || p.out.Dumb {
		return nil
	}
	return in.r
}

// browseStores runs the browser at a terminal.
func (p *program) browseStores(ctx context.Context, args []string) error {
	keyboard := p.keyboard()
	if keyboard == nil {
		return problem.New(problem.Usage, "`sessctl ls` and `sessctl view` print the same for pipes.", "`sessctl browse` needs a terminal that can move its cursor")
	}
	b := browser{program: p, changed: &atomic.Bool{}}
	checked, _ := b.silent(0)
	if _, err := newRepairRun(checked); err != nil { // a wrong setting is said before the screen is taken
		return err
	}
	if _, err := p.parseJudge(); err != nil {
		return err
	}
	paths, empty, err := p.expandArguments(ctx, args)
	if err != nil {
		return err
	}
	for _, e := range empty {
		return e.reason
	}
	for _, path := range paths {
		if path == "-" {
			return problem.New(problem.Usage, "Write the stream into a file first.", "a browser cannot read standard input, where you type")
		}
		if registry.OnServer(path) { // which may ask for a password, and later there is no place for that
			if _, err := b.List(ctx, path); err != nil {
				return err
			}
		}
	}
	defer surviveClosedPipes()()
	ctx = registry.WithPassword(ctx, func(string) (string, error) { return "", nil })
	err = browse.Run(ctx, browse.Options{
		Program: b, Stores: paths, Home: p.home, Hide: p.hideSecrets, Color: p.out.Color, Watch: 2 * time.Second, In: keyboard, Out: p.stdout,
	})
	if err != nil && b.changed.Load() {
		return &problem.Error{
			Class: problem.Unreadable, Err: errors.Join(errChanged, err), What: "interrupted after a store was changed",
			Next: "`sessctl undo --list STORE` lists its repairs.",
		}
	}
	return err
}

// browser does what the browser asks for, as the commands do it.
type browser struct {
	*program
	changed *atomic.Bool // a store is not what it was
	tell    func(*render.Row, []*check.Finding)
}

// silent is a program that prints into a buffer, as on a terminal of so many columns.
func (b browser) silent(width int) (*program, *bytes.Buffer) {
	var printed bytes.Buffer
	c, one := *b.config, *b.program
	c.Format, c.Yes, c.FailOn, c.ShowContent, c.LiveWindow = "text", true, "never", true, 0
	one.config, one.stdin, one.stdout, one.stderr, one.pager = &c, strings.NewReader(""), &printed, &printed, nil
	one.getenv = func(name string) string {
		return map[string]string{"COLUMNS": strconv.Itoa(width)}[name]
	}
	one.setScreens(ui.ColorAlways)
	one.getenv = b.getenv
	return &one, &printed
}

// List implements browse.Program.
func (b browser) List(ctx context.Context, store string) (*render.ListedStore, error) {
	p, _ := b.silent(0)
	p.brief = 1 // whatever the size
	return p.listStore(ctx, store, nil, func(*session.Tree, *render.Row) bool { return true })
}

// Tree implements render.TreeWriter: it tells of each conversation.
func (b browser) Tree(_ *session.Store, tree *session.Tree, found []*check.Finding) {
	for _, part := range tree.Conversations() {
		var own []*check.Finding
		for _, f := range found {
			if part.Session(f.Session) != nil {
				own = append(own, f)
			}
		}
		b.tell(render.RowOf(part, found, false), own)
	}
}

// Check implements browse.Program.
func (b browser) Check(ctx context.Context, store string, tell func(*render.Row, []*check.Finding)) error {
	p, _ := b.silent(0)
	p.config.ShowContent = false // which loads all texts
	run := &checkRun{program: p, trees: []render.TreeWriter{browser{tell: tell}}}
	var err error
	if run.rules, err = p.selectedRules(); err != nil {
		return err
	}
	if run.judge, err = p.parseJudge(); err != nil {
		return err
	}
	return p.readStore(ctx, store, func(opened *registry.Opened) error {
		result, err := run.checkOpened(ctx, opened)
		if result == nil {
			return err
		}
		if own := slices.DeleteFunc(result.Findings, func(f *check.Finding) bool { return f.Session != "" }); len(own) > 0 {
			tell(nil, own)
		}
		if err == nil && result.Incomplete != "" {
			err = problem.New(problem.Unreadable, seeCheck, "not all of %s could be checked: %s", store, result.Incomplete)
		}
		return err
	})
}

// Read implements browse.Program.
func (b browser) Read(ctx context.Context, store, id, provider string) (in view.Input, err error) {
	p, _ := b.silent(0)
	if provider != "" { // else what --profile says
		p.config.Profile = []string{provider}
	}
	p.texts = true
	s := &search{program: p, opened: map[string]*registry.Opened{}}
	defer func() { err = errors.Join(err, s.closeStores()) }()
	if s.judged, err = p.parseJudge(); err != nil {
		return in, err
	}
	found, err := s.chooseSession(ctx, []string{store}, id)
	if err != nil {
		return in, err
	}
	opened := s.opened[found.Store]
	if err := p.assumeDead(opened.Facts()); err != nil {
		return in, err
	}
	if in, _, err = s.examineSession(ctx, opened, found); err != nil {
		return in, err
	}
	err = opened.Fill(ctx, in.Tree)
	dropStored(in.Tree)
	return in, err
}

// Plan implements browse.Program.
func (b browser) Plan(ctx context.Context, store string, ids []string, width int) (*browse.Proposal, error) {
	p, printed := b.silent(width)
	p.args = []string{"repair", store} // which the commands that it names begin with
	p.config.LiveWindow = b.config.LiveWindow
	ctx = p.allowForeign(ctx)
	proposal := &browse.Proposal{Store: store, Title: "Repair"}
	r, err := newRepairRun(p)
	if err != nil {
		return nil, err
	}
	if len(ids) == 1 {
		p.config.Session = ids[0]
	} else {
		r.roots = ids
	}
	r.eachTree = func(plan *repair.Tree, was, will *session.Tree) {
		proposal.Sides = append(proposal.Sides, changes.SidesOf(plan, was, will)...)
	}
	if err := r.locateStore(ctx, []string{store}); err != nil {
		return nil, err
	}
	if err := r.readPlan(ctx); err != nil {
		return nil, err
	}
	if err := r.printPlan(); err != nil {
		return nil, err
	}
	switch refused := r.refusalReason(); {
	case r.plan.IsEmpty():
		err = r.printOutcome(render.Outcome{Next: r.allowingCommands()})
	case refused != nil:
		p.reportError(refused)
	default:
		proposal.CarryOut = func(ctx context.Context) (string, error) {
			printed.Reset()
			err := r.confirmAndApply(p.allowForeign(ctx))
			b.noteChange(err)
			return printed.String(), b.unshown(err)
		}
	}
	proposal.Text = printed.String()
	return proposal, b.unshown(err)
}

// Undo implements browse.Program.
func (b browser) Undo(ctx context.Context, store string, width int) (*browse.Proposal, error) {
	p, printed := b.silent(width)
	for _, found := range p.findReceipts(ctx, []string{store}) {
		if found.State == repair.Undone {
			continue
		}
		err := p.printUndo(found)
		return &browse.Proposal{Store: store, Title: "Undo of the last repair", Text: printed.String(), CarryOut: func(ctx context.Context) (string, error) {
			printed.Reset()
			err := p.undoAsking(p.allowForeign(ctx), found)
			b.noteChange(err)
			return printed.String(), b.unshown(err)
		}}, err
	}
	return nil, problem.New(problem.Unreadable, "", "no repair of %s was found that can be undone", store)
}

// noteChange notes how a change has ended: one that failed may have begun.
func (b browser) noteChange(err error) {
	if b.unshown(err) == nil || errors.Is(err, errChanged) {
		b.changed.Store(true)
	}
}

// unshown is an error that nobody has printed yet. One that a stop led to says whether anything was
// changed.
func (b browser) unshown(err error) error {
	if _, done := errors.AsType[shown](err); done {
		return nil
	}
	if errors.Is(err, context.Canceled) && !errors.Is(err, errChanged) {
		return errInterrupted
	}
	return err
}

// Export implements browse.Program.
func (b browser) Export(ctx context.Context, store, id string, redact bool) (string, error) {
	p, _ := b.silent(0)
	name := rules.ShortID(id)
	if redact {
		name += ".redacted"
	}
	p.config.Session, p.config.Redact, p.config.Output = id, redact, strings.ReplaceAll(name, string(os.PathSeparator), "-")+".ndjson"
	return p.config.Output, p.exportStore(ctx, store)
}

// Stamp implements browse.Program.
func (b browser) Stamp(store string) string {
	if registry.OnServer(store) {
		return ""
	}
	stamp := ""
	for _, file := range []string{store, store + "-wal"} {
		if info, err := os.Stat(file); err == nil {
			stamp += fmt.Sprintln(info.Size(), info.ModTime().UnixNano())
		}
	}
	return stamp
}
