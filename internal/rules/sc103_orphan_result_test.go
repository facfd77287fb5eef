package rules_test

import "testing"

func TestSC103OrphanResult(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "a result of a call that nobody made",
			tree: `
P
  user
  root <z9
  root "ok"`,
			want: `
				SC103 error P.1
				kept: quarantine P.1`,
			says: `names call "z9", which this session does not have`,
		},
		{
			name: "one of several results of an item: only that part of it",
			tree: `
P
  user
  root c1()
  root <c1 <z9
  root "ok"`,
			want: `
				SC103 error P.2
				kept: quarantine P.2/results/1`,
		},
		{
			name: "behind an answer that was cut off: its calls were lost",
			tree: `
P
  user
  root "let me" unfinished
  root <c1
  root "ok"`,
			want: `
				SC103 error P.2
				kept: quarantine P.2
				SC407 warning P.1`,
			says: `the result names call "c1", which this session does not have. The unfinished message before it probably lost its calls`,
		},
		{
			name: "its call is in a message that is not sent",
			tree: `
P
  user
  root c1() unshown
  root <c1
  root "ok"`,
			want: `
				SC103 error P.2
				kept: quarantine P.2`,
			says: `the result names call "c1", which is not part of any request`,
		},
		{
			name: "before several calls of its id it could be anyone's",
			tree: `
P
  user
  root <c1
  root c1()
  user
  root c1()
  user`,
			want: `
				SC101 error P.2
				lossless: insert placeholder c1 by root in P after P.2
				SC101 error P.4
				lossless: insert placeholder c1 by root in P after P.4
				SC103 error P.1
				kept: quarantine P.1
				SC202 warning P.4 see P.2
				lossless: set P.4/calls/0 id=c1_dup1`,
		},
		{
			name: "behind two calls without an id it may be an answer",
			tree: `
P
  user
  root () ()
  root <c1
  root "ok"`,
			want: `
				SC101 error P.1
				manual:
				SC101 error P.1
				manual:
				SC103 error P.2
				manual:
				SC204 error P.1
				manual:
				SC204 error P.1
				manual:`,
		},
		{
			name: "in history that a summary covers it is an info without a repair",
			tree: `
P
  user
  root <z9
  summary "so far"
  user`,
			want: `SC103 info P.1`,
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
  worker <z9
  worker "done"`,
			want: `SC103 info C.1`,
		},
		{
			name: "a child's result whose call leaked is part of the leak",
			tree: `
P
  root T1>worker(do it)
  worker "doing" c1()
  worker "done"
  sub C
  root <T1
C<P
  system(do it)
  worker <c1
  worker "done"`,
			want: `
				SC702 error P.1,2
				kept: move P.1 to C after C.0; remove P.2 twin C.2`,
		},
		{
			name: "a result of a child's call beside the leak is not an orphan",
			tree: `
P
  root T1>worker(do it)
  worker "doing" w1()
  worker <w1
  root <T1!`,
			want: `
				SC703 error P.1,2
				lossless: create new1 below P for T1 of P.0; move P.1 to new1 at start; move P.2 to new1 after P.1; insert sub new1 in P after P.0`,
		},
		{
			name: "a result of a message that may be the caller's own stays with it",
			tree: `
P
  root T1>worker(do it)
  root "mine?" c1()
  root <T1
  root <c1 "yes"
  root "done"`,
			want: `
				SC703 error P.1
				manual:`,
		},
	})
}
