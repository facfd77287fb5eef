package rules_test

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// summaryTurn makes messages of the root session those that a compaction wrote.
func summaryTurn(items ...int) func(*session.Tree) {
	return func(tree *session.Tree) {
		for _, i := range items {
			tree.Root().Items[i].Flags |= session.SummaryTurn
		}
	}
}

const lateAppend = `
P
  user "u1" archived at=1
  root "a1" archived at=2
  user "late" at=9
  user "Summarize." at=8
  root "so far" at=8
  user "u2" at=3
  root "a2" at=4`

func TestSC726LateAppendBeforeSummary(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "a question that was appended during a compaction goes where its time puts it", tree: lateAppend, tweak: summaryTurn(3, 4),
			want: `
				SC015 info P.5
				SC726 warning P.2 see P.4
				lossless: move P.2 to P after P.6`,
		},
		{
			name: "a whole round of it, between what was kept",
			tree: `
P
  user "late" at=4
  root c1() at=5
  root <c1 at=6
  user "Summarize." at=7
  root "so far" at=7
  user "u2" at=2
  root "a2" at=3
  user "u3" at=8
  root "a3" at=9`,
			tweak: summaryTurn(3, 4),
			want: `
				SC015 info P.5
				SC726 warning P.0,1,2 see P.4
				lossless: move P.0 to P after P.6; move P.1 to P after P.0; move P.2 to P after P.1`,
		},
		{
			name: "without a time they go to the end",
			tree: `
P
  user "late"
  root "too"
  user "Summarize." at=8
  root "so far" at=8
  user "u2" at=9
  root "a2" archived at=9`,
			tweak: summaryTurn(2, 3),
			want: `
				SC726 warning P.0,1 see P.3
				lossless: move P.0 to P after P.4; move P.1 to P after P.0`,
			says: "2 messages come before the summary but are not part of it. A compaction ran at the same time, or the store orders by time",
		},
		{
			name: "of one time with what was kept, it came later",
			tree: `
P
  user "late" at=3
  user "Summarize." at=3
  root "so far" at=3
  user "u2" at=3
  root "a2" at=4`,
			tweak: summaryTurn(1, 2),
			want: `
				SC726 warning P.0 see P.2
				lossless: move P.0 to P after P.3`,
			says: "1 message comes before the summary but is not part of it. A compaction ran at the same time, or the store orders by time",
		},
		{
			name: "the usual layout: what is archived, the summary, what was kept, what came later",
			tree: `
P
  user "u1" archived
  root "a1" archived
  user "Summarize."
  root "so far"
  user "u2"
  root "a2"`,
			tweak: summaryTurn(2, 3),
		},
		{
			name: "a summary that is archived itself is the start of no request",
			tree: `
P
  user "u1"
  user "Summarize." archived
  root "so far" archived
  root "a1"`,
			tweak: summaryTurn(1, 2),
		},
	})
}

// The messages are where they would be without the race, and none is lost.
func TestALateAppendIsPutInOrder(t *testing.T) {
	tree := treetest.Tree(t, lateAppend)
	summaryTurn(3, 4)(tree)
	after, _ := repaired(t, &session.Store{Writer: session.WriterDead}, tree)
	if got := sentTexts(after.Root()); got != "Summarize. / so far / u2 / a2 / late" || len(after.Root().Items) != 7 {
		t.Errorf("sent is %s", got)
	}
}

// sentTexts are the texts, or the ids of calls and results, that a request holds.
func sentTexts(s *session.Session) string {
	var list []string
	for i := range s.Items {
		it := &s.Items[i]
		if !it.OnWire() {
			continue
		}
		words := it.Body.Text
		for _, c := range it.Calls {
			words += c.ID + "()"
		}
		for _, r := range it.Results {
			words += "<" + r.CallID
		}
		list = append(list, words)
	}
	return strings.Join(list, " / ")
}
