package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC106DuplicateResult(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "the same result twice",
			tree: `
P
  root c1()
  root <c1
  root <c1
  root "ok"`,
			want: `
				SC106 error P.2 see P.1
				kept: quarantine P.2`,
			says: "call c1 (shell) has the same result twice",
		},
		{
			name: "within one item: only the second part of it",
			tree: `
P
  root c1()
  root <c1 <c1
  root "ok"`,
			want: `
				SC106 error P.1
				kept: quarantine P.1/results/1`,
		},
		{
			name: "a copy elsewhere in the session",
			tree: `
P
  root c1()
  root <c1
  user
  root <c1
  root "ok"`,
			want: `
				SC106 error P.3 see P.1
				kept: quarantine P.3`,
		},
		{
			name: "two placeholders, whatever their words",
			tree: `
P
  root c1()
  root <c1~ "No result provided"
  root <c1~ "aborted"
  root "ok"`,
			want: `
				SC106 error P.2 see P.1
				kept: quarantine P.2`,
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
  worker <c1
  worker <c1
  worker "done"`,
			want: `SC106 info C.3 see C.2`,
		},
		{
			name: "a turn that the store has twice, as it tells, and a prompt",
			tree: `
P
  user "q"
  user "q"
  root c1()
  root <c1
  root c1()
  root <c1
  root "ok"`,
			tweak: func(tree *session.Tree) {
				for _, i := range []int{1, 4, 5} {
					tree.Root().Items[i].Own().Home, tree.Root().Items[i].Copied = "P", true
				}
			},
			want: `
				SC106 info P.1
				kept: quarantine P.1
				SC106 warning P.4,5
				kept: quarantine P.4; quarantine P.5`,
		},
		{
			name: "an id that two calls use needs two results",
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
			name: "results of two calls may say the same",
			tree: `
P
  root c1() c2()
  root <c1 "x"
  root <c2 "x"
  root "ok"`,
		},
	})
}
