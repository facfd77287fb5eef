package rules_test

import "testing"

func TestSC202IDReused(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "an id again in a later turn",
			tree: `
P
  user
  root c1()
  root <c1 "one"
  root c1()
  root <c1 "two"
  root "ok"`,
			want: `
				SC202 warning P.3 see P.1
				lossless: set P.3/calls/0 id=c1_dup1; set P.4/results/0 call=c1_dup1`,
			says: "call c1 (shell) has the same id as a call of an earlier message",
		},
		{
			name: "Anthropic refuses it",
			tree: `
P
  user
  root c1()
  root <c1 "one"
  root c1()
  root <c1 "two"
  root "ok"`,
			profile: "anthropic",
			want: `
				SC202 error P.3 see P.1
				lossless: set P.3/calls/0 id=c1_dup1; set P.4/results/0 call=c1_dup1`,
		},
		{
			name: "Kimi repeats its own ids",
			tree: `
P
  user
  root c1()
  root <c1 "one"
  root c1()
  root <c1 "two"
  user
  root "ok"`,
			profile: "openai-chat",
			want: `
				SC202 info P.3 see P.1
				lossless: set P.3/calls/0 id=c1_dup1; set P.4/results/0 call=c1_dup1`,
		},
		{
			name: "each later use has a finding",
			tree: `
P
  user
  root c1()
  root <c1
  root c1()
  root <c1
  root c1()
  root <c1
  root "ok"`,
			want: `
				SC202 warning P.3 see P.1
				lossless: set P.3/calls/0 id=c1_dup1; set P.4/results/0 call=c1_dup1
				SC202 warning P.5 see P.1
				lossless: set P.5/calls/0 id=c1_dup2; set P.6/results/0 call=c1_dup2`,
		},
		{
			name: "a result that is there twice follows its call",
			tree: `
P
  user
  root c1()
  root <c1
  root c1()
  root <c1
  root <c1
  root "ok"`,
			want: `
				SC106 error P.5 see P.4
				kept: quarantine P.5
				SC202 warning P.3 see P.1
				lossless: set P.3/calls/0 id=c1_dup1; set P.4/results/0 call=c1_dup1; set P.5/results/0 call=c1_dup1`,
		},
		{
			name: "an id that only history has used is free again",
			tree: `
P
  user
  root c1()
  root <c1
  summary "so far"
  root c1()
  root <c1
  root "ok"`,
		},
		{
			name: "twice behind the summary, the first of these keeps it",
			tree: `
P
  user
  root c1()
  root <c1
  summary "so far"
  root c1()
  root <c1
  root c1()
  root <c1
  root "ok"`,
			want: `
				SC202 warning P.6 see P.4
				lossless: set P.6/calls/0 id=c1_dup1; set P.7/results/0 call=c1_dup1`,
		},
		{
			name: "in history that a summary covers it is an info without a repair",
			tree: `
P
  user
  root c1()
  root <c1
  root c1()
  root <c1
  summary "so far"
  user`,
			want: `SC202 info P.3 see P.1`,
		},
		{
			name: "a session and its child may use the same ids",
			tree: `
P
  root c1>worker(do it)
  sub C
  root <c1
  root "ok"
C<P
  system(do it)
  worker c1()
  worker <c1
  worker "done"`,
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
  worker c1()
  worker <c1
  worker "done"`,
			want: `SC202 info C.3 see C.1`,
			says: "never sent to a model again",
		},
		{
			name: "what leaked leaves, and its ids with it",
			tree: `
P
  root c1>worker(do it)
  worker c1()
  worker <c1
  worker "done"
  sub C
  root <c1
C<P
  system(do it)
  worker c1()
  worker <c1
  worker "done"`,
			want: `
				SC701 error P.1,2,3
				kept: remove P.1 twin C.1; remove P.2 twin C.2; remove P.3 twin C.3`,
		},
	})
}
