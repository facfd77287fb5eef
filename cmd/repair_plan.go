package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/why"
)

// planFrom makes the plan for an opened store, or takes the one that was saved.
func (r *repairRun) planFrom(ctx context.Context, opened *registry.Opened) error {
	r.kind, r.facts, r.left = opened.Kind, opened.Facts(), nil
	if c := r.config; c.AssumeDead && c.Session == "" && r.saved == nil && r.facts.Identity != "" && r.facts.Writer == session.WriterUnknown {
		return problem.New(problem.Usage, "Name the session whose runtime has stopped with --session, or leave --assume-dead out.",
			"other programs may be connected to %s, so that --assume-dead needs --session", r.facts.Path)
	}
	if err := r.assumeDead(r.facts); err != nil {
		return err
	}
	if r.saved != nil {
		return r.adoptPlan(ctx, opened.Store)
	}
	return r.makePlan(ctx, opened.Store)
}

func (r *repairRun) makePlan(ctx context.Context, st store.Store) error {
	judge, err := r.parseJudge()
	if err != nil {
		return err
	}
	opts := repair.Options{
		Rules: r.rules, Named: len(r.config.Select) > 0, Judge: judge, Allow: map[string]bool{}, Prologue: r.kind.Prologue,
	}
	for _, word := range r.config.Allow {
		opts.Allow[word] = true
	}
	if page, is := r.writer.(interface {
		Tree(plan *repair.Tree, was, will *session.Tree)
	}); is {
		opts.EachTree = page.Tree
	}
	if r.eachTree != nil {
		opts.EachTree = r.eachTree
	}
	if r.roots != nil {
		opts.Only = func(tree *session.Tree) bool {
			return slices.ContainsFunc(r.roots, func(id string) bool { return tree.Session(id) != nil })
		}
	}
	if r.config.Session != "" {
		one, err := findSession(ctx, st, r.config.Session)
		if err != nil {
			return err
		}
		r.noteRoot(one.found)
		opts.Session = one.found.ID
	}
	plan, result, err := repair.MakePlan(ctx, st, opts)
	switch {
	case err != nil && problem.ClassOf(err) == 0 && ctx.Err() == nil:
		return problem.New(problem.Unreadable, "`sessctl check` says what is wrong. What `sessctl export` can still read can be repaired.",
			"%s cannot be read to its end, so its repair cannot be planned: %v", r.path, err)
	case err != nil:
		return err
	}
	if plan.Store.Path, err = absolutePath(r.path); err != nil {
		return err
	}
	r.plan, r.left, r.incomplete, r.recovery = plan, listedFindings(plan.Findings), result.Incomplete, result.Recovery
	return nil
}

// absolutePath is the path of a store wherever the plan or the receipt is read.
func absolutePath(path string) (string, error) {
	if path == "-" || registry.OnServer(path) {
		return path, nil
	}
	return filepath.Abs(path)
}

// adoptPlan takes a saved plan. The store is checked for what the plan does not
// hold: the titles of its sessions, and what it leaves.
func (r *repairRun) adoptPlan(ctx context.Context, st store.Store) error {
	const next = "Make a new plan with --plan-out."
	plan := r.saved
	path, err := absolutePath(r.path)
	switch {
	case err != nil:
		return err
	case plan.Store.Path != path:
		return problem.New(problem.Usage, next, "the plan in %s is for %s, not for %s", r.config.Plan, plan.Store.Path, path)
	case plan.Store.Kind != r.facts.Kind || plan.Store.Generation != r.facts.Generation:
		return problem.New(problem.Usage, next, "the plan in %s is for kind %s, schema %s, but %s is kind %s, schema %s",
			r.config.Plan, plan.Store.Kind, plan.Store.Generation, r.path, r.facts.Kind, r.facts.Generation)
	}
	titles, found := map[string]string{}, map[string][]*check.Finding{}
	result, err := check.Run(ctx, st, check.Options{
		Rules: catalogue.UsualRules(), Judge: plan.Judge(), EachTree: func(tree *session.Tree, list []*check.Finding) {
			root := tree.Root()
			titles[root.ID], found[root.ID] = root.Title, list
		},
	})
	if err != nil {
		return err
	}
	for _, t := range plan.Trees {
		t.Title, t.Before = titles[t.Root], found[t.Root]
	}
	for _, f := range result.Findings {
		if slices.Contains(plan.Left, f.Fingerprint) {
			r.left = append(r.left, f)
		}
	}
	r.plan, r.incomplete, r.recovery = plan, result.Incomplete, result.Recovery
	return nil
}

// biggestPlan is how long a plan may be. It holds no texts: an edit takes some
// 300 bytes, so this is for millions of them.
const biggestPlan = 1 << 30 // bytes

// readPlan reads a plan that --plan-out wrote.
func readPlan(path string) (*repair.Plan, error) {
	const next = "Name a file that --plan-out wrote."
	data, err := atomicfile.ReadRegular(path, biggestPlan)
	if err != nil {
		return nil, problem.New(problem.Usage, next, "the plan %s cannot be read: %s", path, problem.Reason(err))
	}
	plan := &repair.Plan{}
	if err := json.Unmarshal(data, plan); err != nil || plan.Schema != repair.PlanSchema || slices.Contains(plan.Trees, nil) {
		return nil, problem.New(problem.Usage, next, "%s is not a plan that this version of sessctl can read (%s)", path, repair.PlanSchema)
	}
	if !plan.IsSealed() {
		return nil, problem.New(problem.Usage, "Nothing was changed. Make a new plan with --plan-out.", "%s was edited after sessctl wrote it, or an older version wrote it", path)
	}
	return plan, nil
}

func (r *repairRun) savePlan() error {
	return writeNew(r.config.PlanOut, func(w io.Writer) error {
		err := r.plan.Seal()
		if err != nil {
			return err
		}
		data, err := json.MarshalIndent(r.plan, "", " ")
		if err != nil {
			return err
		}
		_, err = w.Write(append(data, '\n'))
		return err
	})
}

// refusalReason is why the store cannot be repaired in place, nil if it can.
func (r *repairRun) refusalReason() error {
	name := r.facts.Path
	refuse := func(why string) error {
		instead := r.insteadCommand()
		return problem.New(problem.Unreadable, "Use `"+instead.Line+"` to "+instead.Why+".", "%s cannot be repaired in place: %s", name, why)
	}
	switch {
	case r.facts.ReadOnly != "":
		return refuse(r.facts.ReadOnly)
	case r.kind.Edit == nil:
		return refuse("it is a " + r.kind.Title)
	case r.inUse():
		return problem.New(problem.Busy, "Nothing was changed. Close that program and try again.",
			"%s is in use: %s has it open", name, cmp.Or(r.facts.WriterName, "another process"))
	case r.incomplete != "":
		if r.recovery == "" {
			return refuse(r.incomplete)
		}
		return problem.New(problem.Unreadable, ui.AsSentence(r.recovery),
			"%s is not repaired, because it is damaged, and writing to it could destroy what can still be saved: %s", name, r.incomplete)
	}
	return nil
}

// inUse reports whether a program has the store open. A stream tells that of the store that it
// was exported from.
func (r *repairRun) inUse() bool { return r.facts.Writer == session.WriterLive && !r.kind.Stream }

// insteadCommand is what to type for a store that cannot be repaired in place as it is.
func (r *repairRun) insteadCommand() render.Command {
	switch {
	case !r.canCopy():
		line := "sessctl export " + shell.Path(r.path) + " --output " + shell.Path(streamName(r.path))
		return render.Command{Line: line, Why: "write a stream, which can be repaired"}
	case r.kind.Edit != nil && r.inUse():
		return r.commandWithWords("make these changes once the store is closed")
	}
	return r.commandWithWords("write a repaired copy", "--output", r.copyName())
}

// allowingCommands is the command of a repair that is made only where it is allowed: for what keeps
// a session from resuming before all else.
func (r *repairRun) allowingCommands() []render.Command {
	most := slices.MaxFunc(slices.Concat(r.left, []*check.Finding{nil}), func(a, b *check.Finding) int { return slices.Compare(r.findingUrgency(a), r.findingUrgency(b)) })
	if r.saved != nil || r.findingUrgency(most) == nil {
		return nil
	}
	costs := lists.MapEach(most.AllowWords(), func(word string) string { return why.Costs[word] })
	return []render.Command{r.commandWithWords(strings.Join(costs, "; "), "--allow", strings.Join(most.AllowWords(), ","))}
}

func (r *repairRun) findingUrgency(f *check.Finding) []int {
	if f == nil || len(f.MissingWords(r.config.Allow)) == 0 || f.Severity == rules.Info && !f.IsRefused() {
		return nil
	}
	return []int{oneIf(f.IsRefused()), int(f.Severity)}
}

// canCopy reports whether a copy of the store can be repaired.
func (r *repairRun) canCopy() bool {
	return r.kind.Edit != nil && (r.kind.Stream || r.facts.ReadOnly == "" && !registry.OnServer(r.path))
}

func streamName(store string) string {
	if registry.OnServer(store) || isFolder(store) {
		return besidePath(store) + ".ndjson"
	}
	return strings.TrimSuffix(store, filepath.Ext(store)) + ".ndjson"
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// besidePath is a path to which an ending can be put, so that it names something beside what
// is there; of a database on a server, something in the current folder.
func besidePath(path string) string {
	if u, err := url.Parse(path); err == nil && registry.OnServer(path) {
		return cmp.Or(strings.ReplaceAll(strings.Trim(u.Path, "/"), "/", "-"), "sessions")
	}
	if !isFolder(path) {
		return path
	}
	path = filepath.Clean(path)
	if base := filepath.Base(path); base == "." || base == ".." {
		if full, err := filepath.Abs(path); err == nil {
			path = full
		}
	}
	return path
}

func (r *repairRun) copyName() string {
	if r.path == "-" {
		return "repaired.ndjson"
	}
	ending := filepath.Ext(r.path)
	return strings.TrimSuffix(r.path, ending) + ".repaired" + ending
}

// toFile writes a repaired copy. Nothing that exists is changed, so nobody is
// asked.
func (r *repairRun) toFile(ctx context.Context) (err error) {
	opened, err := r.openStore(ctx, r.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	if err := r.planFrom(ctx, opened); err != nil {
		return err
	}
	if registry.OnServer(r.path) {
		return problem.New(problem.Usage, "Repair it where it is, or export it with `sessctl export` and repair the stream.", "%s is a database on a server, which sessctl cannot copy", r.path)
	}
	if !r.canCopy() && !r.plan.IsEmpty() && !r.config.DryRun {
		return r.refusalReason()
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
	case stop && !r.canCopy():
		return r.stopUnchanged(r.insteadCommand())
	case stop && r.config.PlanOut != "":
		return r.stopUnchanged(r.commandWithWords("write the repaired copy", "--output", r.config.Output))
	case stop:
		return r.stopUnchanged(r.commandWithWords("write the repaired copy"))
	}
	return r.writeCopy(ctx, opened)
}

func (r *repairRun) writeCopy(ctx context.Context, opened *registry.Opened) error {
	out, err := filepath.Abs(r.config.Output)
	if err != nil {
		return err
	}
	set, clearLine := r.startProgress("copying")
	receipt, err := repair.Apply{Receipt: out + receiptEnding, Tool: toolName(), Prologue: r.kind.Prologue, Progress: set, Changed: opened.Changed}.
		Output(ctx, r.kind, opened.Store, r.plan, out)
	clearLine()
	if err != nil {
		return err
	}
	return r.printApplied(receipt, render.Outcome{Output: out})
}

// listedFindings are the findings that a check lists, too, without --deep where that finds damage of the
// store: what else the tests of the whole file tell of it is about the same.
func listedFindings(found []*check.Finding) []*check.Finding {
	damage := func(f *check.Finding) bool { return f.Rule.ID == "SC001" && f.Session == "" }
	if !slices.ContainsFunc(found, func(f *check.Finding) bool { return damage(f) && !f.Deep }) {
		return found
	}
	return slices.DeleteFunc(slices.Clone(found), func(f *check.Finding) bool { return damage(f) && f.Deep })
}
