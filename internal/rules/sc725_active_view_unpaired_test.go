package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// inLoop is what a compaction within the tool loop leaves: the turn is archived
// while its call runs, and the result comes behind the summary.
const inLoop = `
P
  user "u1" archived at=1
  root "a1" archived at=2
  user "u2" archived at=3
  root "I look." c1() archived at=4
  user "Summarize." at=5
  root "so far" at=5
  root <c1 at=6
  root "a2" at=7`

func TestSC725ActiveViewUnpaired(t *testing.T) {
	onBranch := func(items ...int) func(*session.Tree) {
		return func(tree *session.Tree) {
			for _, i := range items {
				tree.Root().Items[i].Own().Branch = "orch.worker"
			}
		}
	}
	runCases(t, []ruleCase{
		{
			name: "a compaction between a call and its result: the turn is sent again, behind the summary", tree: inLoop, tweak: summaryTurn(4, 5),
			want: `
				SC725 error P.6 see P.3
				lossless: set P.2 archived=false; set P.3 archived=false; move P.2 to P after P.5; move P.3 to P after P.2`,
			says: "call c1 (shell) is archived, but its result is not. The next request contains a result without its call",
		},
		{
			name: "an archived copy of a call that is answered where it is sent is no half",
			tree: `
P
  user "u1"
  root c1() c2()
  root c1() archived
  root <c1
  user "u2"`,
			want: `
				SC101 error P.1
				lossless: insert placeholder c2 by root in P after P.3`,
		},
		{
			name: "without times, the turn goes before all that was kept",
			tree: `
P
  user "u2" archived
  root c1() archived
  user "Summarize."
  root "so far"
  root <c1
  root "a2"`,
			tweak: summaryTurn(2, 3),
			want: `
				SC725 error P.4 see P.1
				lossless: set P.0 archived=false; set P.1 archived=false; move P.0 to P after P.3; move P.1 to P after P.0`,
		},
		{
			name: "but for what stands before the first question, which is older",
			tree: `
P
  user "u2" archived at=3
  root c1() archived at=4
  user "Summarize." at=5
  root "so far" at=5
  root "Welcome." at=1
  root <c1 at=6`,
			tweak: summaryTurn(2, 3),
			want: `
				SC725 error P.5 see P.1
				lossless: set P.0 archived=false; set P.1 archived=false; move P.0 to P after P.4; move P.1 to P after P.0`,
		},
		{
			name: "without a summary the turn stays where it is",
			tree: `
P
  user "u1" archived
  root c1() archived
  root <c1
  root "a1"`,
			want: `
				SC725 error P.2 see P.1
				lossless: set P.0 archived=false; set P.1 archived=false`,
		},
		{
			name: "a result that is archived while its call is sent",
			tree: `
P
  user "u1"
  root c1()
  root <c1 archived
  root "a1"`,
			want: `
				SC725 error P.1 see P.2
				lossless: set P.2 archived=false`,
			says: "the result of call c1 (shell) is archived, but the call is not. The next request contains a call without its result",
		},
		{
			name: "prompts of sub-agents belong into the turn of the user's question",
			tree: `
P
  user "u1" archived
  user "look it up" archived
  root c1() archived
  user "u2" archived
  root "a2" archived
  root <c1
  root "a1"`,
			tweak: onBranch(1, 2, 5, 6),
			want: `
				SC725 error P.5 see P.2
				lossless: set P.0 archived=false; set P.1 archived=false; set P.2 archived=false`,
		},
		{
			name: "one of two agents on branches: its places are those of the session",
			tree: `
P
  user "u1"
  root "a1"
  user "u2" archived
  scout c1() archived branch=orch.scout
  writer c2() archived branch=orch.writer
  writer <c2 archived branch=orch.writer
  scout <c1 branch=orch.scout
  scout "a2" branch=orch.scout
  writer "a3" branch=orch.writer`,
			store: func(s *session.Store) { s.BranchModel = "path" },
			want: `
				SC725 error P.6 see P.3
				lossless: set P.2 archived=false; set P.3 archived=false; set P.4 archived=false; set P.5 archived=false`,
		},
		{
			name: "what stands before the first question is a turn as well",
			tree: `
P
  root c1() archived
  root <c1
  user "u1"
  root "a1"`,
			want: `
				SC725 error P.1 see P.0
				lossless: set P.0 archived=false`,
		},
		{
			name: "two calls of one message, with both results behind the summary: the same fix for both",
			tree: `
P
  user "u1" archived
  root c1() c2() archived
  root <c1 <c2
  root "a1"`,
			want: `
				SC725 error P.2 see P.1
				lossless: set P.0 archived=false; set P.1 archived=false
				SC725 error P.2 see P.1
				lossless: set P.0 archived=false; set P.1 archived=false`,
		},
		{
			name: "turns that are archived as a whole",
			tree: `
P
  user "u1" archived
  root c1() archived
  root <c1 archived
  user "u2"
  root c2()
  root <c2
  root "a2"`,
		},
		{
			name: "a half that is stored nowhere is missing",
			tree: `
P
  user "u1" archived
  root c1() archived
  user "u2"
  root <c2
  root "a2"`,
			want: `
				SC103 error P.3
				kept: quarantine P.3`,
		},
	})
}

func TestAPartedTurnIsSentAgain(t *testing.T) {
	tree := treetest.Tree(t, inLoop)
	summaryTurn(4, 5)(tree)
	facts := &session.Store{Writer: session.WriterDead}
	after, plan := repaired(t, facts, tree)
	want := "Summarize. / so far / u2 / I look.c1() / <c1 / a2"
	if diff := cmp.Diff(want, sentTexts(after.Root())); diff != "" || len(after.Root().Items) != 8 {
		t.Errorf("sent, want (-), got (+):\n%s", diff)
	}
	if plan.CountEdited() != 0 {
		t.Errorf("%d records would say something else", plan.CountEdited())
	}
}

// Wherever a conversation is archived and summed up, a repair leads to a request
// that begins with the summary and holds both halves of each pair or none, all in
// their order; no message gets lost or archived by it.
func TestPartedPairsAreRepairedWhereverTheCutIs(t *testing.T) {
	const summary = "Summarize. / so far"
	rapid.Check(t, func(r *rapid.T) {
		tree := treetest.Tree(t, `
P
  user "u1" at=1
  root c1() c2() at=2
  root <c1 at=3
  root <c2 at=4
  root c3() at=5
  root <c3 at=6
  user "u2" at=7
  root c4() at=8
  root <c4 at=9
  root "a2" at=10
  user "Summarize." at=11
  root "so far" at=11`)
		s := tree.Root()
		summaryTurn(10, 11)(tree)
		stored, turn := s.Items[:10:10], s.Items[10:]
		whole := sentTexts(&session.Session{Items: stored})
		for i := range stored {
			if rapid.Bool().Draw(r, "archived") {
				stored[i].Flags |= session.Archived
			}
		}
		sent := sentTexts(&session.Session{Items: stored})
		s.Items = stored
		if at := rapid.IntRange(-1, len(stored)).Draw(r, "summary at"); at >= 0 {
			s.Items = slices.Insert(slices.Clone(stored), at, turn...)
		}
		for i := range s.Items {
			s.Items[i].Position = int64(i)
		}
		facts := &session.Store{Writer: session.WriterDead}
		after, _ := repaired(r, facts, tree)
		for _, f := range findAll(facts, []*session.Tree{after}) {
			if f.Severity > rules.Info {
				r.Fatalf("still found: %s %s", f.Rule.ID, f.Message)
			}
		}
		still := sentTexts(after.Root())
		if len(s.Items) > len(stored) && !strings.HasPrefix(still, summary) || len(after.Root().Items) != len(s.Items) {
			r.Fatalf("%d items of %d, sent are %s", len(after.Root().Items), len(s.Items), still)
		}
		still = strings.TrimPrefix(still, summary)
		if !inOrder(sent, still) || !inOrder(still, whole) {
			r.Fatalf("%s was sent, now it is %s", sent, still)
		}
	})
}

// inOrder reports whether all words of the one text stand in the other, in the same
// order; that of the results of one message means nothing.
func inOrder(part, whole string) bool {
	words := strings.Fields(whole)
	rest := words
	for word := range strings.FieldsSeq(strings.ReplaceAll(part, "/", " ")) {
		if strings.HasPrefix(word, "<") && slices.Contains(words, word) {
			continue
		}
		at := slices.Index(rest, word)
		if at < 0 {
			return false
		}
		rest = rest[at+1:]
	}
	return true
}
