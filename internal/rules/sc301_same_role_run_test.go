package rules_test

import "testing"

func TestSC301SameRoleRun(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "two messages of the user, named in one finding",
			tree: `
P
  user "a"
  user "b"
  root "c"`,
			profile: "generic",
			want:    `SC301 info P.0,1`,
			says:    "in 1 place",
		},
		{
			name: "all runs of a session are one finding",
			tree: `
P
  user "a"
  user "b"
  user "c"
  root "d"
  user "e"
  root "f"
  root "g"`,
			profile: "deepseek",
			want:    `SC301 warning P.0,1,2,5,6`,
			says:    "in 2 places",
		},
		{
			name: "most providers join such messages themselves",
			tree: `
P
  user "a"
  user "b"
  root "c"`,
			profile: "anthropic openai-chat openai-responses gemini kimi",
		},
		{
			name: "two agents that speak in turn are no run",
			tree: `
P
  user
  root "I hand over"
  other "I take over"
  worker "I take over"`,
			profile: "generic",
		},
		{
			name: "a result between two answers, wherever it is stored",
			tree: `
P
  user
  root c1()
  root "meanwhile"
  root <c1
  user
  root "ok"`,
			profile: "generic",
			want: `
				SC104 error P.3 see P.1
				lossless: move P.3 to P after P.1`,
		},
		{
			name: "calls whose results are lost get some by a repair",
			tree: `
P
  user
  root c1()
  root "ok"`,
			profile: "generic",
			want: `
				SC101 error P.1
				lossless: insert placeholder c1 by root in P after P.1`,
		},
		{
			name: "what leaked leaves",
			tree: `
P
  user
  root T1>worker(do it)
  worker "doing"
  worker "done"
  root <T1
  root "ok"`,
			profile: "generic",
			want: `
				SC703 error P.2,3
				lossless: create new1 below P for T1 of P.1; move P.2 to new1 at start; move P.3 to new1 after P.2; insert sub new1 in P after P.1`,
		},
		{
			name: "what a summary stands for is no message of anybody",
			tree: `
P
  user "a"
  user "b"
  summary "so far"
  user "c"
  root "d"`,
			profile: "generic",
		},
		{
			name: "a message that says nothing parts the others until it leaves",
			tree: `
P
  user "a"
  root blank
  user "b"`,
			profile: "mistral",
			want: `
				SC401 error P.1
				kept: quarantine P.1`,
		},
		{
			name: "a child that is never sent again",
			tree: `
P
  user
  root T1>worker(do it)
  sub C
  root <T1
  root "ok"
C<P
  system(do it)
  user
  user
  worker "done"`,
			profile: "generic",
		},
	})
}
