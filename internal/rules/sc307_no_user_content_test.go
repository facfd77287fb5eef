package rules_test

import "testing"

func TestSC307NoUserContent(t *testing.T) {
	const lonely = `
P
  system
  other`
	runCases(t, []ruleCase{
		{name: "an empty session", tree: "\nP\n", profile: "openai-chat", want: `SC307 info P`, says: "this session has no message that is sent to a model"},
		{name: "nobody sends an empty one", tree: "\nP\n", profile: "openai-chat", asIs: true, want: `SC307 info P`},
		{name: "instructions alone ask nothing", tree: lonely, profile: "kimi", asIs: true, want: `SC307 warning P`},
		{
			name: "the user's next message makes it whole",
			tree: `
P
  root "hello"`,
			profile: "openai-chat",
		},
		{
			name: "sent as it is",
			tree: `
P
  root "hello"`,
			profile: "openai-chat", asIs: true,
			want: `SC307 warning P`,
			says: "this session has no user message",
		},
		{
			name: "a summary stands for what users said",
			tree: `
P
  user
  summary "so far"
  root "ok"`,
			profile: "openai-chat", asIs: true,
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
  worker "done"`,
			profile: "openai-chat", asIs: true,
		},
	})
}
