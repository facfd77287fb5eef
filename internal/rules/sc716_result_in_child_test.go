package rules_test

import "testing"

func TestSC716ResultInChild(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "the child finished: its last answer is the result, behind the sub-session",
			tree: `
P
  user
  root T1>worker(do it)
  sub C
  user
C<P
  system(do it)
  worker "doing"
  worker "the answer"`,
			want: `
				SC716 error P.1 see C.2
				lossless: insert result T1 from C.2 in P after P.2`,
			says: "call T1 (transfer_task) has no result, but sub-session C finished. The last message there is the answer",
		},
		{
			name: "a child that several calls share: the answer is that of the call's own request",
			tree: `
P
  user
  root T1>worker(one)=C T2>worker(two)=C
  root <T2=C
  user
C
  user "one" run=i1
  user "two" run=i2
  worker "first" run=i1
  worker "second" run=i2`,
			want: `
				SC707 error P.1 see C.0 see C.1
				lossless with split: split new1 from C for T2 of P.1; move C.1 to new1 at start; move C.3 to new1 after C.1; set P.2/results/0 child=new1
				SC716 error P.1 see C.2
				lossless: insert result T1 from C.2 in P after P.2`,
		},
		{
			name: "a child that several calls with one request share: whose answer it is, nothing tells",
			tree: `
P
  user
  root T1>worker(one)=C T2>worker(one)=C
  root <T2=C
  user
C
  user "one" run=i1
  user "one" run=i2
  worker "first" run=i1
  worker "second" run=i2`,
			want: `
				SC707 error P.1 see C.0 see C.1
				lossless with split,guesses: split new1 from C for T2 of P.1; move C.1 to new1 at start; move C.3 to new1 after C.1; set P.2/results/0 child=new1
				SC716 error P.1 see C.3
				manual:`,
		},
		{
			name: "at the end of the session, when the writer is dead",
			tree: `
P
  user
  root T1>worker(do it)
  sub C
C<P
  system(do it)
  worker "the answer"`,
			want: `
				SC716 error P.1 see C.1
				lossless: insert result T1 from C.1 in P after P.2`,
		},
		{
			name: "while another process has the store open, the result may still come: SC102",
			tree: `
P
  user
  root T1>worker(do it)
  sub C
C<P
  system(do it)
  worker "the answer"`,
			store: alive,
			want:  `SC102 info P.1`,
		},
		{
			name: "a child that ends with a call did not finish: SC101",
			tree: `
P
  user
  root T1>worker(do it)
  sub C
  user
C<P
  system(do it)
  worker "let me see" w1()
  worker <w1`,
			want: `
				SC101 error P.1
				lossless: insert placeholder T1 by root in P after P.2`,
		},
		{
			name: "a child whose last message was cut off did not finish: SC101",
			tree: `
P
  user
  root T1>worker(do it)
  sub C
  user
C<P
  system(do it)
  worker "the ans" unfinished`,
			want: `
				SC101 error P.1
				lossless: insert placeholder T1 by root in P after P.2
				SC407 info C.1`,
		},
		{
			name: "a child that a repair rebuilt has no answer: SC101",
			tree: `
P
  user
  root T1>worker(do it)
  sub C
  user
C<P
  system(do it) synthetic
  user implicit synthetic
  worker "looks like an answer"`,
			want: `
				SC101 error P.1
				lossless: insert placeholder T1 by root in P after P.2`,
		},
		{
			name: "in a child that is never sent again it is an info without a repair",
			tree: `
P
  root T1>worker(do it)
  sub A
  root <T1
A<P
  system(do it)
  worker W1>grand(sub task)
  sub B
  user
  worker "done"
B<A
  system(sub task)
  grand "the answer"`,
			want: `SC716 info A.1 see B.1`,
		},
		{
			name: "a background delegation is answered before its child ends",
			tree: `
P
  root B1>>worker(do it)
  root <B1
  sub C
  user
C<P
  system(do it)
  worker "the answer"`,
		},
	})
}
