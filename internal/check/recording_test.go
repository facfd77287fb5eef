package check_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

func TestARecordingIsCheckedByItsOwnRulesOnly(t *testing.T) {
	result := &recording.Result{
		Trees:     treetest.Trees(t, "P\n  user\n  root c1()\n  user"), // SC101 in a store
		Anomalies: []recording.Anomaly{{Kind: recording.UnmatchedEnd, Line: 7}, {Kind: recording.CutOff, Opened: 3, Line: 9}},
		Odd:       2,
	}
	result.Skipped, result.Unread = []recording.Skipped{{Line: 2, Why: "it is no JSON"}}, 1
	source := &session.Store{Path: "run.jsonl", Kind: "recording"}
	var got []string
	for _, f := range check.RunRecording(source, result, catalogue.All) {
		got = append(got, f.Rule.ID+" "+f.Severity.String()+" "+f.Row)
		if f.Session != "" || f.Root != nil || f.Fingerprint == "" || "events/"+f.Line != f.Row {
			t.Errorf("%s is about session %q, line %q", f.Row, f.Session, f.Line)
		}
	}
	want := []string{"SC010 warning events/2", "SC714 warning events/7", "SC714 warning events/3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if found := check.RunRecording(source, result, []*rules.Rule{catalogue.FindRule("SC101")}); len(found) > 0 {
		t.Errorf("found %v", places(found))
	}
}

// recorded are the trees of many as their runs emitted them: without what leaked,
// and with a last word that the store may lack.
func recorded(t *testing.T, lastWords map[string]string) []*session.Tree {
	t.Helper()
	var notation strings.Builder
	for _, n := range slices.Sorted(maps.Keys(lastWords)) {
		notation.WriteString(strings.NewReplacer("#", n, "LAST", lastWords[n]).Replace(`
P#
  user
  root c1()
  user
  root <z1
  root T1>worker(do it)
  sub C#
  root <T1
  LAST
C#<P#
  system(do it)
  worker c2()
  user
  worker "done"
`))
	}
	return treetest.Trees(t, notation.String())
}

func TestARecordedTreeIsCompared(t *testing.T) {
	st := many(t, 3)
	st.facts.Faults = []session.Fault{{Kind: session.StoreDamaged, Item: -1}}
	r := run(t, st, check.Options{Recorded: recorded(t, map[string]string{"0": "", "2": `root "bye"`, "7": `root "gone"`})})
	if diff := cmp.Diff([]string{"SC728 .-1", "SC701 P0.5", "SC701 P2.5", "SC728 P2.7"}, places(r.Findings)); diff != "" {
		t.Error(diff)
	}
	if r.Trees != 2 || r.Compared == 0 {
		t.Errorf("%d trees count, %d items were compared; one of the three is not recorded", r.Trees, r.Compared)
	}
	lost := r.Findings[0]
	if lost.Row != "sessions/P7" || !strings.Contains(lost.Message, "session P7") {
		t.Errorf("of the lost session: %s: %s", lost.Row, lost.Message)
	}
	only := run(t, st, check.Options{Rules: []*rules.Rule{catalogue.FindRule("SC701")}, Recorded: recorded(t, map[string]string{"7": ""})})
	if len(only.Findings) > 0 {
		t.Errorf("found %v", places(only.Findings))
	}
}

func TestATreeThatCannotBeFilledIsAnError(t *testing.T) {
	failed := errors.New("disk I/O error")
	st := unfillable{many(t, 3), "P1", failed}
	r, err := check.Run(t.Context(), st, check.Options{Rules: catalogue.All, Recorded: recorded(t, map[string]string{"0": "", "1": "", "2": ""})})
	if !errors.Is(err, failed) || r.Trees != 2 {
		t.Errorf("error %v, %d trees", err, r.Trees)
	}
}

// unfillable is a store in which the bodies of one tree cannot be read.
type unfillable struct {
	*memory
	root string
	err  error
}

func (u unfillable) Fill(_ context.Context, tree *session.Tree) error {
	if tree.Root().ID == u.root {
		return u.err
	}
	return nil
}

func TestAComparisonThatPanicsBecomesAFinding(t *testing.T) {
	trees := recorded(t, map[string]string{"0": ""})
	trees[0].Sessions[0].Items[0].Body = nil
	r := run(t, many(t, 2), check.Options{Recorded: trees})
	if diff := cmp.Diff([]string{"SC000 P0.-1"}, places(r.Findings)); diff != "" || !strings.Contains(r.Incomplete, "crashed") {
		t.Errorf("%s: %s", r.Incomplete, diff)
	}
}
