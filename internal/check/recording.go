package check

import (
	"cmp"
	"context"
	"slices"

	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/rules/recorded"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// RunRecording runs rules over what was read of a recorded stream of events.
func RunRecording(source *session.Store, read *recording.Result, run []*rules.Rule) []*Finding {
	e := &engine{opts: Options{Rules: run}, facts: source}
	found := e.runRules(-1, nil, rules.PerRecording, func(report func(*rules.Finding)) *rules.Pass {
		return rules.NewRecordingPass(source, read, report)
	})
	slices.SortStableFunc(found, compareFindings)
	return found
}

// recordedRuns are the trees of a recording by the session that a user started.
type recordedRuns struct {
	trees  []*session.Tree
	byID   map[string]*session.Tree
	stored map[*session.Tree]bool // those that the store has
}

func newRecordedRuns(trees []*session.Tree) *recordedRuns {
	r := &recordedRuns{trees: trees, byID: map[string]*session.Tree{}, stored: map[*session.Tree]bool{}}
	for _, tree := range trees {
		r.byID[tree.Root().ID] = tree
	}
	return r
}

// recordedTree is the recorded tree of a stored one, nil when it was not recorded.
func (r *recordedRuns) recordedTree(stored *session.Tree) (found *session.Tree) {
	for _, s := range stored.Sessions {
		if tree := r.byID[s.ID]; tree != nil {
			r.stored[tree] = true
			found = cmp.Or(found, tree)
		}
	}
	return found
}

// lostFindings is what is found about runs that the store lacks.
func (e *engine) lostFindings(r *recordedRuns) (found []*Finding) {
	for _, tree := range r.trees {
		f := recorded.LostSession(tree)
		if !r.stored[tree] && slices.Contains(e.opts.Rules, f.Rule) {
			found = append(found, reportedForm(f, e.facts, nil, -1, 0))
		}
	}
	return found
}

// compareRecorded runs the rules about comparisons over a tree and what was recorded of it.
func (e *engine) compareRecorded(ctx context.Context, st store.Store, seq int, tree, recorded *session.Tree) outcome {
	if err := st.Fill(ctx, tree); err != nil {
		e.mu.Lock()
		e.failed = cmp.Or(e.failed, err)
		e.mu.Unlock()
		return outcome{}
	}
	var compared *replay.Comparison
	found := e.runRules(seq, tree, rules.PerComparison, func(report func(*rules.Finding)) *rules.Pass {
		compared = replay.Compare(recorded, tree, cmp.Or(e.opts.Runtime, &session.Runtime{}))
		return rules.NewComparisonPass(catalogue.All, e.facts, tree, compared, e.opts.Judge, report)
	})
	e.collectFindings(found, tree)
	if compared != nil {
		e.mu.Lock()
		e.result.Compared += compared.Compared
		e.mu.Unlock()
	}
	return outcome{tree, found}
}
