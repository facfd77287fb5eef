package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// shared is a store as ADK's: agents share a session, and hear of each other as
// text.
func shared(s *session.Store) {
	s.ChildrenClosed = false
	s.BranchModel, s.ForeignText, s.SilentLabels, s.GathersResults = "path", true, true, true
}

// filtered is one as Spring AI Session's: branches are filtered, and what an agent
// sees of others is as it was.
func filtered(s *session.Store) {
	s.ChildrenClosed = false
	s.BranchModel, s.RootSummaries = "path", true
}

// An agent's own calls need results, where it looks for them.
func TestPairsOfViewers(t *testing.T) {
	runCases(t, []ruleCase{
		{name: "calls and results of two branches stand between each other", store: shared, tree: `
P
  user
  a T1() branch=p.a
  b T2() branch=p.b
  a <T1 branch=p.a
  b <T2 branch=p.b
  a "done" branch=p.a
  b "done" branch=p.b
`},
		{name: "the same in a store that filters only", store: filtered, tree: `
P
  user
  a T1() branch=p.a
  b T2() branch=p.b
  a <T1 branch=p.a
  b <T2 branch=p.b
`},
		{name: "a sub-agent runs between a call and its result, and its caller is shown all", store: filtered, tree: `
P
  user
  root T1()
  user "task" branch=x
  x "done" branch=x
  root <T1
  root "ok"
`, want: `
SC104 error P.4 see P.1
lossless: move P.4 to P after P.1`},
		{name: "a sub-agent's open call is in its caller's request, too, and is told of once", store: filtered, tree: `
P
  user
  root "one moment"
  x T1() branch=x
  root "ok"
`, want: `
SC101 error P.2
lossless: insert placeholder T1 by x in P after P.2`},
		{name: "two sub-agents at the same time, whose calls the root is shown as they came", store: filtered, tree: `
P
  user
  a T1() branch=a
  b T2() branch=b
  a <T1 branch=a
  b <T2 branch=b
  root "ok"
`, want: `
SC104 error P.3 see P.1
lossless: move P.3 to P after P.1`},
		{name: "the same where every agent has a branch", store: filtered, tree: `
P
  user
  a T1() branch=p.a
  b T2() branch=p.b
  a <T1 branch=p.a
  b <T2 branch=p.b
  a "done" branch=p.a
  b "done" branch=p.b
`},
		{name: "an agent is shown the calls of the one above it as they are", store: filtered, tree: `
P
  user
  orch T1() branch=orch
  res "looking" branch=orch.res
  orch <T1 branch=orch
  orch "ok" branch=orch
`, want: `
SC104 error P.3 see P.1
lossless: move P.3 to P after P.1`},
		{name: "a result on another branch than its call is nobody's to make up or take out", store: filtered, tree: `
P
  user
  root T1()
  a <T1 branch=a
  b "hm" branch=b
  root "ok"
`, want: `
SC101 error P.1
manual:`, says: "call T1 (shell) has no result. A result for it is on another branch or of another agent, where it is not seen"},
		{name: "a result that one branch is shown without its call", store: filtered, tree: `
P
  user
  a T1() branch=a
  - <T1
  b "hm" branch=b
  root "ok"
`, want: `
SC103 error P.2
manual:`, says: `the result names call "T1", which is of another agent or branch that does not see it`},
		{name: "a late row that answers a whole turn moves as one", store: filtered, tree: `
P
  user
  root T1() T2()
  root "well"
  root <T1 <T2
`, want: `
SC104 error P.3 see P.1
lossless: move P.3 to P after P.1
SC104 error P.3 see P.1
lossless: move P.3 to P after P.1`},
		{name: "one of them has no result, and the user goes on", store: shared, tree: `
P
  user
  a T1() branch=p.a
  b T2() branch=p.b
  b <T2 branch=p.b
  user "and now?"
`, want: `
SC101 error P.1
lossless: insert placeholder T1 by a in P after P.1`},
		{name: "the result carries another agent's name, on the same branch", store: shared, tree: `
P
  user
  a T1()
  b <T1
  user
`},
		{name: "the call was of another branch", store: shared, tree: `
P
  user
  a T1() branch=p.a
  b <T1 branch=p.b
  user
`, want: `
SC101 error P.1
manual:
SC103 error P.2
manual:`},
		{name: "a result that the user posted belongs to whoever made the call", store: shared, tree: `
P
  user
  a T1() branch=p.a
  b "b" branch=p.b
  user
  - <T1 branch=p.a
`},
		{name: "the same id in two branches", store: shared, only: "SC202", tree: `
P
  user
  a T1() branch=p.a
  b T1() branch=p.b
  b <T1 branch=p.b
  a <T1 branch=p.a
`},
		{name: "a result of nobody's call is told once", store: shared, tree: `
P
  user
  a "a" branch=p.a
  b "b" branch=p.b
  - <T9
`, want: "SC103 error P.3\nkept: quarantine P.3"},
		{name: "a late result where the reader puts results behind their calls", store: shared, tree: `
P
  user
  a T1()
  user "well?"
  a <T1
`},
		{name: "a session with delegations is one agent's", store: shared, only: "SC716", tree: `
P
  user
  root T1>b()
  sub C
  user branch=x
C<P
  user
  b "done"
`, want: "SC716 error P.1 see C.1\nlossless: insert result T1 from C.1 in P after P.2"},
	})
}

// A long-running tool is answered by somebody outside, and more than once.
func TestCallsThatWait(t *testing.T) {
	waits := func(tree *session.Tree) { tree.Root().Items[1].Calls[0].Waits = true }
	runCases(t, []ruleCase{
		{name: "no answer yet", tweak: waits, store: shared, tree: "P\n  user\n  a T1()\n  user\n  a \"later\"\n", want: `
			SC102 warning P.1
			lossless with waiting: insert placeholder T1 by a in P after P.1`, says: "call T1 (shell) is waiting for an answer from outside"},
		{name: "a first answer and the final one", tweak: waits, store: shared, tree: "P\n  user\n  a T1()\n  a <T1? \"pending\"\n  user\n  - <T1 \"yes\"\n"},
		{name: "two final answers", tweak: waits, store: shared, tree: "P\n  user\n  a T1()\n  a <T1 \"no\"\n  - <T1 \"yes\"\n"},
	})
}

// What everybody is shown is told of once, and in the places of the session.
func TestFindingsOfViewersAreToldOnce(t *testing.T) {
	runCases(t, []ruleCase{
		{name: "a blank message of the user", store: shared, profile: "anthropic", only: "SC401", tree: `
P
  user
  a "a" branch=p.a
  b "b" branch=p.b
  user blank
  a "a" branch=p.a
`, want: "SC401 error P.3\nkept: quarantine P.3"},
		{name: "what others said is the user's text", store: shared, profile: "gemini", only: "SC306", tree: `
P
  user
  a "a"
  b T1()
  b <T1
  b "done"
`},
	})
}

// The copies of signed thinking stand in the whole session, whoever is shown them.
func TestThinkingOfSeveralViewers(t *testing.T) {
	thinks := func(text session.Digest) []session.Block {
		return []session.Block{{Kind: session.ReasoningBlock, Text: text, Signature: 7}, {Kind: session.TextBlock}}
	}
	runCases(t, []ruleCase{{
		name: "each agent has another text", store: shared, profile: "anthropic", only: "SC503", tree: `
P
  user
  user
  a "one" branch=p.a
  b "two" branch=p.b
  b "three" branch=p.b
`,
		tweak: func(tree *session.Tree) {
			items := tree.Root().Items
			items[2].Blocks, items[3].Blocks, items[4].Blocks = thinks(1), thinks(2), thinks(3)
		},
		want: `
SC503 error P.2
SC503 error P.3,4`,
	}})
}

// TestManyViewersFindTheSame: whether viewers are shown everything or only where they
// are interrupted, the same pairs are broken. Left out are results on other branches
// than their calls where others are shown the calls as such.
func TestManyViewersFindTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var b strings.Builder
		b.WriteString("P\n  user\n")
		filters := rapid.Bool().Draw(rt, "filters")
		made := map[int]string{}
		for n := range rapid.IntRange(2, 30).Draw(rt, "items") {
			agent := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "agent")
			label := rapid.SampledFrom([]string{"", " branch=p." + agent, " branch=q." + agent}).Draw(rt, "label")
			id := rapid.IntRange(0, n).Draw(rt, "id")
			switch rapid.IntRange(0, 3).Draw(rt, "kind") {
			case 0:
				fmt.Fprintf(&b, "  %s T%d()%s\n", agent, n, label)
				made[n] = label
			case 1:
				if of, known := made[id]; known && filters {
					label = of
				}
				fmt.Fprintf(&b, "  %s <T%d%s\n", agent, id, label)
			case 2:
				fmt.Fprintf(&b, "  %s \"said\"%s\n", agent, label)
			default:
				b.WriteString("  user\n")
			}
		}
		trees := treetest.Trees(t, b.String())
		store := &session.Store{Writer: session.WriterDead}
		if shared(store); filters {
			store.ForeignText = false
			filtered(store)
		}
		find := func() string {
			found := findFor(store, trees, rules.Judge{Profiles: []*rules.Profile{bare}})
			for _, f := range found {
				f.Fixes = nil // where a result goes depends on what stands between
			}
			told := lines(describe(trees, found))
			slices.Sort(told) // which viewer tells of a finding first does not matter
			return strings.Join(told, "\n")
		}
		whole := find()
		defer rules.ShowAtMost(0)()
		if sketched := find(); sketched != whole {
			rt.Fatalf("%s\nshown everything:\n%s\nshown the gaps:\n%s", b.String(), whole, sketched)
		}
	})
}
