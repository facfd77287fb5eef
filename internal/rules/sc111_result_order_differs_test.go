package rules_test

import "testing"

func TestSC111ResultOrderDiffers(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "two results swapped",
			tree: `
P
  user
  root c1() c2()
  root <c2
  root <c1
  root "ok"`,
			want: `SC111 info P.2 see P.1`,
			says: "the result of call c2 (shell) comes before that of c1 (shell), which was called first. No provider refuses this order",
		},
		{
			name: "within one item",
			tree: `
P
  user
  root c1() c2()
  root <c2 <c1
  root "ok"`,
			want: `SC111 info P.2 see P.1`,
		},
		{
			name: "one finding for each turn",
			tree: `
P
  user
  root c1() c2() c3()
  root <c3
  root <c2
  root <c1
  root d1() d2()
  root <d2
  root <d1
  root "ok"`,
			want: `
				SC111 info P.3 see P.1
				SC111 info P.6 see P.5`,
		},
		{
			name: "in the order of the calls, one of them without a result",
			tree: `
P
  user
  root c1() c2() c3()
  root <c1
  root <c3
  user`,
			want: `
				SC101 error P.1
				lossless: insert placeholder c2 by root in P after P.3`,
		},
		{
			name: "a late result is that, and no matter of order",
			tree: `
P
  user
  root c1() c2()
  root <c2
  user
  root <c1
  root "ok"`,
			want: `
				SC104 error P.4 see P.1
				lossless: move P.4 to P after P.2`,
		},
		{
			name: "history is in no request",
			tree: `
P
  user
  root c1() c2()
  root <c2
  root <c1
  summary "so far"
  user`,
		},
	})
}
