package rules_test

import "testing"

func TestSC303EndsWithAssistant(t *testing.T) {
	const answered = `
P
  user
  root "ok"`
	runCases(t, []ruleCase{
		{
			name: "sent as it is", tree: answered, profile: "generic anthropic gemini bedrock", asIs: true,
			want: `SC303 warning P.1`,
			says: "ends with an answer",
		},
		{name: "Mistral refuses it", tree: answered, profile: "mistral", asIs: true, want: `SC303 error P.1`},
		{name: "others take it", tree: answered, profile: "openai-chat openai-responses deepseek kimi", asIs: true},
		{name: "the user's next message follows", tree: answered, profile: "generic anthropic mistral gemini"},
		{
			name: "a request that ends with a question",
			tree: `
P
  user
  root "ok"
  user`,
			profile: "generic", asIs: true,
		},
		{
			name: "calls at the end are about to be answered",
			tree: `
P
  user
  root "I look" c1()`,
			store: unknown, profile: "generic", asIs: true,
			want: `SC102 warning P.1`,
		},
	})
}
