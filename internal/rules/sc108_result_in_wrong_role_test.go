package rules_test

import "testing"

func TestSC108ResultInWrongRole(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "a result in the message of its call",
			tree: `
P
  user
  root c1() <c1
  user`,
			profile: "anthropic",
			tweak:   inAssistant(1),
			want: `
				SC108 error P.1
				lossless: move P.1/results/0 to P after P.1`,
			says: "the result of call c1 (shell) is inside a message of the assistant",
		},
		{
			name: "it goes behind the results that are there",
			tree: `
P
  user
  root c1() c2() <c2
  root <c1
  user`,
			profile: "bedrock",
			tweak:   inAssistant(1),
			want: `
				SC108 error P.1
				lossless: move P.1/results/0 to P after P.2`,
		},
		{
			name: "a result in a later message is not a late one",
			tree: `
P
  user
  root c1()
  root "meanwhile" <c1
  user`,
			profile: "anthropic",
			tweak:   inAssistant(2),
			want: `
				SC108 error P.2 see P.1
				lossless: move P.2/results/0 to P after P.1`,
		},
		{
			name: "a result in an earlier message is not an early one",
			tree: `
P
  user
  root "first" <c1
  root c1()
  user`,
			profile: "anthropic",
			tweak:   inAssistant(1),
			want: `
				SC108 error P.1 see P.2
				lossless: move P.1/results/0 to P after P.2`,
		},
		{
			name: "a result of no call is an orphan wherever it stands",
			tree: `
P
  user
  root "so" <z9 <z8
  user`,
			profile: "anthropic",
			tweak:   inAssistant(1),
			want: `
				SC103 error P.1
				kept: quarantine P.1/results/0
				SC103 error P.1
				kept: quarantine P.1/results/1`,
		},
		{
			name: "a call in a message of the user is nobody's to move",
			tree: `
P
  user c1()
  root <c1
  root "ok"`,
			profile: "anthropic",
			want:    `SC108 error P.0`,
			says:    "call c1 (shell) is inside a message of the user",
		},
		{
			name: "in history that a summary covers it is an info without a repair",
			tree: `
P
  user
  root c1() <c1
  summary "so far"
  user`,
			profile: "anthropic",
			tweak:   inAssistant(1),
			want:    `SC108 info P.1`,
			says:    "A summary covers this part of the session, so it is not sent to a model again",
		},
		{
			name: "a provider with other messages does not mind",
			tree: `
P
  user
  root c1() <c1
  user`,
			profile: "openai-responses",
			tweak:   inAssistant(1),
		},
		{
			name: "results in a message of the user are in the right place",
			tree: `
P
  user
  root c1() c2()
  root <c1 <c2
  root "ok"`,
			profile: "anthropic",
			tweak:   inUserItems(2),
		},
	})
}

// TestSC108IsAnsweredLikeACallWithoutAResult: to the provider it is one.
func TestSC108IsAnsweredLikeACallWithoutAResult(t *testing.T) {
	for profile, want := range map[string]string{
		"anthropic": "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: c1. " +
			"Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
		"bedrock": "Expected toolResult blocks at messages.1.content for the following Ids: c1",
	} {
		found := findings(t, profile, false, "\nP\n  user\n  root c1() <c1\n  user", inAssistant(1))
		if len(found) != 1 || found[0].ProviderError != want {
			t.Errorf("%s: want %q\n%s", profile, want, messages(found))
		}
	}
}
