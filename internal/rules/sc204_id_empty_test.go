package rules_test

import "testing"

func TestSC204IDEmpty(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "a call and its result without an id",
			tree: `
P
  user
  root ()
  root <
  root "ok"`,
			want: `
				SC204 error P.1
				lossless: set P.1/calls/0 id=call_1_0; set P.2/results/0 call=call_1_0`,
			says: "call (no id) (shell) can be matched to its result by position only",
		},
		{
			name: "one of two calls, and one result without an id",
			tree: `
P
  user
  root c1() ()
  root <c1
  root <
  root "ok"`,
			want: `
				SC204 error P.1
				lossless: set P.1/calls/1 id=call_1_1; set P.3/results/0 call=call_1_1`,
		},
		{
			name: "the only result has an id that no call has",
			tree: `
P
  user
  root ()
  root <c1
  root "ok"`,
			want: `
				SC204 error P.1
				lossless: set P.1/calls/0 id=c1`,
		},
		{
			name: "the only result has no id",
			tree: `
P
  user
  root c1()
  root <
  root "ok"`,
			want: `
				SC204 error P.2 see P.1
				lossless: set P.2/results/0 call=c1`,
			says: "the result of call c1 (shell) has no id. It is the only result after that call",
		},
		{
			name: "two of each: which is whose cannot be told",
			tree: `
P
  user
  root () ()
  root <
  root <
  root "ok"`,
			want: `
				SC204 error P.1
				manual:
				SC204 error P.1
				manual:`,
		},
		{
			name: "the id is one that nothing has",
			tree: `
P
  user
  root call_3_0()
  root <call_3_0
  root ()
  root <
  root "ok"`,
			want: `
				SC204 error P.3
				lossless: set P.3/calls/0 id=call_3_0_dup1; set P.4/results/0 call=call_3_0_dup1`,
		},
		{
			name: "a call that nothing answers",
			tree: `
P
  user
  root ()
  user`,
			want: `
				SC101 error P.1
				manual:
				SC204 error P.1
				manual:`,
		},
		{
			name: "a result that answers nothing is an orphan",
			tree: `
P
  user
  root "ok"
  root <
  user`,
			want: `
				SC103 error P.2
				kept: quarantine P.2`,
		},
		{
			name: "the id has the form of every profile that judges", profile: "anthropic mistral",
			tree: `
P
  user
  root ()
  root <
  root "ok"`,
			want: `
				SC204 error P.1
				lossless: set P.1/calls/0 id=vporOqd5w; set P.2/results/0 call=vporOqd5w`,
		},
		{
			name: "in history that a summary covers it is an info without a repair",
			tree: `
P
  user
  root ()
  root <
  summary "so far"
  user`,
			want: `SC204 info P.1`,
			says: "A summary covers this part of the session, so it is not sent to a model again",
		},
	})
}
