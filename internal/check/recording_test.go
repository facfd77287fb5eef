package check_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

func TestARecordingIsCheckedByItsOwnRulesOnly(t *testing.T) {
	result := &recording.Result{
		Trees:     treetest.Trees(t, "P\n  user\n  root c1()\n  user"), // SC101 in a store
		Anomalies: []recording.Anomaly{{Kind: recording.UnmatchedEnd, Line: 7}, {Kind: recording.CutOff, Opened: 3, Line: 9}},
		Odd:       2,
	}
	skipped := []recording.Skipped{{Line: 2, Why: "it is no JSON"}}
	var got []string
	for _, f := range check.Recording("run.jsonl", result, skipped, 1, rules.All) {
		got = append(got, f.Rule.ID+" "+f.Severity.String()+" "+f.Row)
		if f.Session != "" || f.Root != nil || f.Fingerprint == "" {
			t.Errorf("%s is about session %q", f.Row, f.Session)
		}
	}
	want := []string{"SC010 warning events/2", "SC714 warning events/7", "SC714 warning events/3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if found := check.Recording("run.jsonl", result, skipped, 1, []*rules.Rule{rules.Find("SC101")}); len(found) > 0 {
		t.Errorf("found %v", places(found))
	}
}

// compared lets every tree be compared with one that is as the store has it, but
// for those that the recording lacks, and those that more is recorded of.
func compared(lacks, lost string) func(context.Context, *session.Tree) (*replay.Comparison, error) {
	return func(_ context.Context, tree *session.Tree) (*replay.Comparison, error) {
		c := &replay.Comparison{Recorded: tree, Trace: replay.Stored(tree)}
		switch tree.Root().ID {
		case lacks:
			return nil, nil
		case lost:
			c.Differences = []replay.Difference{{Kind: replay.Lost, Recorded: tree.Root(), RecordedItem: 0, Stored: tree.Root(), StoredItem: -1}}
		}
		return c, nil
	}
}

func TestAComparisonAsksOnlyRulesAboutComparisons(t *testing.T) {
	st := many(t, 3)
	st.facts.Faults = []session.Fault{{Kind: session.StoreDamaged, Item: -1}}
	r := run(t, st, check.Options{Compare: compared("P1", "P2")})
	if diff := cmp.Diff([]string{"SC701 P0.5", "SC728 P2.-1", "SC701 P2.5"}, places(r.Findings)); diff != "" {
		t.Error(diff)
	}
	if r.Trees != 2 {
		t.Errorf("%d trees count; one of the three is not recorded", r.Trees)
	}
}

func TestAComparisonThatCannotBeMadeIsAnError(t *testing.T) {
	failed := errors.New("disk I/O error")
	r, err := check.Run(t.Context(), many(t, 3), check.Options{
		Rules: rules.All, Compare: func(ctx context.Context, tree *session.Tree) (*replay.Comparison, error) {
			if tree.Root().ID == "P1" {
				return nil, failed
			}
			return compared("", "")(ctx, tree)
		},
	})
	if !errors.Is(err, failed) || r.Trees != 2 {
		t.Errorf("error %v, %d trees", err, r.Trees)
	}
}

func TestAComparisonThatPanicsBecomesAFinding(t *testing.T) {
	r := run(t, many(t, 2), check.Options{Compare: func(_ context.Context, tree *session.Tree) (*replay.Comparison, error) {
		panic("no luck with " + tree.Root().ID)
	}})
	if diff := cmp.Diff([]string{"SC000 P0.-1", "SC000 P1.-1"}, places(r.Findings)); diff != "" || !strings.Contains(r.Incomplete, "no luck with") {
		t.Errorf("%s: %s", r.Incomplete, diff)
	}
}
