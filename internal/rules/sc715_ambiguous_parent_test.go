package rules_test

import "testing"

func TestSC715AmbiguousParent(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "items of two sessions refer to one child",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
Q
  root T1>worker(do it)
  sub C
  root <T1
C<P
  system(do it)
  worker "done"`,
			want: `SC715 warning C see P.1 see Q.1`,
			says: "2 items refer to this sub-session",
		},
		{
			name: "two items of one session refer to it, of two turns",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
  root T2>worker(do it)
  sub C
  root <T2
C<P
  system(do it)
  worker "done"`,
			want: `SC715 warning C see P.1 see P.4`,
		},
		{
			name: "the child records another parent than the one that refers to it",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
Q
  user
C<Q
  system(do it)
  worker "done"`,
			want: `SC715 warning C see P.1`,
			says: "its recorded parent is Q",
		},
		{
			name: "it records no parent and one item refers to it: that is proof",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
C
  system(do it)
  worker "done"`,
			want: `
				SC715 warning C see P.1
				lossless: set C parent_id=P`,
			says: "session P refers to this sub-session, which names no parent. Lists of sessions show it as a session of its own",
		},
		{
			name: "no parent and two that claim it: a person decides",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
Q
  root T1>worker(do it)
  sub C
  root <T1
C
  system(do it)
  worker "done"`,
			want: `SC715 warning C see P.1 see Q.1`,
		},
		{
			name: "two delegations of one message with a child each",
			tree: `
P
  root T1>worker(same) T2>worker(same)
  sub A
  root <T1
  sub B
  root <T2
A<P
  system(same)
  worker "done"
B<P
  system(same)
  worker "done"`,
		},
	})
}
