package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func silent(s *session.Store) { s.SilentLabels = true }

func TestSC710BranchMalformed(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "a cut name is completed where one agent fits and speaks",
			tree: `
P agents=root,orchestra
  user branch=root.orch
  orchestra branch=root.orch
  root branch=root`,
			want: `
				SC710 warning P.0,1
				lossless: set P.0 branch=root.orchestra; set P.1 branch=root.orchestra`,
			says: `the branch "root.orch" of 2 events ends in "orch", which is not an agent of the session`,
		},
		{
			name: "without a list of agents, the only one that speaks on it tells",
			tree: `
P
  user
  orchestra branch=orch
  root`,
			want: `
				SC710 warning P.1
				lossless: set P.1 branch=orchestra`,
			says: `ends in "orch", but only "orchestra" speaks on it`,
		},
		{
			name: "two agents begin so",
			tree: `
P agents=root,orchestra,orchard
  user
  orchestra branch=root.orch`,
			want: `
				SC710 warning P.1
				manual:`,
		},
		{
			name: "an agent that does not begin so",
			tree: `
P agents=root,worker
  user
  worker branch=root.ghost`,
			want: `
				SC710 warning P.1
				manual:`,
		},
		{
			name: "an author who is not on the list",
			tree: `
P agents=root
  user
  orchestra branch=root.orch`,
			want: `
				SC710 warning P.1
				manual:`,
		},
		{
			name: "two agents speak on it",
			tree: `
P agents=root,orchestra
  user
  orchestra branch=root.orch
  root branch=root.orch`,
			want: `
				SC710 warning P.1,2
				manual:`,
		},
		{
			name: "nothing is renamed that others stand below",
			tree: `
P agents=root,orchestra,helper
  user
  orchestra branch=root.orch
  helper branch=root.orch.helper`,
			want: `
				SC710 warning P.1
				manual:
				SC710 warning P.2
				manual:`,
		},
		{
			name: "not even what the same agent said there",
			tree: `
P
  user
  orchestra branch=orch
  orchestra branch=orch.orchestra`,
			want: `
				SC710 warning P.1
				manual:`,
		},
		{
			name: "a name within the path that is the beginning of an agent's",
			tree: `
P agents=orchestra,helper
  user
  helper branch=orch.helper`,
			want: `
				SC710 warning P.1
				manual:`,
			says: `the branch "orch.helper" of 1 event names "orch", which is the beginning of an agent's name and not an agent of the session`,
		},
		{
			name: "dots too many",
			tree: `
P
  user
  a branch=root..a
  a branch=.a
  a branch=root.a.
  a branch=.`,
			want: `
				SC710 warning P.4
				manual:
				SC710 warning P.2
				manual:
				SC710 warning P.1
				manual:
				SC710 warning P.3
				manual:`,
			says: "has an empty segment",
		},
		{
			name:  "a group that is named like an agent, with the agent's label elsewhere",
			store: silent,
			tree: `
P
  user
  orchestra branch=p.orch
  orchestra branch=p.orchestra`,
			want: `
				SC710 warning P.1
				lossless: set P.1 branch=p.orchestra
				SC711 warning P.1`,
		},
		{
			name:  "a group of which one agent spoke so far",
			store: silent,
			tree: `
P
  user
  seq_1 branch=p.seq
  b branch=p.b`,
		},
		{
			name:  "a group that the list leaves out",
			store: silent,
			tree: `
P agents=root,a,b
  user
  a branch=par.seq
  b branch=par.seq`,
		},
		{
			name: "a parallel group within the path, which the list leaves out",
			tree: `
P agents=root,a
  user
  a branch=root.par1.a`,
		},
		{
			name: "without a list, a name that an agent has",
			tree: `
P agent=orch
  user
  orchestra branch=orch`,
		},
		{
			name: "without a list, a group of several",
			tree: `
P
  user
  research_web branch=research
  research_docs branch=research`,
		},
		{
			name: "runs of a workflow's nodes",
			tree: `
P agents=root,tr
  user
  tr branch=tr@1
  tr branch=wf@2.tr@1`,
		},
		{
			name: "tokens and forks are no paths",
			tree: `
P agents=root
  user
  root branch={"tokens":[1,3]}
  root branch={"active_forks":{"1":[[0],3]}}`,
		},
	})
}
