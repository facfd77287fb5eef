package rules_test

import "testing"

func TestSC112PlaceholderShadowsReal(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "both behind the call: the real one stays",
			tree: `
P
  root c1()
  root <c1~
  root <c1
  user`,
			want: `
				SC112 error P.1 see P.2
				kept: quarantine P.1`,
			says: "call c1 (shell) has a placeholder besides its real result",
		},
		{
			name: "the real one comes later: it takes the place of the stand-in",
			tree: `
P
  root c1()
  root <c1~
  user
  root <c1
  root "ok"`,
			want: `
				SC112 error P.1 see P.3
				kept: move P.3 to P after P.1; quarantine P.1`,
		},
		{
			name: "the stand-in comes second",
			tree: `
P
  root c1()
  root <c1
  root <c1~
  user`,
			want: `
				SC112 error P.2 see P.1
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
  worker <c1~
  worker <c1
  worker "done"`,
			want: `SC112 info C.2 see C.3`,
		},
		{
			name: "a stand-in without a real result is legal",
			tree: `
P
  root c1()
  root <c1~
  user`,
		},
	})
}
