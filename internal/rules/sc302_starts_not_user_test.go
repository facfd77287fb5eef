package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC302StartsNotUser(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "a greeting of the assistant",
			tree: `
P
  root "hello"
  user
  root "ok"`,
			profile: "generic anthropic bedrock",
			want:    `SC302 warning P.0`,
			says:    "starts with a message of the assistant",
		},
		{
			name: "what stands for the first messages is no item",
			tree: `
P
  user "q"
  root "hello"
  user
  root "ok"`,
			tweak:   func(tree *session.Tree) { tree.Root().Items[0].Flags |= session.Compacted },
			profile: "generic anthropic",
		},
		{
			name: "system messages are not counted",
			tree: `
P
  system
  root c1()
  root <c1
  root "x"
  user`,
			profile: "generic",
			want:    `SC302 warning P.1`,
		},
		{
			name: "what is left when an orphan has gone",
			tree: `
P
  root <c9
  root "so the file says"
  user`,
			profile: "generic",
			want: `
				SC103 error P.0
				kept: quarantine P.0
				SC302 warning P.1`,
		},
		{
			name: "Chat Completions and Responses take it",
			tree: `
P
  root "hello"
  user`,
			profile: "openai-chat openai-responses",
		},
		{
			name: "behind a summary, which is sent as the user's message",
			tree: `
P
  user
  summary "so far"
  root "going on"
  user`,
			profile: "generic",
		},
		{
			name: "a session that the user starts",
			tree: `
P
  system
  user
  root "ok"`,
			profile: "generic",
		},
	})
}
