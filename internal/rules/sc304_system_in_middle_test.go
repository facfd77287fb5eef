package rules_test

import "testing"

func TestSC304SystemInMiddle(t *testing.T) {
	const middle = `
P
  system
  user
  system "a hook says"
  root "ok"
  user
  system "another hook says"
  root "ok"`
	runCases(t, []ruleCase{
		{
			name: "all of a session in one finding", tree: middle, profile: "generic anthropic mistral bedrock",
			want: `SC304 warning P.2,5`,
			says: "the request contains 2 system messages after its start. Many models accept only user and assistant messages there",
		},
		{name: "Gemini has no such role", tree: middle, profile: "gemini", want: `SC304 error P.2,5`},
		{name: "others take them", tree: middle, profile: "openai-chat openai-responses deepseek kimi"},
		{
			name: "at the start, however many",
			tree: `
P
  system
  system "and the rules"
  user
  root "ok"`,
			profile: "generic gemini",
		},
		{
			name: "a child starts with its task",
			tree: `
P
  user
  root T1>worker(do it)
  sub C
  root <T1
  root "ok"
C<P
  system(do it)
  user implicit
  worker "done"`,
			store: resumes, profile: "generic",
		},
		{
			name: "behind a summary nothing is the start",
			tree: `
P
  system "long ago"
  user
  summary "so far"
  system "a hook says"
  user
  root "ok"`,
			profile: "generic",
			want:    `SC304 warning P.3`,
		},
		{
			name: "a summary itself is none, nor what it covers",
			tree: `
P
  user
  system "a hook says"
  summary "so far"
  user
  root "ok"`,
			profile: "generic gemini",
		},
	})
}
