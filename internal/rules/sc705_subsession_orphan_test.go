package rules_test

import "testing"

func TestSC705SubsessionOrphan(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "one call fits: the reference goes before its result",
			tree: `
P
  user
  root T1>worker(do it)
  root <T1
C<P
  system(do it)
  worker "done"`,
			want: `
				SC705 warning C see P.1
				lossless: insert sub C in P after P.1`,
			says: "parent session P does not refer to this sub-session. It fits call T1 (transfer_task) at item 1",
		},
		{
			name: "one of a batch, behind the results before its own",
			tree: `
P
  root T1>alpha(a) T2>beta(b)
  sub A
  root <T1
  root <T2
A<P
  system(a)
  alpha "x"
B<P
  system(b)
  beta "y"`,
			want: `
				SC705 warning B see P.0
				lossless: insert sub B in P after P.2`,
		},
		{
			name: "an unanswered call fits too: the child holds its answer as well",
			tree: `
P
  user
  root T1>worker(do it)
  user
C<P
  system(do it)
  worker "done"`,
			want: `
				SC705 warning C see P.1
				lossless: insert sub C in P after P.1
				SC716 error P.1 see C.1
				lossless: insert result T1 from C.1 in P after P.1`,
		},
		{
			name: "a background child goes behind the result of its call",
			tree: `
P
  root B1>>worker(do it)
  root <B1
  root "fine"
C<P
  system(do it)
  worker "done"`,
			want: `
				SC705 warning C see P.0
				lossless: insert sub C in P after P.1`,
		},
		{
			name: "no call fits",
			tree: `
P
  user
  root T1>worker(one)
  root <T1
C<P
  system(two)
  worker "done"`,
			want: `
				SC705 warning C
				manual:`,
			says: "parent session P does not refer to this sub-session. No single call there fits it, and lists of sessions do not show it",
		},
		{
			name: "several calls fit",
			tree: `
P
  root T1>worker()
  root <T1
  root T2>worker()
  root <T2
C<P
  worker "done"`,
			want: `
				SC705 warning C
				manual:`,
		},
		{
			name: "the parent does not exist",
			tree: `
C<GONE
  system(do it)
  worker "done"`,
			want: `SC705 warning C`,
			says: "the parent of this session, GONE, does not exist. Lists of sessions do not show it",
		},
		{
			name: "while the runtime lives, a child may get its item when it ends",
			tree: `
P
  user
  root T1>worker(do it)
C<P
  system(do it)
  worker "doing" w1()`,
			store: alive,
			want: `
				SC102 info P.1
				SC102 info C.1
				SC705 info C see P.1`,
			says: "",
		},
		{
			name: "a background child that may still run",
			tree: `
P
  root B1>>worker(do it)
  root <B1
C<P
  system(do it)
  worker "doing"`,
			store: alive,
			want:  `SC705 info C see P.0`,
			says:  "may still be running",
		},
		{
			name: "its messages leaked: the leak's repair adds the item",
			tree: `
P
  root T1>worker(do it)
  worker "one"
  root <T1
C<P
  system(do it)
  worker "done"`,
			want: `
				SC702 error P.1
				lossless: move P.1 to C after C.0; insert sub C in P after P.0`,
			says: "No item refers to sub-session C",
		},
	})
}
