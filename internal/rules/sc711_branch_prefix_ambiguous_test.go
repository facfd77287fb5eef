package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// raw is a store with older readers that compare texts.
func raw(s *session.Store) { s.PrefixReaders = "adk-java up to 1.8.0" }

func TestSC711BranchPrefixAmbiguous(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "two names, and two numbers",
			tree: `
P
  user
  orch branch=orch
  orchestra branch=orchestra
  agent_1 branch=p.agent_1
  agent_10 branch=p.agent_10
  orch branch=orch`,
			want: `SC711 warning P.1,3,5`,
			says: `2 pairs of unrelated branches have names that begin alike: "orch" and "orchestra" and "p.agent_1" and "p.agent_10"`,
		},
		{
			name: "below a longer name, and across a dot",
			tree: `
P
  user
  a branch=p.a
  b branch=p.ab.b`,
			want: `SC711 warning P.1`,
		},
		{
			name:  "an older reader that had nothing to show yet",
			store: raw,
			tree: `
P
  user
  agent_10 branch=p.agent_10
  agent_1 branch=p.agent_1`,
			want: `SC711 warning P.2`,
		},
		{
			name: "whole segments",
			tree: `
P
  user
  a branch=p.a
  b branch=p.a.b
  c branch=q`,
		},
		{
			name: "runs of one tool",
			tree: `
P
  user
  tr branch=tr@1
  tr branch=tr@10
  wf branch=wf@1.a
  wf branch=wf@12.a`,
		},
		{
			name: "token sets",
			tree: `
P
  user
  a branch={"tokens":[1]}
  a branch={"tokens":[1,2]}`,
		},
	})
}
