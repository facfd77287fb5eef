package cmd

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/baseline"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/events"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/checks"
	"github.com/sessctl/sessctl/internal/render/views"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
	"github.com/sessctl/sessctl/internal/watch"
)

func newCheckCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [STORE...]",
		Short: "Find what would break or mislead the next run",
		Long: `Print what is wrong with sessions, why, and what the provider would answer.

Nothing is changed. STORE is a file, a folder with stores in it, a pattern that stands for several
('stores/**/*.db'; ** is any number of folders), the URL of a database of PostgreSQL
(docs/stores/postgres.md), MySQL or MariaDB (docs/stores/mysql.md), or - for a canonical
stream on standard input. Without one, the stores at their usual places are checked.

A project that has findings already writes them into a baseline; runs with it
fail on new ones only, and on known ones that got worse.

Whether the next request would be accepted depends on the provider. Each session
is judged for the one that its recorded model or its call ids hint at, and else
for the strictest common form (generic); --profile names others.

Findings are listed by session, the newest first, one a line: its severity, its
rule, its place as SESSION:ITEMS, and what was found, which --full prints whole.
In a pipe they are the same: ` + "`sessctl check | grep 'error SC701'`" + `.

` + exitStatus("nothing found at or above --fail-on", append(storeCodes, exitFindings)...),
		Example: `  sessctl check 'stores/**/*.db' --since 7d --format ndjson`,
		GroupID: groupStore,
		RunE:    func(cmd *cobra.Command, args []string) error { return runCheck(cmd, p, args) },
	}
	addCheckFlags(cmd)
	return cmd
}

func addCheckFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	addFormatFlag(cmd, checks.FormatNames()...)
	addPagerFlag(cmd)
	flags.StringArray("report", nil, "also write this `FORMAT=FILE`; may be repeated")
	addStoreFlag(cmd)
	addFindingFlags(cmd)
	addChoice(cmd, "severity", "", severities, "least severity listed (warning)")
	flags.Bool("full", false, "print the whole text of each finding")
	flags.Bool("show-content", false, "show what messages say in pages in HTML")
	addBaselineFlags(cmd)
	flags.String("session", "", "check only this `SESSION` and its tree")
	addByIndexFlag(cmd)
	flags.String("since", "", "check sessions active since this `TIME`: 7d, 2026-02-03")
	flags.String("shard", "", "check only one part of the sessions: the `I/N`th")
	flags.String("app", "", "check only the sessions of this `APP`")
	flags.String("user", "", "check only the sessions of this `USER`")
	flags.Bool("deep", false, "also make the tests that take long")
	addProfileFlags(cmd)
	flags.Bool("explain-request", false, "also print what the provider answers (with --session)")
	addAssumeDeadFlag(cmd)
	flags.Uint("jobs", 1, "check `N` parts of a database at a time")
	flags.Uint("max-memory", 0, "stop beyond `MB` of memory, 0 for never")
	cmd.ValidArgsFunction = completeStores(0)
}

func runCheck(cmd *cobra.Command, p *program, args []string) error {
	ctx := cmd.Context()
	if err := p.byIndex(); err != nil {
		return err
	}
	paths, empty, err := p.expandArguments(ctx, args)
	if err != nil {
		return err
	}
	file, err := p.newBaseline(ctx, paths)
	if err != nil {
		return err
	}
	if file != nil {
		defer func() { _ = file.Discard() }() // nothing is left of it after a commit
	}
	reports, err := p.openReports(ctx, paths)
	if err != nil {
		return err
	}
	defer reports.discardReports()
	if file != nil || len(reports) > 0 {
		defer surviveClosedPipes()()
	}
	run, err := newCheckRun(p, reports, paths, len(paths)+len(empty) > 1)
	if err != nil {
		return err
	}
	for _, e := range empty {
		run.noteUnread(e.word, e.reason)
	}
	if p.config.Session != "" && len(paths) > 1 {
		if run.only, err = p.silentProgram().storeOf(ctx, paths, p.config.Session); err != nil && !errors.Is(err, view.ErrNoSession) {
			return err
		}
	}
	for _, path := range paths {
		if err := run.checkStore(ctx, path); err != nil {
			return err
		}
	}
	if len(run.results) == 0 && run.missed != nil {
		return run.sessionNotFound()
	}
	return run.finishRun(ctx, args, file, reports)
}

// checkRun is one run of check over several stores.
type checkRun struct {
	*program
	rules  []*rules.Rule
	judge  rules.Judge
	since  time.Time // zero: no limit
	shard  shard
	writer render.CheckWriter
	roots  bool                 // the writer names every session
	trees  []render.TreeWriter  // that draw the trees
	only   string               // of several stores the one with the session of --session
	asked  *watch.Part          // of a store that is watched, what is wanted; nil for a single check
	known  *baseline.Comparison // with the baseline, nil without one
	// recorded are the sessions that the store is compared with; nil for a check.
	recorded []*session.Tree

	code    int
	missed  []error         // why stores have no session that --session means
	results []*check.Result // of the stores that were read
}

func newCheckRun(p *program, reports reportFiles, paths []string, several bool) (*checkRun, error) {
	c := p.config
	p.texts = true
	run := &checkRun{program: p}
	var err error
	if run.rules, err = p.selectedRules(); err != nil {
		return nil, err
	}
	if run.judge, err = p.parseJudge(); err != nil {
		return nil, err
	}
	if c.Explain && c.Session == "" {
		return nil, problem.New(problem.Usage, "Name one with --session; `sessctl ls` lists them.", "--explain-request is about one session")
	}
	switch {
	case len(run.rules) == 0:
	case !slices.ContainsFunc(run.rules, func(r *rules.Rule) bool { return r.Scope&(rules.PerTree|rules.PerStore) != 0 }):
		p.printNote("these rules are about recordings of a run: `sessctl replay` asks them")
	case !c.Deep && !slices.ContainsFunc(run.rules, func(r *rules.Rule) bool { return !r.Deep }):
		p.printNote("these rules find nothing without --deep")
	}
	if run.since, err = parseSince(c.Since, time.Now()); err != nil {
		return nil, err
	}
	if c.Shard != "" {
		if run.shard, err = parseShard(c.Shard); err != nil {
			return nil, err
		}
	}
	if run.isPart() {
		p.keep, p.part = run.mayCount, run.shard
	}
	if !run.since.IsZero() {
		p.since = run.since.Add(-zones)
	}
	if run.known, err = p.beginComparison(paths); err != nil {
		return nil, err
	}
	writers, roots := p.checkWriters(reports, several, time.Now())
	run.writer, run.roots = writers, roots
	for _, w := range writers {
		if drawn, is := w.(render.TreeWriter); is {
			run.trees = append(run.trees, drawn)
		}
	}
	return run, nil
}

// checkStore checks one store and prints the result. What is wrong with the store
// is shown and counts, but the next one is still checked; an error ends the run.
func (run *checkRun) checkStore(ctx context.Context, path string) error {
	start := time.Now()
	var result *check.Result
	limited, done := run.withinMemory(ctx, path)
	defer done()
	err := run.onlySession(path).readStore(limited, path, func(opened *registry.Opened) (err error) {
		if run.only != "" && run.only != path {
			return view.ErrNoSession
		}
		result, err = run.checkOpened(limited, opened)
		return err
	})
	if stopped := context.Cause(limited); problem.ClassOf(stopped) != 0 {
		err = stopped
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, view.ErrNoSession):
		run.missed = append(run.missed, err)
		return nil
	case run.config.Session != "" && problem.ClassOf(err) == problem.Usage:
		return err
	case err != nil:
		run.noteUnread(path, err)
	}
	if result == nil {
		return nil
	}
	run.compareBaseline(result, err != nil)
	run.countResult(result)
	return run.writer.Store(result, time.Since(start))
}

// noteUnread shows and counts that a store could not be read, or not to its end, or that
// an argument means none.
func (run *checkRun) noteUnread(path string, err error) {
	run.reportError(err)
	run.writer.Unread(unreadStore(path, err))
	run.code = max(run.code, exitCode(err))
}

// finishRun prints what concerns all stores and gives the files of the run their names. A
// signal that comes before leaves all of them as they were; behind the first name all
// get theirs, and the run ends as if none had come.
func (run *checkRun) finishRun(ctx context.Context, args []string, file *atomicfile.File, reports reportFiles) error {
	end, failed := run.finishBaseline(ctx, args, file)
	if err := run.writer.Close(end); err != nil {
		return err
	}
	if begun := end.Baseline != nil && end.Baseline.Written; !begun && ctx.Err() != nil {
		return ctx.Err()
	}
	if err := cmp.Or(reports.commitReports(), failed); err != nil {
		return err
	}
	return withFinalCode(run.code)
}

// checkOpened checks an opened store. With an error the result, if any, holds what
// was found before.
func (run *checkRun) checkOpened(ctx context.Context, opened *registry.Opened) (*check.Result, error) {
	if err := run.assumeDead(opened.Facts()); err != nil {
		return nil, err
	}
	run.noteReading(opened.Facts())
	var st store.Store = opened
	opts := check.Options{
		Rules: run.rules, Judge: run.judge, Explain: run.config.Explain, Bodies: run.withTexts(run.rules), Roots: run.roots || run.known != nil,
		OmitStore: !run.shard.hasStoreFindings(),
	}
	if run.config.Session != "" {
		one, err := findSession(ctx, opened, run.config.Session)
		if err != nil {
			return nil, err
		}
		run.noteRoot(one.found)
		if err := run.inShard(ctx, one); err != nil {
			return nil, err
		}
		st, opts.Session = one, one.found.ID
	}
	if run.isPart() {
		st = part{st, run.mayCount, func(tree *session.Tree) bool { return run.isAskedFor(tree) && touchedSince(run.since)(tree) }}
	}
	if run.asked != nil && run.asked.Only == "" && pickerOf(opened) != nil {
		st = part{st, run.asked.Keep, func(*session.Tree) bool { return true }}
		opts.OmitStore = !run.asked.All && registry.OnServer(opened.Facts().Path) // which reads no more than is asked for
	}
	if len(run.trees) > 0 {
		opts.Bodies = opts.Bodies || run.config.ShowContent
		opts.EachTree = func(tree *session.Tree, found []*check.Finding) {
			for _, w := range run.trees {
				w.Tree(opened.Facts(), tree, found)
			}
		}
	}
	opts.Recorded, opts.Runtime = run.recorded, events.Runtime
	forecast := repair.NewForecast(ctx, opened.Store, repair.Options{Judge: run.judge, Prologue: opened.Kind.Prologue})
	if opened.Facts().Read != session.ByIndex {
		opts.Fixes = forecast.MarkTree
	}
	result, err := check.Run(ctx, st, opts)
	forecast.MarkStore(result)
	if err != nil && result.Incomplete == "" {
		result.Incomplete = "the store could not be read to its end"
	}
	return result, err
}

// isPart reports whether some trees are left out by what is known of their heads.
func (run *checkRun) isPart() bool {
	return !run.since.IsZero() || !run.shard.isWhole() || run.config.App+run.config.User != ""
}

// isAskedFor tells by the root of a tree whether it is one of those that are asked for.
func (run *checkRun) isAskedFor(tree *session.Tree) bool {
	root, c := tree.Root(), run.config
	return run.shard.hasTree(tree) && (c.App == "" || root.App == c.App) && (c.User == "" || root.User == c.User)
}

// zones are as far as two clocks can be apart.
const zones = 26 * time.Hour

// mayCount tells by the heads of a tree whether the rest has to be read to know that it
// counts. The time in a column may be that of a clock in any zone, and the event's own
// differ from it by as much.
func (run *checkRun) mayCount(heads *session.Tree, newest time.Time) bool {
	old := !newest.IsZero() && newest.Before(run.since.Add(-zones)) && !touchedSince(run.since)(heads)
	return run.isAskedFor(heads) && !old
}

func (run *checkRun) countResult(result *check.Result) {
	run.results = append(run.results, result)
	if result.Incomplete != "" {
		run.code = max(run.code, int(problem.Unreadable))
	}
	run.code = max(run.code, run.findingsCode(result.Findings))
}

// inShard refuses a session that belongs to another shard.
func (run *checkRun) inShard(ctx context.Context, one oneSession) error {
	for tree, err := range one.Trees(ctx) {
		if err := cmp.Or(err, run.shard.requireTree(one.found.ID, tree)); err != nil {
			return err
		}
	}
	return nil
}

// sessionNotFound is the problem with a session that no store has.
func (run *checkRun) sessionNotFound() error {
	if len(run.missed) == 1 {
		return run.missed[0]
	}
	return problem.New(problem.Usage, "`sessctl ls` lists the sessions of a store.", "none of the %s has a session %q",
		ui.Count(len(run.missed), "store"), run.config.Session)
}

// reportFiles are the reports of a run besides what it prints.
type reportFiles []reportFile

type reportFile struct {
	format *checks.Format
	path   string
	file   *atomicfile.File
	stream io.Writer // instead of file: the path is where a stream of the program goes
	failed error     // instead of file: why there is none
}

// openReports begins the files of --report. Nothing stands under their names before
// they are committed. None may be a file that the run reads or writes otherwise.
func (p *program) openReports(ctx context.Context, stores []string) (reportFiles, error) {
	var all reportFiles
	taken := p.takenPaths(stores, p.config.Baseline, p.config.WriteBaseline)
	for _, word := range p.config.Report {
		r, err := p.openReport(ctx, word, taken)
		if err != nil {
			all.discardReports()
			return nil, err
		}
		all, taken = append(all, r), append(taken, r.path)
	}
	return all, nil
}

func (p *program) openReport(ctx context.Context, word string, taken []string) (reportFile, error) {
	name, path, _ := strings.Cut(word, "=")
	format := checks.FindFormat(name)
	switch {
	case path == "":
		return reportFile{}, problem.New(problem.Usage, "Write it as FORMAT=FILE: --report json=findings.json.", "--report %q names no file", word)
	case format == nil:
		return reportFile{}, problem.New(problem.Usage, ui.JoinSentences(problem.DidYouMean(name, checks.FormatNames()), "Use one of these: "+strings.Join(checks.FormatNames(), ", ")+"."), "--report: there is no format %q", name)
	case path == "-":
		return reportFile{}, problem.New(problem.Usage, "Use --format "+name+" to print it, or ./- for a file that is called so.", "--report %s names no file", word)
	}
	if stream := p.streamAt(path); stream != nil {
		return reportFile{format: format, path: path, stream: stream}, nil
	}
	if p.isTaken(ctx, path, taken) {
		return reportFile{}, problem.New(problem.Usage, "Name another file.",
			"--report %s would overwrite a store, a baseline, another report, the configuration or standard input", word)
	}
	file, err := atomicfile.Create(ctx, path, 0o666) // less the umask
	switch {
	case ctx.Err() != nil:
		return reportFile{}, ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return reportFile{}, problem.New(problem.Usage, "Name a file in a folder that exists.", "the report %s cannot be written: %v", path, problem.Reason(err))
	}
	return reportFile{format: format, path: path, file: file, failed: err}, nil
}

// Write implements io.Writer. What goes wrong with a file ends neither the run nor
// the other reports: the file remembers it, and is not committed.
func (r reportFile) Write(text []byte) (int, error) {
	switch {
	case r.stream != nil:
		return r.stream.Write(text)
	case r.file != nil:
		_, _ = r.file.Write(text)
	}
	return len(text), nil
}

// commitReports gives the reports their names, each that is whole.
func (all reportFiles) commitReports() error {
	var failed error
	for i, r := range all {
		err := r.failed
		if r.file != nil {
			err = r.file.Commit()
			all[i].file = nil
		}
		if err != nil {
			failed = errors.Join(failed, problem.New(problem.Unreadable, "The findings above are complete.",
				"the report %s could not be written: %v", r.path, problem.Reason(err)))
		}
	}
	return failed
}

// discardReports forgets the reports that were not committed.
func (all reportFiles) discardReports() {
	for i := range all {
		if all[i].file != nil {
			_ = all[i].file.Discard()
			all[i].file = nil
		}
	}
}

// unreadStore is an error of a store for the reports.
func unreadStore(path string, err error) render.Unread {
	m := messageOf(err)
	return render.Unread{Store: path, Message: m.Message, Next: m.Next, ExitCode: m.ExitCode}
}

// severities are the words of --severity.
var severities = []string{rules.Error.String(), rules.Warning.String(), rules.Info.String()}

// leastSeverity is the lowest severity that is listed: without --severity, also infos that were
// asked for or fail the run.
func (p *program) leastSeverity() rules.Severity {
	if least, known := rules.ParseSeverity(p.config.Severity); known {
		return least
	}
	if p.config.FailOn == rules.Info.String() || len(p.config.Select) > 0 {
		return rules.Info
	}
	return rules.Warning
}

// checkWriters are the writers of the format and of the reports, and whether one of
// them names every session.
func (p *program) checkWriters(reports reportFiles, several bool, started time.Time) (writers checks.Writers, roots bool) {
	c := p.config
	opts := render.CheckOptions{
		Screen: p.out, Tool: thisTool(), Home: p.home,
		Quiet: c.Quiet, MaxFindings: int(c.MaxFindings), Full: c.Full, Least: p.leastSeverity(),
		Limited: p.partOf() != "", Several: several,
		Adopts:  c.WriteBaseline != "",
		Fails:   func(f *check.Finding) bool { return p.findingsCode([]*check.Finding{f}) != exitOK },
		Started: started, StepSummary: p.newStepSummary(),
		Content: c.ShowContent,
		Lanes: func(store *session.Store, tree *session.Tree, found []*check.Finding) document.Diagram {
			return views.DrawLanes(store, tree, found, c.ShowContent)
		},
	}
	opts.Folder, _ = os.Getwd() // without it, paths stay as they were named
	add := func(format *checks.Format, opts render.CheckOptions) {
		if format.Name == "html" && c.Sources["max-findings"] == "default" {
			opts.MaxFindings = 0 // a page has its filter
		}
		writers, roots = append(writers, format.New(opts)), roots || format.Roots
	}
	add(checks.FindFormat(c.Format), opts)
	for _, r := range reports {
		opts.Screen, opts.Quiet = ui.NewScreen(r, ui.ColorNever, p.getenv), false
		add(r.format, opts)
	}
	return writers, roots
}
