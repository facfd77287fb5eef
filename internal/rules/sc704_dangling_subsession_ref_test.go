package rules_test

import "testing"

func TestSC704DanglingSubsessionRef(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "the session that an item names is gone",
			tree: `
P
  root T1>worker(do it)
  sub GONE
  root <T1
  root "fine"`,
			want: `SC704 warning P.1
				kept with prune: quarantine P.1`,
			says: "refers to sub-session GONE, which does not exist",
		},
		{
			name: "an item that lost its reference",
			tree: `
P
  root T1>worker(do it)
  sub -
  root <T1
  root "fine"`,
			want: `SC704 warning P.1
				kept with prune: quarantine P.1`,
			says: "refers to a sub-session that was deleted",
		},
		{
			name: "a child that exists",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
C<P
  system(do it)
  worker "done"`,
		},
	})
}
