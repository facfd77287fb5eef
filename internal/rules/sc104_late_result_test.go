package rules_test

import "testing"

func TestSC104LateResult(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "a user message stands in between",
			tree: `
P
  user
  root c1()
  user
  root <c1
  root "ok"`,
			want: `
				SC104 error P.3 see P.1
				lossless: move P.3 to P after P.1`,
			says: "the result of call c1 (shell) comes too late, after another turn",
		},
		{
			name: "an assistant message stands in between",
			tree: `
P
  user
  root c1()
  root "meanwhile"
  root <c1
  user`,
			want: `
				SC104 error P.3 see P.1
				lossless: move P.3 to P after P.1`,
		},
		{
			name: "it goes behind the results that are there",
			tree: `
P
  root c1() c2()
  root <c2
  user
  root <c1
  root "ok"`,
			want: `
				SC104 error P.3 see P.0
				lossless: move P.3 to P after P.1`,
		},
		{
			name: "part of an item that answers another call as well",
			tree: `
P
  root c1()
  user
  root c2()
  root <c2 <c1
  root "ok"`,
			want: `
				SC104 error P.3 see P.0
				lossless: move P.3/results/1 to P after P.0`,
		},
		{
			name: "it belongs to the nearest open call of a reused id",
			tree: `
P
  user
  root c1()
  user
  root c1()
  user
  root <c1
  root "ok"`,
			want: `
				SC101 error P.1
				lossless: insert placeholder c1 by root in P after P.1
				SC104 error P.5 see P.3
				lossless: move P.5 to P after P.3
				SC202 warning P.3 see P.1
				lossless: set P.3/calls/0 id=c1_dup1; set P.5/results/0 call=c1_dup1`,
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
  user implicit
  worker <c1
  worker "done"`,
			want: `SC104 info C.3 see C.1`,
		},
		{
			name: "the order of results within one answer is free",
			tree: `
P
  root c1() c2()
  root <c2
  root <c1
  root "ok"`,
			want: `SC111 info P.1 see P.0`,
		},
		{
			name: "the sub-session item between a delegation and its result is normal",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
C<P
  system(do it)
  worker "done"`,
		},
		{
			name: "a leak between a delegation and its result is the leak's finding",
			tree: `
P
  root T1>worker(do it)
  worker "done"
  sub C
  root <T1
C<P
  system(do it)
  worker "done"`,
			want: `
				SC701 error P.1
				kept: remove P.1 twin C.1`,
			says: "Here it separates call T1 from its result",
		},
	})
}
