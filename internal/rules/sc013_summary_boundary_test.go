package rules_test

import "testing"

func TestSC013SummaryBoundary(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "a tail that brings back what an earlier summary covers",
			tree: `
P
  user
  root "tests"
  user
  root "done"
  summary "first"
  user
  root "docs"
  summary "second" kept=1`,
			want: `
				SC013 error P.7
				lossless: set P.7 first_kept_entry=5`,
			says: "the tail of the summary starts at entry 1, which is in history that the summary at item 4 covers",
		},
		{
			name: "no message stands between the two summaries: keep nothing",
			tree: `
P
  user
  root "tests"
  summary "first"
  summary "second" kept=1`,
			want: `
				SC013 error P.3
				lossless: set P.3 first_kept_entry=0`,
		},
		{
			name: "a negative number",
			tree: `
P
  user
  summary "first"
  user
  summary "second" kept=-1`,
			want: `
				SC013 warning P.3
				lossless: set P.3 first_kept_entry=0`,
			says: "the tail of the summary starts at entry -1, which is negative. Runtimes keep no tail then, as for 0",
		},
		{
			name: "the summary's own place means that nothing is kept",
			tree: `
P
  user
  root "ok"
  summary "so far" kept=2
  user
  root "ok"`,
		},
		{
			name: "its own place behind an earlier summary, too",
			tree: `
P
  user
  summary "first" kept=1
  user
  summary "second" kept=3`,
		},
		{
			name: "a number behind the summary, where the writer's list was longer",
			tree: `
P
  user
  root "ok"
  summary "so far" kept=3
  user
  root "ok"`,
			want: `SC013 info P.2`,
			says: "the tail of the summary starts at entry 3, which is after the summary itself (entry 2). Runtimes keep no tail then, as for 0",
		},
		{
			name: "a number behind the end",
			tree: `
P
  user
  summary "first"
  user
  summary "second" kept=40`,
			want: `SC013 info P.3`,
		},
		{
			name: "only the items that the reader loads count",
			tree: `
P
  user
  sub GONE
  root "one"
  root "two"
  summary "so far" kept=3`,
			want: `
				SC704 warning P.1
				kept with prune: quarantine P.1`,
		},
		{
			name: "in a child that is never sent again it is an info",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
C<P
  system(do it)
  worker "done"
  summary "so far" kept=9`,
			want: `SC013 info C.2`,
		},
		{
			name: "0 means that nothing is kept",
			tree: `
P
  user
  root "ok"
  summary "so far" kept=0`,
		},
		{
			name: "a tail within the items since the last summary",
			tree: `
P
  user
  summary "first"
  user
  root "docs"
  summary "second" kept=3`,
		},
		{
			name: "a tail that the earlier summary kept as well is no covered history",
			tree: `
P
  user
  root "tests"
  user
  summary "first" kept=2
  root "docs"
  summary "second" kept=2`,
		},
		{
			name: "a tail that begins with the earlier summary itself sends nothing twice",
			tree: `
P
  user
  root "tests"
  summary "first"
  user
  summary "second" kept=2`,
		},
		{
			name: "an earlier summary without text covers nothing",
			tree: `
P
  user
  root "tests"
  summary
  user
  summary "so far" kept=1`,
		},
		{
			name: "the boundary of an earlier summary no longer counts",
			tree: `
P
  user
  summary "first" kept=40
  user
  summary "second"`,
		},
	})
}
