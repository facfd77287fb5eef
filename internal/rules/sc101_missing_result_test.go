package rules_test

import "testing"

func TestSC101MissingResult(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "a call that a user turn left behind",
			tree: `
P
  user
  root "on it" c1()
  user
  root "ok"`,
			want: `
				SC101 error P.1
				lossless: insert placeholder c1 by root in P after P.1`,
			says: "call c1 (shell) has no result",
		},
		{
			name: "one of two parallel calls: behind the result that is there",
			tree: `
P
  user
  root c1() c2()
  root <c2
  user`,
			want: `
				SC101 error P.1
				lossless: insert placeholder c1 by root in P after P.2`,
		},
		{
			name: "the last call of a session whose writer is dead",
			tree: `
P
  user
  root c1()`,
			want: `
				SC101 error P.1
				lossless: insert placeholder c1 by root in P after P.1`,
			says: "call c1 (shell) has no result. The runtime that could have written it has stopped",
		},
		{
			name: "the second use of an id, where every id is answered",
			tree: `
P
  user
  root c1()
  root <c1
  root c1()
  user`,
			want: `
				SC101 error P.3
				lossless: insert placeholder c1 by root in P after P.3
				SC202 warning P.3 see P.1
				lossless: set P.3/calls/0 id=c1_dup1`,
		},
		{
			name: "the first use of an id: the result stays with the second",
			tree: `
P
  user
  root c1()
  user
  root c1()
  root <c1
  root "done"`,
			want: `
				SC101 error P.1
				lossless: insert placeholder c1 by root in P after P.1
				SC202 warning P.3 see P.1
				lossless: set P.3/calls/0 id=c1_dup1; set P.4/results/0 call=c1_dup1`,
		},
		{
			name: "a delegation whose child never finished, behind its sub-session",
			tree: `
P
  user
  root T1>worker(do it)
  sub C
  user
C<P
  system(do it)
  worker "doing" w1()
  worker <w1`,
			want: `
				SC101 error P.1
				lossless: insert placeholder T1 by root in P after P.2`,
		},
		{
			name: "a delegation that was killed, behind what leaked from it",
			tree: `
P
  user
  root T1>worker(do it)
  worker "doing" w1()
  worker "mor" unfinished`,
			want: `
				SC101 error P.1
				lossless: insert placeholder T1 by root in P after P.1
				SC407 info P.3
				SC703 error P.2,3
				lossless: create new1 below P for T1 of P.1; move P.2 to new1 at start; move P.3 to new1 after P.2; insert sub new1 in P after P.1`,
		},
		{
			name: "in history that a summary covers it is an info without a repair",
			tree: `
P
  user
  root c1()
  user
  summary "so far"
  user`,
			want: `SC101 info P.1`,
			says: "call c1 (shell) has no result. A summary covers this part of the session, so it is not sent to a model again",
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
  worker "done"`,
			want: `SC101 info C.1`,
			says: "call c1 (shell) has no result. This sub-session is finished and is never sent to a model again",
		},
		{
			name: "the last call of a closed child, although another process has the store open",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
C<P
  system(do it)
  worker "doing" c1()`,
			store: alive,
			want:  `SC101 info C.1`,
		},
		{
			name: "a background child is closed once its call is answered",
			tree: `
P
  root B1>>worker(do it)
  root <B1
  sub C
  root "fine"
C<P
  system(do it)
  worker c1()
  user implicit
  worker "done"`,
			want: `SC101 info C.1`,
		},
		{
			name: "in a child that its runtime resumes it is an error",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
C<P
  system(do it)
  worker c1()
  user implicit
  worker "done"`,
			store: resumes,
			want: `
				SC101 error C.1
				lossless: insert placeholder c1 by worker in C after C.1`,
		},
		{
			name: "a call that a leaked message made is part of the leak",
			tree: `
P
  root T1>worker(do it)
  worker "doing" w1()
  root <T1!`,
			want: `
				SC703 error P.1
				lossless: create new1 below P for T1 of P.0; move P.1 to new1 at start; insert sub new1 in P after P.0`,
			says: "Here it separates call T1 from its result, and w1 (shell) has no result",
		},
		{
			name: "a placeholder is an answer",
			tree: `
P
  user
  root c1()
  root <c1~
  root "ok"`,
		},
	})
}
