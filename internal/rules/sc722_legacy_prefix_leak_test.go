package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC722LegacyPrefixLeak(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name:  "an agent that ran after one whose name its own begins with",
			store: raw,
			tree: `
P
  user
  agent_1 branch=p.agent_1
  agent_1 branch=p.agent_1 archived
  agent_10 branch=p.agent_10
  agent_1 branch=p.agent_1`,
			want: `SC722 warning P.1 see P.3`,
			says: `the agent on "p.agent_10" ran after 1 event on "p.agent_1" that it must not see. adk-java up to 1.8.0 showed it such events, because the names of the two branches begin alike`,
		},
		{
			name:  "each pair is a finding of its own",
			store: raw,
			tree: `
P
  user
  a branch=p.a
  ab branch=p.ab
  ac branch=p.ac`,
			want: `
				SC722 warning P.1 see P.2
				SC722 warning P.1 see P.3`,
		},
		{
			name:  "the shorter name never saw the longer one",
			store: raw,
			tree: `
P
  user
  agent_10 branch=p.agent_10
  agent_1 branch=p.agent_1`,
			want: `SC711 warning P.2`,
		},
		{
			name:  "what the user said on a branch reads nothing",
			store: raw,
			tree: `
P
  user
  agent_1 branch=p.agent_1
  user branch=p.agent_10`,
			want: `SC711 warning P.1`,
		},
		{
			name: "a store that does not say which version wrote it",
			store: func(s *session.Store) {
				raw(s)
				s.PrefixUntold = true
			},
			tree: `
P
  user
  agent_1 branch=p.agent_1
  agent_10 branch=p.agent_10`,
			want: `SC722 info P.1 see P.2`,
			says: "The store does not say which version wrote these events",
		},
		{
			name: "a store that never had such readers",
			tree: `
P
  user
  agent_1 branch=p.agent_1
  agent_10 branch=p.agent_10`,
			want: `SC711 warning P.1`,
		},
	})
}

// bySegments are trees whose items on branches were written by versions that compare
// segments, but for some of one branch.
func bySegments(but string) func(*session.Tree) {
	return func(tree *session.Tree) {
		for i := range tree.Root().Items {
			if it := &tree.Root().Items[i]; it.Branch() != "" && it.Branch() != but {
				it.Flags |= session.BySegments
			}
		}
	}
}

func TestLaterVersionsHideWhatOlderOnesShowed(t *testing.T) {
	const tree = `
P
  user
  agent_1 branch=p.agent_1
  agent_10 branch=p.agent_10
  a branch=p`
	runCases(t, []ruleCase{
		{
			name: "every record by such a version", store: raw, tree: tree, tweak: bySegments("-"),
			want: `SC722 info P.1 see P.2`, says: "adk-java up to 1.8.0 would have shown it such events",
		},
		{name: "what was shown by an older one", store: raw, tree: tree, tweak: bySegments("p.agent_1"), want: `SC722 warning P.1 see P.2`},
		{name: "who was shown it by an older one", store: raw, tree: tree, tweak: bySegments("p.agent_10"), want: `SC722 warning P.1 see P.2`},
		{name: "a third branch", store: raw, tree: tree, tweak: bySegments("p"), want: `SC722 info P.1 see P.2`},
		{name: "labels that nobody was shown wrongly", tree: tree, tweak: bySegments("-"), want: `SC711 info P.1`},
		{name: "and one by an older version", tree: tree, tweak: bySegments("p.agent_10"), want: `SC711 warning P.1`},
	})
}
