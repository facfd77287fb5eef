package cmd

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/baseline"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/events"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// checkRun is one run of check over several stores.
type checkRun struct {
	*program
	rules  []*rules.Rule
	judge  rules.Judge
	since  time.Time // zero: no limit
	shard  shard
	writer render.CheckWriter
	roots  bool                 // the writer names every session
	known  *baseline.Comparison // with the baseline, nil without one
	// recorded are the sessions that the store is compared with; nil for a check.
	recorded []*session.Tree

	code    int
	missed  []error         // why stores have no session that --session means
	results []*check.Result // of the stores that were read
}

func newCheckRun(p *program, reports reportFiles, paths []string, several bool) (*checkRun, error) {
	c := p.config
	run := &checkRun{program: p}
	var err error
	if run.rules, err = p.selectedRules(); err != nil {
		return nil, err
	}
	if run.judge, err = p.judge(); err != nil {
		return nil, err
	}
	if c.Explain && c.Session == "" {
		return nil, problem.New(problem.Usage, "Name one with --session; `sessctl ls` lists them.", "--explain-request is about one session")
	}
	switch {
	case len(run.rules) == 0:
	case !slices.ContainsFunc(run.rules, func(r *rules.Rule) bool { return r.Scope&(rules.PerTree|rules.PerStore) != 0 }):
		p.note("these rules are about recordings of a run: `sessctl replay` asks them")
	case !c.Deep && !slices.ContainsFunc(run.rules, func(r *rules.Rule) bool { return !r.Deep }):
		p.note("these rules find nothing without --deep")
	}
	if c.Since != "" {
		if run.since, err = parseSince(c.Since, time.Now()); err != nil {
			return nil, err
		}
	}
	if c.Shard != "" {
		if run.shard, err = parseShard(c.Shard); err != nil {
			return nil, err
		}
	}
	if run.known, err = p.comparison(paths); err != nil {
		return nil, err
	}
	run.writer, run.roots = p.checkWriters(reports, several, time.Now())
	return run, nil
}

// store checks one store and prints the result. What is wrong with the store
// is shown and counts, but the next one is still checked; an error ends the run.
func (run *checkRun) store(ctx context.Context, path string) error {
	start := time.Now()
	var result *check.Result
	err := run.read(ctx, path, func(opened *registry.Opened) (err error) {
		result, err = run.check(ctx, opened)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, view.ErrNoSession):
		run.missed = append(run.missed, err)
		return nil
	case run.config.Session != "" && problem.ClassOf(err) == problem.Usage:
		return err
	case err != nil:
		run.unread(path, err)
	}
	if result == nil {
		return nil
	}
	run.compare(result, err != nil)
	run.count(result)
	return run.writer.Store(result, time.Since(start))
}

// unread shows and counts that a store could not be read, or not to its end, or that
// an argument means none.
func (run *checkRun) unread(path string, err error) {
	run.report(err)
	run.writer.Unread(unread(path, err))
	run.code = worse(run.code, exitCode(err))
}

// end prints what concerns all stores and gives the files of the run their names. A
// signal that comes before leaves all of them as they were; behind the first name all
// get theirs, and the run ends as if none had come.
func (run *checkRun) end(ctx context.Context, args []string, file *atomicfile.File, reports reportFiles) error {
	end, failed := run.ending(ctx, args, file)
	if err := run.writer.Close(end); err != nil {
		return err
	}
	if begun := end.Baseline != nil && end.Baseline.Written; !begun && ctx.Err() != nil {
		return ctx.Err()
	}
	if err := cmp.Or(reports.commit(), failed); err != nil {
		return err
	}
	return ended(run.code)
}

// check checks an opened store. With an error the result, if any, holds what
// was found before.
func (run *checkRun) check(ctx context.Context, opened *registry.Opened) (*check.Result, error) {
	if err := run.assumeDead(opened.Facts()); err != nil {
		return nil, err
	}
	var st store.Store = opened
	opts := check.Options{
		Rules: run.rules, Judge: run.judge, Explain: run.config.Explain, Bodies: run.withTexts(run.rules), Roots: run.roots || run.known != nil,
		OmitStore: !run.shard.first(),
	}
	if run.config.Session != "" {
		one, err := findSession(ctx, opened, run.config.Session)
		if err != nil {
			return nil, err
		}
		if err := run.inShard(ctx, one); err != nil {
			return nil, err
		}
		st, opts.Session = one, one.found.ID
	}
	if !run.since.IsZero() {
		st = part{st, touchedSince(run.since)}
	}
	if !run.shard.isWhole() {
		st = part{st, run.shard.holds}
	}
	opts.Recorded, opts.Runtime = run.recorded, events.Runtime
	result, err := check.Run(ctx, st, opts)
	if err != nil && result.Incomplete == "" {
		result.Incomplete = "the store could not be read to its end"
	}
	return result, err
}

// count adds a result to the exit code.
func (run *checkRun) count(result *check.Result) {
	run.results = append(run.results, result)
	if result.Incomplete != "" {
		run.code = worse(run.code, int(problem.Unreadable))
	}
	run.code = worse(run.code, run.failing(result.Findings))
}

// inShard refuses a session that belongs to another shard.
func (run *checkRun) inShard(ctx context.Context, one oneSession) error {
	for tree, err := range one.Trees(ctx) {
		if err := cmp.Or(err, run.shard.check(one.found.ID, tree)); err != nil {
			return err
		}
	}
	return nil
}

// nowhere is the problem with a session that no store has.
func (run *checkRun) nowhere() error {
	if len(run.missed) == 1 {
		return run.missed[0]
	}
	return problem.New(problem.Usage, "`sessctl ls` lists the sessions of a store.", "none of the %s has a session %q",
		ui.Count(len(run.missed), "store"), run.config.Session)
}
