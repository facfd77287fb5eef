package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC723UnscopedSubAgentEvent(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "a sub-agent that ran as a tool, twice",
			only: "SC723", store: retells,
			tree: `
P
  user run=1
  root c1:tr() c2:tr() run=1
  tr branch=tr@1 run=1
  tr branch=tr@2 run=1
  root <c1 <c2 run=1
  root run=1`,
			want: `SC723 warning P.2,3 see P.1`,
			says: `"root" is shown 2 events of "tr" besides the result of its call`,
		},
		{
			name: "of two calls the other one took longer, and the results have the time of the first",
			only: "SC723", store: retells,
			tree: `
P
  user run=1
  root c1:look() c2:tr() run=1
  tr c3() branch=tr@1 run=1
  root <c1 <c2 run=1
  tr <c3 branch=tr@1 run=1
  tr branch=tr@1 run=1
  root run=1`,
			want: `SC723 warning P.2,4,5 see P.1`,
		},
		{
			name: "the branch names the tool, the author is one of its own agents",
			only: "SC723", store: retells,
			tree: `
P
  user
  root c1:team()
  inner branch=team@1.inner
  root <c1
  root`,
			want: `SC723 warning P.2 see P.1`,
		},
		{
			name: "a call that was never answered",
			only: "SC723", store: retells,
			tree: `
P
  user run=1
  root c1:tr() run=1
  tr branch=tr@1 run=1
  user run=2
  tr branch=tr@1 run=2`,
			tweak: func(tree *session.Tree) { tree.Root().Items[1].Calls[0].Waits = true },
			want:  `SC723 warning P.2 see P.1`,
		},
		{
			name: "a reader that shows no foreign events", only: "SC723",
			tree: `
P
  user
  root c1:tr()
  tr branch=tr@1
  root <c1
  root`,
		},
		{
			name: "a reader that hides such runs",
			only: "SC723", store: func(s *session.Store) { s.BranchModel, s.ForeignText, s.HidesToolRuns = "path", true, true },
			tree: `
P
  user
  root c1:tr()
  tr branch=tr@c1
  root <c1
  root`,
		},
		{
			name: "a run that such a reader does not know for one, beside one that it hides",
			only: "SC723", store: func(s *session.Store) { s.BranchModel, s.ForeignText, s.HidesToolRuns = "path", true, true },
			tree: `
P
  user
  root c1:tr()
  tr branch=tr@c1
  tr branch=tr@1
  root <c1
  root`,
			want: `SC723 warning P.3 see P.1`,
		},
		{
			name: "a caller with a branch is not shown what is below it",
			only: "SC723", store: retells,
			tree: `
P
  user
  root c1:tr() branch=p.root
  tr branch=p.root.tr@1
  root <c1 branch=p.root`,
		},
		{
			name: "an isolation scope hides it",
			only: "SC723", store: retells,
			tree: `
P
  user
  root c1:tr()
  tr branch=tr@1 scope=c1
  root <c1
  root`,
		},
		{
			name: "an agent that the conversation was handed to, and one of no open call",
			only: "SC723", store: retells,
			tree: `
P
  user
  root h1:transfer_to_agent()
  root <h1
  billing c1:billing()
  billing branch=p.billing
  billing <c1
  a branch=p.a
  root c2:billing()
  billing branch=p.billing
  root <c2
  root c3:tr()
  root <c3
  root
  tr branch=tr@1`,
		},
	})
}
