package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC712SummaryBranchScope(t *testing.T) {
	rooted := func(s *session.Store) { s.RootSummaries, s.Title = true, "Spring AI Session" }
	runCases(t, []ruleCase{
		{
			name: "the summary of one branch, without a branch",
			tree: `
P
  a branch=root.a
  a branch=root.a
  summary "so far"`,
			want: `
				SC712 error P.2
				lossless: set P.2 branch=root.a`,
			says: `the summary has no branch, so every agent sees it. All that it summarizes (2 events) is on branch "root.a" or below it`,
		},
		{
			name: "the summary of several branches, on one of them",
			tree: `
P
  a branch=root.a
  b branch=root.b.c
  summary "so far" branch=root.a`,
			want: `
				SC712 error P.2
				lossless: set P.2 branch=root`,
		},
		{
			name: "by segments, not by letters",
			tree: `
P
  a branch=root.ab
  b branch=root.ac
  summary "so far" branch=root.b`,
			want: `
				SC712 error P.2
				lossless: set P.2 branch=root`,
			says: `the summary is on branch "root.b", but the branch of all that it summarizes (2 events) is "root"`,
		},
		{
			name: "with what the user said, which has no branch",
			tree: `
P
  user
  a branch=root.a
  summary "so far" branch=root.a`,
			want: `
				SC712 error P.2
				lossless: clear P.2 branch`,
		},
		{
			name: "the tail that it keeps does not count, nor what no model was sent",
			tree: `
P
  a branch=root.a
  b branch=root.b archived
  c branch=root.c
  summary "so far" kept=2 branch=root.a`,
		},
		{
			name: "each stands for what the one before it left",
			tree: `
P
  user
  summary "first"
  a branch=root.a
  summary "second"`,
			want: `
				SC712 error P.3
				lossless: set P.3 branch=root.a`,
		},
		{
			name: "where the store marks what is covered",
			tree: `
P
  user
  a branch=root.a compacted
  a branch=root.a compacted
  summary "so far" branch=root.a`,
		},
		{
			name: "nothing to stand for, and nothing to say",
			tree: `
P
  summary "so far" branch=root
  a branch=root.a
  summary`,
			store: func(s *session.Store) { s.Writer = session.WriterDead },
		},
		{
			name: "token sets are no paths",
			tree: `
P
  a branch={"tokens":[1]}
  summary "so far"`,
		},
		{
			name:  "a store where a summary has none",
			store: rooted,
			tree: `
P
  a branch=root.a archived
  summary "so far" branch=root.a
  user "what was that?" branch=root.a
  a "that" branch=root.a
  user
  root`,
			tweak: func(tree *session.Tree) {
				tree.Root().Items[2].Flags |= session.SummaryTurn
				tree.Root().Items[3].Flags |= session.SummaryTurn
			},
			want: `
				SC712 error P.1
				lossless: clear P.1 branch
				SC712 error P.2
				lossless: clear P.2 branch
				SC712 error P.3
				lossless: clear P.3 branch`,
			says: "Spring AI Session gives summaries no branch",
		},
		{
			name:  "calls and results are no summary, whatever their mark says",
			store: rooted,
			tree: `
P
  user
  a c1() branch=root.a
  a <c1 branch=root.a`,
			tweak: func(tree *session.Tree) {
				tree.Root().Items[1].Flags |= session.SummaryTurn
				tree.Root().Items[2].Flags |= session.SummaryTurn
			},
		},
		{
			name:  "and has none",
			store: rooted,
			tree: `
P
  a branch=root.a
  summary "so far"`,
		},
	})
}
