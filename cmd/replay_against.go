package cmd

import (
	"context"
	"slices"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/events"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/shell"
)

// against compares the sessions of the recording with those in a store, and
// prints what differs as a check prints its findings.
func (run *replayRun) against(ctx context.Context) error {
	c := run.config
	path, err := run.onePath(ctx, []string{c.Against})
	if err != nil {
		return err
	}
	recorder := recording.NewRecorder(recording.Auto, true, events.Runtime.NoOutput)
	err = run.each(ctx, func(e *recording.Event) error {
		recorder.Take(e)
		return nil
	})
	if err != nil {
		return err
	}
	read := run.result(recorder)
	if err := run.write(read); err != nil {
		return err
	}
	trees, err := run.comparable(read)
	if err != nil {
		return err
	}
	checked := &checkRun{program: run.program, rules: run.rules, recorded: trees}
	checked.writer = render.FindCheckFormat(c.Format).Check(render.CheckOptions{
		Screen: run.out, Tool: tool(), Home: run.home, Quiet: c.Quiet, MaxFindings: int(c.MaxFindings), Limited: true,
	})
	if found := check.Recording(run.source(), read, run.rules); len(found) > 0 {
		itself := &check.Result{Store: run.source(), Findings: found, Recording: true}
		checked.count(itself)
		if err := checked.writer.Store(itself, 0); err != nil {
			return err
		}
	}
	if err := checked.store(ctx, path); err != nil {
		return err
	}
	if len(checked.results) == 0 {
		return withCode(checked.code)
	}
	next := nextCommands([]string{path}, checked.results)
	if len(next) == 0 {
		next = append(next, render.Command{Line: "sessctl check " + shell.Path(path), Why: "what is wrong with its sessions by themselves"})
	}
	if c.Output == "" && slices.ContainsFunc(trees, unfinished) && run.path != "-" {
		next = append(next, render.Command{Line: "sessctl replay " + shell.Path(run.path) + " --output FILE", Why: "keep what only the events hold"})
	}
	if err := checked.writer.Close(render.Ending{ExitCode: checked.code, Next: next}); err != nil {
		return err
	}
	return withCode(checked.code)
}

// comparable are the trees whose sessions are known by their ids.
func (run *replayRun) comparable(read *recording.Result) ([]*session.Tree, error) {
	trees := slices.DeleteFunc(slices.Clone(read.Trees), func(tree *session.Tree) bool { return recording.Unnamed(tree.Root()) })
	switch {
	case len(trees) == 0:
		return nil, problem.New(problem.Unreadable, "A recording that holds the beginning of a run names it.",
			"%s does not name the session of its run, so there is nothing to compare", run.name())
	case len(trees) < len(read.Trees):
		run.note("a part of the recording does not name its session, and is not compared")
	}
	return trees, nil
}

// unfinished reports whether a tree has what no runtime stores: a sub-session that
// never completed.
func unfinished(tree *session.Tree) bool {
	return slices.ContainsFunc(tree.Sessions[1:], func(s *session.Session) bool {
		return len(s.Items) > 0 && s.Items[0].Flags.Has(session.Unfinished)
	})
}
