package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// TestProviderErrorsAreThoseThatUsersSee: the text names the message that the
// provider counts and follows the provider that answered last.
func TestProviderErrorsAreThoseThatUsersSee(t *testing.T) {
	const (
		anthropicCall = "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. " +
			"Each `tool_use` block must have a corresponding `tool_result` block in the next message."
		anthropicResult = "messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_9. " +
			"Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
		openAICall = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
			"The following tool_call_ids did not have response messages: "
	)
	for _, tc := range []struct{ name, tree, want string }{
		{"an unanswered call, with the words of Anthropic", `
P
  user
  root toolu_1()
  user`, anthropicCall},
		{"system messages are not counted, and results with the user's next text are one message", `
P
  system
  user
  root toolu_1()
  user
  root toolu_2()
  root <toolu_2
  user`, anthropicCall},
		{"what a summary covers is not counted, and the summary takes the first place", `
P
  user
  root "long ago"
  summary "so far"
  root toolu_1()
  user`, anthropicCall},
		{"a result without a call", `
P
  user
  root <toolu_9
  root "ok"`, anthropicResult},
		{"all unanswered calls of a turn together, with the words of OpenAI for its ids", `
P
  user
  root call_1() call_2() call_3()
  root <call_2
  user`, openAICall + "call_1, call_3"},
		{"the session's model decides before the ids", `
P model=openai/gpt-5
  user
  root toolu_1()
  user`, openAICall + "toolu_1"},
		{"another model keeps Anthropic's words", `
P model=anthropic/claude
  user
  root call_1()
  user`, "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: call_1. " +
			"Each `tool_use` block must have a corresponding `tool_result` block in the next message."},
		{"a result without a call, with the words of OpenAI and their spelling", `
P model=gpt-5
  user
  root <call_9
  root "ok"`, "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."}, //nolint:misspell // theirs
		{"a leak parts the delegation from its result", `
P
  user
  root toolu_1>worker(do it)
  worker "done"
  sub C
  root <toolu_1
C<P
  system(do it)
  worker "done"`, anthropicCall},
		{"history reaches no provider", `
P
  user
  root toolu_1()
  user
  summary "so far"
  user`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			found := findFor(&session.Store{Writer: session.WriterDead, Children: session.Children{ChildrenClosed: true}}, treetest.Trees(t, tc.tree), rules.Judge{})
			if len(found) == 0 || found[0].ProviderError != tc.want {
				t.Errorf("want %q\n%s", tc.want, messages(found))
				for _, f := range found {
					t.Errorf("got  %q", f.ProviderError)
				}
			}
		})
	}
}
