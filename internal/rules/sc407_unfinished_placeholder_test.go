package rules_test

import "testing"

func TestSC407UnfinishedPlaceholder(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "in the middle of a session",
			tree: `
P
  user
  root "The build has three st" unfinished
  user
  root "ok"`,
			want: `SC407 warning P.1`,
			says: "its text may stop in the middle",
		},
		{
			name: "at the end it may still be written",
			tree: `
P
  user
  root "The build has three st" unfinished`,
			want: `SC407 info P.1`,
		},
		{
			name: "at the end, with what reaches no model behind it",
			tree: `
P
  user
  root "The build has three st" unfinished
  other`,
			want: `SC407 info P.1`,
		},
		{
			name: "in history that a summary covers",
			tree: `
P
  user
  root "The build has three st" unfinished
  summary "so far"
  user`,
			want: `SC407 info P.1`,
		},
		{
			name: "in a child that is never sent again",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
C<P
  system(do it)
  worker "I'll st" unfinished
  worker "done"`,
			want: `SC407 info C.1`,
		},
		{
			name: "a leaked one in the middle is part of its leak",
			tree: `
P
  root T1>worker(do it)
  worker "I'll st" unfinished
  root <T1!
  root "ok"`,
			want: `
				SC703 error P.1
				lossless: create new1 below P for T1 of P.0; move P.1 to new1 at start; insert sub new1 in P after P.0`,
		},
		{
			name: "a finished message is none, with or without text",
			tree: `
P
  user
  root "ok"
  root c1()
  root <c1`,
		},
	})
}
