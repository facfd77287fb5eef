package check

import (
	"cmp"
	"context"
	"slices"

	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// Recording runs rules over a recorded stream of events that was read from path.
// skipped are the first of its lines that are no events, of unread.
func Recording(path string, recording *recording.Result, skipped []recording.Skipped, unread int, run []*rules.Rule) []*Finding {
	e := &engine{opts: Options{Rules: run}, facts: &session.Store{Path: path}}
	found := e.run(-1, nil, rules.PerRecording, func(report func(*rules.Finding)) *rules.Pass {
		return rules.NewRecordingPass(e.facts, recording, skipped, unread, report)
	})
	slices.SortStableFunc(found, compare)
	return found
}

// compare runs the rules about comparisons over a tree. One that no recording is
// about is not counted.
func (e *engine) compare(ctx context.Context, seq int, tree *session.Tree) {
	var compared *replay.Comparison
	var err error
	found := e.run(seq, tree, rules.PerComparison, func(report func(*rules.Finding)) *rules.Pass {
		if compared, err = e.opts.Compare(ctx, tree); err != nil || compared == nil {
			return nil
		}
		return rules.NewComparisonPass(e.facts, tree, compared, e.opts.Judge, report)
	})
	if compared != nil || len(found) > 0 {
		e.collect(found, tree)
	}
	if err != nil {
		e.mu.Lock()
		e.failed = cmp.Or(e.failed, err)
		e.mu.Unlock()
	}
}
