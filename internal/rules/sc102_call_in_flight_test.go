package rules_test

import "testing"

func TestSC102CallInFlight(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "the last call while another process has the store open",
			tree: `
P
  user
  root c1()`,
			store: alive,
			want:  `SC102 info P.1`,
			says:  "docker-agent (pid 4711) has the store open",
		},
		{
			name: "the last call when nobody can tell whether the runtime lives",
			tree: `
P
  user
  root c1()`,
			store: unknown,
			want:  `SC102 warning P.1`,
			says:  "--assume-dead",
		},
		{
			name: "one of several at the end",
			tree: `
P
  user
  root c1() c2()
  root <c1`,
			store: alive,
			want:  `SC102 info P.1`,
		},
		{
			name: "a result that waits for approval, even when the writer is dead",
			tree: `
P
  user
  root c1()
  root <c1?`,
			want: `SC102 info P.1`,
			says: "waits",
		},
		{
			name: "a delegation at the end, although its child holds an answer",
			tree: `
P
  root T1>worker(do it)
  sub C
C<P
  system(do it)
  worker "done"`,
			store: alive,
			want:  `SC102 info P.0`,
		},
		{
			name: "what waits for approval is an info although nobody can tell whether the runtime lives",
			tree: `
P
  user
  root c1()
  root <c1?`,
			store: unknown,
			want:  `SC102 info P.1`,
		},
		{
			name: "behind a result that stands in a message of the user",
			tree: `
P
  user
  root c1() c2()
  root <c1`,
			store: alive,
			tweak: inUserItems(2),
			want:  `SC102 info P.1`,
		},
		{
			name: "a child that runs has its own last call in flight",
			tree: `
P
  root T1>worker(do it)
  sub C
C<P
  system(do it)
  worker c1()`,
			store: alive,
			want: `
				SC102 info P.0
				SC102 info C.1`,
		},
		{
			name: "a call with other content behind it is not in flight",
			tree: `
P
  user
  root c1()
  user`,
			store: alive,
			want: `
				SC101 error P.1
				lossless: insert placeholder c1 by root in P after P.1`,
		},
		{
			name: "what waited for approval in the middle of a session is over",
			tree: `
P
  user
  root c1()
  root <c1?
  user
  root "ok"`,
		},
	})
}
