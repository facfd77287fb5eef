package rules_test

import "testing"

func TestSC105EarlyResult(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "a result right before its call",
			tree: `
P
  user
  root <c1
  root c1()
  root "ok"`,
			want: `
				SC105 error P.1 see P.2
				lossless: move P.1 to P after P.2`,
			says: "the result of call c1 (shell) comes before the call",
		},
		{
			name: "it goes behind the results that are there",
			tree: `
P
  root <c1
  root c1() c2()
  root <c2
  root "ok"`,
			want: `
				SC105 error P.0 see P.1
				lossless: move P.0 to P after P.2`,
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
  worker <c1
  worker c1()
  worker "done"`,
			want: `SC105 info C.1 see C.2`,
		},
		{
			name: "a result behind the first use of an id is not early for the second",
			tree: `
P
  root c1()
  root <c1
  root c1()
  root <c1
  root "ok"`,
			want: `
				SC202 warning P.2 see P.0
				lossless: set P.2/calls/0 id=c1_dup1; set P.3/results/0 call=c1_dup1`,
		},
		{
			name: "a result before its sub-session, but behind its call, is SC720",
			tree: `
P
  root T1>worker(do it)
  root <T1
  sub C
C<P
  system(do it)
  worker "done"`,
			want: `
				SC720 info P.1
				lossless: move P.1 to P after P.2`,
		},
	})
}
