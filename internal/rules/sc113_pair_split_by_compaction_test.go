package rules_test

import "testing"

func TestSC113PairSplitByCompaction(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "the kept tail begins with a result: it begins with the call instead",
			tree: `
P
  user
  user
  root c7()
  root <c7
  root "It builds."
  summary "so far" kept=3`,
			want: `
				SC113 error P.3 see P.2
				lossless: set P.5 first_kept_entry=2`,
			says: "call c7 (shell) and its result are separated by the summary at item 5. The next request holds the result without the call",
		},
		{
			name: "the boundary counts the items that the reader loads",
			tree: `
P
  user
  sub GONE
  root c7()
  root <c7
  root "It builds."
  summary "so far" kept=2`,
			want: `
				SC113 error P.3 see P.2
				lossless: set P.5 first_kept_entry=1
				SC704 warning P.1
				kept with prune: quarantine P.1`,
		},
		{
			name: "the summary itself stands between them: the result goes into history too",
			tree: `
P
  user
  root c7()
  summary "so far"
  root <c7
  root "It builds."`,
			want: `
				SC113 error P.3 see P.1
				lossless: move P.3 to P after P.1`,
		},
		{
			name: "the summary itself stands between the results of one answer",
			tree: `
P
  user
  root c7() c8()
  root <c7
  summary "so far"
  root <c8
  root "It builds."`,
			want: `
				SC113 error P.4 see P.1
				lossless: move P.4 to P after P.2`,
		},
		{
			name: "the result stands in history, the call behind it",
			tree: `
P
  user
  root <c7
  summary "so far"
  root c7()
  root "It builds."`,
			want: `
				SC113 error P.3 see P.1
				lossless: move P.1 to P after P.3`,
		},
		{
			name: "the call is the very first entry, which as a boundary would mean none",
			tree: `
P
  root c7()
  root <c7
  root "It builds."
  summary "so far" kept=1`,
			want: `
				SC113 error P.1 see P.0
				lossless: set P.3 first_kept_entry=2`,
		},
		{
			name: "the call lies in history that an earlier summary covers",
			tree: `
P
  user
  root c7()
  summary "first"
  root <c7
  root "It builds."
  summary "second" kept=3`,
			want: `
				SC113 error P.3 see P.1
				lossless: set P.5 first_kept_entry=4`,
		},
		{
			name: "in a child that is never sent again it is an info without a repair",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
C<P
  system(do it)
  worker c1()
  summary "so far"
  worker <c1
  worker "done"`,
			want: `SC113 info C.3 see C.1`,
		},
		{
			name: "a pair that both stand before the start is summed up",
			tree: `
P
  user
  root c7()
  root <c7
  user
  root "ok"
  summary "so far" kept=3`,
		},
		{
			name: "a pair that the tail keeps is sent whole",
			tree: `
P
  user
  root c7()
  root <c7
  root "ok"
  summary "so far" kept=1`,
		},
		{
			name: "a half that is stored nowhere is not split but missing",
			tree: `
P
  user
  root <c7
  root "ok"
  summary "so far" kept=1`,
			want: `
				SC103 error P.1
				kept: quarantine P.1`,
		},
		{
			name: "a summary without text is ignored, and so is its boundary",
			tree: `
P
  user
  root c7()
  root <c7
  root "ok"
  summary kept=2`,
		},
	})
}
