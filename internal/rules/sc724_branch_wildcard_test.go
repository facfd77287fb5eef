package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC724BranchWildcard(t *testing.T) {
	like := func(s *session.Store) { s.LikeFilter = true }
	runCases(t, []ruleCase{
		{
			name:  "a percent sign and a backslash",
			store: like,
			tree: `
P
  user
  a branch=a%
  b branch=a\b
  a branch=a%`,
			want: `
				SC724 warning P.1,3
				SC724 warning P.2`,
			says: `the branch "a%" of 2 events contains %, which matches any text in LIKE. Agents on other branches are shown its events`,
		},
		{
			name:  "an underscore that another branch fits",
			store: like,
			tree: `
P
  user
  a branch=a_b
  b branch=aXb.c
  c branch=xx_y
  d branch=xxéy`,
			want: `
				SC724 warning P.1
				SC724 warning P.3`,
			says: `the branch "a_b" of 1 event also matches "aXb" in LIKE, where _ is any character. Agents below that branch are shown its events`,
		},
		{
			name:  "an underscore and another case at once, and a dot that it stands for",
			store: like,
			tree: `
P
  user
  a branch=A_b
  b branch=aXB
  c branch=p.q.c
  d branch=p_q`,
			want: `
				SC724 warning P.1
				SC724 warning P.4`,
		},
		{
			name:  "another case, of a branch or of one above it",
			store: like,
			tree: `
P
  user
  a branch=Orch
  b branch=orch.x
  c branch=orch.Writer
  d branch=orch.writer`,
			want: `
				SC724 warning P.1
				SC724 warning P.3
				SC724 warning P.4`,
			says: `the branch "Orch" of 1 event differs from "orch" only in case, which LIKE ignores in SQLite and MySQL. Agents below one of them are shown the events of the other`,
		},
		{
			name:  "underscores that no other branch fits",
			store: like,
			tree: `
P
  user
  a branch=orch.agent_1
  b branch=orch.agent_2
  c branch=orch.agent_1.sub_agent
  d branch=a_b
  e branch=aXXb`,
		},
		{
			name: "a reader that compares segments",
			tree: `
P
  user
  a branch=a%
  b branch=A%`,
		},
	})
}
