package check_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/treetest"
)

// many is a store of n damaged trees, each with findings in parent and child. Its
// model is one whose provider minds no order of roles.
func many(t *testing.T, n int) *memory {
	var notation strings.Builder
	for i := range n {
		notation.WriteString(strings.ReplaceAll(`
P# model=openai/gpt-4o
  user
  root c1()
  user
  root <z1
  root T1>worker(do it)
  worker "done"
  sub C#
  root <T1
C#<P#
  system(do it)
  worker c2()
  user
  worker "done"
`, "#", fmt.Sprint(i)))
	}
	return &memory{
		facts: session.Store{
			Writer: session.WriterDead, Children: session.Children{ChildrenClosed: true},
			Condition: session.Condition{Faults: []session.Fault{{Kind: session.Housekeeping, Item: -1, Detail: "free space"}}},
		},
		trees: treetest.Trees(t, notation.String()),
	}
}

func run(t *testing.T, st store.Store, opts check.Options) *check.Result {
	t.Helper()
	if opts.Rules == nil {
		opts.Rules = catalogue.All
	}
	result, err := check.Run(t.Context(), st, opts)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// places lists findings as "SC101 P0.1".
func places(found []*check.Finding) []string {
	list := []string{}
	for _, f := range found {
		list = append(list, fmt.Sprintf("%s %s.%d", f.Rule.ID, f.Session, f.Item))
	}
	return list
}

func TestFindingsComeInTheSameOrderHoweverManyWorkersRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := run(t, many(t, 40), check.Options{})
	for _, workers := range []int{2, 8} {
		runtime.GOMAXPROCS(workers)
		for range 5 {
			got := run(t, many(t, 40), check.Options{})
			if diff := cmp.Diff(places(want.Findings), places(got.Findings)); diff != "" {
				t.Fatalf("with %d workers: %s", workers, diff)
			}
		}
	}
}

func TestFindingsAreOrderedByTreeSessionItemAndRule(t *testing.T) {
	got := places(run(t, many(t, 2), check.Options{}).Findings)
	want := []string{
		"SC019 .-1", // the store comes first
		"SC101 P0.1", "SC103 P0.3", "SC701 P0.5", "SC101 C0.1",
		"SC101 P1.1", "SC103 P1.3", "SC701 P1.5", "SC101 C1.1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheResultCountsWhatWasRead(t *testing.T) {
	st := many(t, 3)
	st.trees = append(st.trees, treetest.Tree(t, "Q\n  user\n  root \"ok\""))
	r := run(t, st, check.Options{})
	if r.Trees != 4 || r.Sessions != 7 || r.WithSubs != 3 || r.Items != 3*12+2 {
		t.Errorf("%d trees, %d sessions, %d trees with sub-sessions, %d items", r.Trees, r.Sessions, r.WithSubs, r.Items)
	}
	if r.Count(rules.Error) != 9 || r.Count(rules.Info) != 4 || r.Count(rules.Warning) != 0 {
		t.Errorf("%d errors, %d infos", r.Count(rules.Error), r.Count(rules.Info))
	}
	if r.Incomplete != "" {
		t.Error("the result is complete")
	}
}

// Trees that take long are told before short ones that were read after them.
func TestTreesAreToldInTheirOrder(t *testing.T) {
	st := &memory{}
	var want, told []string
	for n := range 200 {
		id := fmt.Sprint("P", n)
		want = append(want, id)
		st.trees = append(st.trees, treetest.Tree(t, id+"\n"+strings.Repeat("  user\n  root \"ok\"\n", 1+n%2*200)))
	}
	run(t, st, check.Options{EachTree: func(tree *session.Tree, _ []*check.Finding) { told = append(told, tree.Root().ID) }})
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

func TestEachTreeIsToldOneAtATime(t *testing.T) {
	running, seen := 0, map[string]int{}
	run(t, many(t, 30), check.Options{EachTree: func(tree *session.Tree, found []*check.Finding) {
		running++
		if running != 1 {
			t.Error("two trees are told at the same time")
		}
		seen[tree.Root().ID] = len(found)
		running--
	}})
	if len(seen) != 30 || seen["P7"] != 4 {
		t.Errorf("told of %d trees, %d findings of P7", len(seen), seen["P7"])
	}
}

func TestOneSessionLimitsTheCheckToItsTree(t *testing.T) {
	for id, want := range map[string][]string{
		"P1": {"SC101 P1.1", "SC103 P1.3", "SC701 P1.5", "SC101 C1.1"},
		"C1": {"SC101 P1.1", "SC103 P1.3", "SC701 P1.5", "SC101 C1.1"},
		"X":  {},
	} {
		r := run(t, many(t, 3), check.Options{Session: id})
		if diff := cmp.Diff(want, places(r.Findings)); diff != "" || r.Trees != min(1, len(want)) {
			t.Errorf("session %s, %d trees: %s", id, r.Trees, diff)
		}
	}
}

func TestOnlyTheGivenRulesRun(t *testing.T) {
	chosen := []*rules.Rule{catalogue.FindRule("SC103")}
	if got := places(run(t, many(t, 1), check.Options{Rules: chosen}).Findings); !slices.Equal(got, []string{"SC103 P0.3"}) {
		t.Errorf("found %v", got)
	}
}

func TestARuleThatPanicsBecomesAFindingAndTheRunGoesOn(t *testing.T) {
	bad := &rules.Rule{ID: "SC999", Name: "bad", Scope: rules.PerTree, Run: func(p *rules.Pass) {
		p.Report(rules.Finding{Defect: rules.Defect{Message: "before the panic", Place: session.Place{Item: -1}}, Session: p.Tree.Root(), Ref: p.Tree.Root().Ref()})
		if id := p.Tree.Root().ID; id != "P0" {
			panic("no luck with " + id)
		}
	}}
	st := many(t, 3)
	r := run(t, st, check.Options{Rules: []*rules.Rule{bad, catalogue.FindRule("SC103")}})
	want := []string{
		"SC999 P0.-1", "SC103 P0.3",
		"SC000 P1.-1", "SC999 P1.-1", "SC103 P1.3",
		"SC000 P2.-1", "SC999 P2.-1", "SC103 P2.3",
	}
	if diff := cmp.Diff(want, places(r.Findings)); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(r.Incomplete, "rule SC999 crashed (no luck with P1)") {
		t.Errorf("the result is incomplete because of the first crash, but says %q", r.Incomplete)
	}
}

func TestAPanicOfReplayBecomesAFinding(t *testing.T) {
	st := many(t, 2)
	st.trees[0].Root().Children = append(st.trees[0].Root().Children, nil)
	r := run(t, st, check.Options{Rules: []*rules.Rule{catalogue.FindRule("SC103")}})
	if diff := cmp.Diff([]string{"SC000 P0.-1", "SC103 P1.3"}, places(r.Findings)); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(r.Incomplete, "the replay crashed") {
		t.Errorf("the result says %q", r.Incomplete)
	}
}

func TestWhatTheStoreCouldNotReadMakesTheResultIncomplete(t *testing.T) {
	st := many(t, 1)
	st.facts.Incomplete = "12 pages are damaged"
	if r := run(t, st, check.Options{}); r.Incomplete != "12 pages are damaged" {
		t.Errorf("the result says %q", r.Incomplete)
	}
}

func TestAnErrorInTheMiddleKeepsWhatWasFound(t *testing.T) {
	st := many(t, 2)
	st.fails = errors.New("disk I/O error")
	r, err := check.Run(t.Context(), st, check.Options{Rules: catalogue.All})
	if !errors.Is(err, st.fails) || r.Trees != 2 || r.Count(rules.Error) != 6 {
		t.Errorf("error %v, %d trees, %d errors", err, r.Trees, r.Count(rules.Error))
	}
}

func TestACancelledCheckStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, err := check.Run(ctx, many(t, 500), check.Options{
		Rules:    catalogue.All,
		EachTree: func(*session.Tree, []*check.Finding) { cancel() },
	})
	if !errors.Is(err, context.Canceled) || r.Trees == 0 || r.Trees == 500 {
		t.Errorf("error %v after %d trees", err, r.Trees)
	}
}

// TestFingerprintsStayWhenARecordMoves: they are made of rule, row and call, so
// that a moved record does not make its finding look new.
func TestFingerprintsStayWhenARecordMoves(t *testing.T) {
	fingerprint := func(notation string) string {
		r := run(t, &memory{trees: treetest.Trees(t, notation)}, check.Options{Rules: []*rules.Rule{catalogue.FindRule("SC103")}})
		if len(r.Findings) != 1 {
			t.Fatalf("%d findings", len(r.Findings))
		}
		return r.Findings[0].Fingerprint
	}
	first := fingerprint("P\n  user\n  root <z1\n  root \"ok\"")
	if moved := fingerprint("Q\n  user\nP\n  root <z1\n  root \"ok\""); moved != first {
		t.Errorf("%s became %s", first, moved)
	}
	if other := fingerprint("P\n  user\n  root \"ok\"\n  root <z1"); other == first {
		t.Error("another row has the same fingerprint")
	}
}
