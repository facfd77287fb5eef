package rules_test

import "testing"

func TestSC109ParallelResultsSplit(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "the results of one turn in two messages of the user",
			tree: `
P
  user
  root c1() c2()
  root <c1
  root <c2
  root "ok"`,
			profile: "anthropic",
			tweak:   inUserItems(2, 3),
			want:    `SC109 warning P.2,3 see P.1`,
			says:    "the results of one turn are spread over 2 user messages",
		},
		{
			name: "Bedrock refuses it",
			tree: `
P
  user
  root c1() c2()
  root <c1
  root <c2
  root "ok"`,
			profile: "bedrock",
			tweak:   inUserItems(2, 3),
			want:    `SC109 error P.2,3 see P.1`,
		},
		{
			name: "tool items are one message where the provider wants one",
			tree: `
P
  user
  root c1() c2()
  root <c1
  root <c2
  root "ok"`,
			profile: "anthropic bedrock gemini",
		},
		{
			name: "a message of the user for each of two turns",
			tree: `
P
  user
  root c1()
  root <c1
  root c2()
  root <c2
  root "ok"`,
			profile: "bedrock",
			tweak:   inUserItems(2, 4),
		},
		{
			name: "history is in no request",
			tree: `
P
  user
  root c1() c2()
  root <c1
  root <c2
  summary "so far"
  user`,
			profile: "bedrock",
			tweak:   inUserItems(2, 3),
		},
	})
}
