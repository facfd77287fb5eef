package rules_test

import "testing"

func TestSC702LeakSoleCopy(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "the child is empty: everything moves there",
			tree: `
P
  user
  root T1>worker(do it)
  worker "doing work"
  worker S1()
  worker <S1
  sub C
  root <T1
  root "final"
C<P agent=worker`,
			want: `
				SC702 error P.2,3,4
				lossless: move P.2 to C at start; move P.3 to C after P.2; move P.4 to C after P.3`,
			says: `3 messages of sub-agent "worker" are stored here and missing from sub-session C. Here they separate call T1 from its result`,
		},
		{
			name: "the child lacks some: twins leave, the others go to their place",
			tree: `
P
  root T1>worker(do it)
  worker "one" at=2
  worker "two" at=4
  worker "three" at=6
  sub C
  root <T1
C<P
  system(do it) at=1
  user implicit at=1
  worker "one" at=2
  summary "so far"
  worker "three" at=6`,
			want: `
				SC702 error P.1,2,3
				kept: remove P.1 twin C.2; move P.2 to C after C.2; remove P.3 twin C.4`,
			says: "sub-session C lacks 1 of them",
		},
		{
			name: "a compaction inside the child, as the runtime leaves it: no item refers to the child",
			tree: `
P
  user at=0
  root T1>worker(do it) at=1
  worker "step 1" c1() at=2
C<P
  worker <c1 at=3
  summary "so far"
  worker c2() at=5
  worker <c2 at=6`,
			want: `
				SC101 error P.1
				lossless: insert placeholder T1 by root in P after P.1
				SC702 error P.2
				lossless: move P.2 to C at start; insert sub C in P after P.1`,
			says: "call T1 (transfer_task) has no result",
		},
		{
			name: "a message goes behind the child's prologue, whatever its time",
			tree: `
P
  root T1>worker(do it) at=1
  worker "step 1" c1() at=1
  sub C
  root <T1 at=5
C<P
  system(do it) at=1
  user implicit at=1
  worker <c1 at=2
  worker "done" at=4`,
			want: `
				SC702 error P.1
				lossless: move P.1 to C after C.1`,
		},
		{
			name: "a grandchild that was never stored is rebuilt below its caller's twin",
			tree: `
P
  root T1>worker(do it)
  worker "asking" W1>grand(sub task)
  grand "half"
  worker "done"
  sub C
  root <T1
C<P
  system(do it)
  worker "asking" W1>grand(sub task)
  worker <W1!
  worker "done"`,
			want: `
				SC702 error P.1,2,3
				kept: remove P.1 twin C.1; create new1 below C for W1 of C.1; move P.2 to new1 at start; remove P.3 twin C.3; insert sub new1 in C after C.1`,
		},
		{
			name: "the second of a nested batch was never stored: its reference goes before its own result",
			tree: `
P
  root T1>worker(do it)
  worker "both" A1>alpha(a) B1>beta(b)
  alpha "x"
  beta "half"
  worker "done"
  sub C
  root <T1
C<P
  system(do it)
  worker "both" A1>alpha(a) B1>beta(b)
  sub A
  worker <A1
  worker <B1!
  worker "done"
A<C
  system(a)
  alpha "x"`,
			want: `
				SC702 error P.1,2,3,4
				kept: remove P.1 twin C.1; remove P.2 twin A.1; create new1 below C for B1 of C.1; move P.3 to new1 at start; remove P.4 twin C.5; insert sub new1 in C after C.3`,
		},
		{
			name: "a message that may be the caller's own is reported and never moved",
			tree: `
P
  root T1>worker(do it)
  root "mine?"
  worker "one"
  sub C
  root <T1
C<P
  system(do it)
  worker "done"`,
			want: `
				SC702 error P.1,2
				lossless: move P.2 to C after C.0`,
			says: "1 of them has the caller's name and no copy, so sessctl cannot tell whose it is and never moves it",
		},
		{
			name: "nothing but such messages: a person decides",
			tree: `
P
  root T1>worker(do it)
  root "mine?"
  sub C
  root <T1
C<P
  system(do it)
  worker "done"`,
			want: `
				SC702 error P.1
				manual:`,
		},
		{
			name: "nothing but such messages, and nobody refers to the child: that has its own repair",
			tree: `
P
  root T1>worker(do it)
  root "mine?"
  root <T1
C<P
  system(do it)
  worker "done"`,
			want: `
				SC702 error P.1
				manual:
				SC705 warning C see P.0
				lossless: insert sub C in P after P.1`,
		},
	})
}
