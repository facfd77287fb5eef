package cmd

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/ui"
)

// against compares the sessions of the recording with those in a store, and
// prints what differs as a check prints its findings.
func (run *replayRun) against(ctx context.Context) error {
	c := run.config
	recorder := recording.NewRecorder(run.model(), true)
	err := run.each(ctx, func(e *recording.Event) error {
		recorder.Take(e)
		return nil
	})
	if err != nil {
		return err
	}
	recording := recorder.End()
	if found := check.Recording(run.path, recording, run.events.Skipped(), run.events.SkippedCount(), run.rules); len(found) > 0 {
		run.note("%s about the recording itself: `sessctl replay %s` shows them", ui.Count(len(found), "finding"), shellWord(run.path))
	}
	if c.Output != "" {
		if err := run.write(recording); err != nil {
			return err
		}
	}
	path, err := run.onePath(ctx, []string{c.Against})
	if err != nil {
		return err
	}
	checked := &checkRun{program: run.program, rules: run.rules, recorded: recording.Trees}
	checked.writer = render.Check(c.Format, render.CheckOptions{
		Screen: run.out, Tool: tool(), Home: run.home, Quiet: c.Quiet, MaxFindings: int(c.MaxFindings), Limited: true,
	})
	if err := checked.store(ctx, path); err != nil {
		return err
	}
	if len(checked.results) == 0 {
		return cmp.Or(checked.missed, withCode(checked.code))
	}
	if err := checked.writer.Close(checked.code, nextCommands([]string{path}, checked.results)); err != nil {
		return err
	}
	return withCode(checked.code)
}

// recordedStore is a store of which only the trees of a recording count.
type recordedStore struct {
	store.Store
	recorded []*session.Tree
}

// Trees yields the trees that hold a session that a user started in the recording.
func (r recordedStore) Trees(ctx context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) {
		for tree, err := range r.Store.Trees(ctx) {
			if err == nil && r.of(tree) == nil {
				continue
			}
			if !yield(tree, err) {
				return
			}
		}
	}
}

// of is the recorded tree of a stored one, nil when it was not recorded.
func (r recordedStore) of(tree *session.Tree) *session.Tree {
	for _, recorded := range r.recorded {
		if tree.Session(recorded.Root().ID) != nil {
			return recorded
		}
	}
	return nil
}

// compare makes the check of an opened store a comparison with the recording.
func (run *checkRun) compare(ctx context.Context, opened *registry.Opened, opts *check.Options) (store.Store, error) {
	st := recordedStore{opened, run.recorded}
	found := map[*session.Tree]bool{}
	for tree, err := range st.Trees(ctx) {
		if err != nil {
			return nil, err
		}
		found[st.of(tree)] = true
	}
	lost := slices.DeleteFunc(slices.Clone(run.recorded), func(tree *session.Tree) bool { return found[tree] })
	if len(found) == 0 {
		return nil, problem.New(problem.Usage, "Name the store that the recorded runtime wrote; `sessctl ls` lists what a store holds.",
			"%s holds no session of the recording: there is no %s", opened.Facts().Path, lost[0].Root().ID)
	}
	for _, tree := range lost {
		run.note("session %s was recorded, and %s does not hold it", tree.Root().ID, opened.Facts().Path)
	}
	opts.Compare = func(ctx context.Context, tree *session.Tree) (*replay.Comparison, error) {
		if err := opened.Fill(ctx, tree); err != nil {
			return nil, err
		}
		return replay.Compare(st.of(tree), tree), nil
	}
	if len(lost) > 0 && run.config.FailOn != "never" {
		run.code = worse(run.code, exitFindings)
	}
	return st, nil
}

// failing is the exit code for findings.
func (p *program) failing(found []*check.Finding) int {
	for _, severity := range []rules.Severity{rules.Info, rules.Warning, rules.Error} {
		if severity.String() != p.config.FailOn {
			continue
		}
		if slices.ContainsFunc(found, func(f *check.Finding) bool { return f.Severity >= severity }) {
			return exitFindings
		}
	}
	return exitOK
}
