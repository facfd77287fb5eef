package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC732BranchCase(t *testing.T) {
	folds := func(s *session.Store) { s.LikeFilter, s.FoldsBranches = true, true }
	const tree = `
P
  user
  a branch=Orch
  b branch=orch.x
  c branch=orch.Writer
  d branch=orch.writer`
	runCases(t, []ruleCase{
		{
			name:  "another case, of a branch or of one above it",
			store: folds,
			tree:  tree,
			want: `
				SC732 warning P.1
				SC732 warning P.3
				SC732 warning P.4`,
			says: `the branch "Orch" of 1 event differs from "orch" only in case, which the database overlooks. Agents on one of them are shown the events of the other`,
		},
		{
			name:  "a pattern, and letters that are no ASCII",
			store: folds,
			tree: `
P
  user
  a branch=Ä
  b branch=ä
  c branch=a_b
  d branch=aXb`,
			want: `
				SC724 warning P.3
				SC732 warning P.1
				SC732 warning P.2`,
		},
		{
			name: "a database that minds case",
			tree: tree,
		},
	})
}
