package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC504ThinkingForeign(t *testing.T) {
	signed := func(model string) func(*session.Tree) {
		return all(inBlocks(1, thought, doneCall), madeBy(model), named)
	}
	through := func(answer, next string) func(*session.Tree) {
		return func(tree *session.Tree) {
			items := tree.Root().Items
			items[1].Own().Provider, items[len(items)-1].Own().Provider = answer, next
		}
	}
	runCases(t, []ruleCase{
		{
			name: "Gemini's thinking for Claude", profile: "anthropic", tree: oneStep, tweak: signed("google/gemini-3-pro"),
			want: `SC504 warning P.1`, says: `1 signature was made by a model of another provider ("google/gemini-3-pro"), so this provider cannot verify it`,
		},
		{
			name: "Claude's thinking for OpenAI", profile: "openai-responses", tree: oneStep, tweak: signed("claude-opus-4-5"),
			want: `SC504 warning P.1`,
		},
		{
			name: "Gemini has signatures on calls too", profile: "gemini", asIs: true, tree: oneStep, tweak: signed("gpt-5"),
			want: `SC504 warning P.1`, says: `2 signatures were made by a model of another provider ("gpt-5"), so this provider cannot verify them`,
		},
		{name: "Claude's own", profile: "anthropic", tree: oneStep, tweak: signed("anthropic/claude-opus-4-5")},
		{name: "Claude on Bedrock signs alike", profile: "anthropic", tree: oneStep, tweak: signed("us.anthropic.claude-sonnet-4")},
		{
			name: "Nova on Bedrock does not", profile: "anthropic", tree: oneStep, tweak: signed("bedrock/nova-premier"),
			want: `SC504 warning P.1`,
		},
		{name: "both APIs of OpenAI have the same models", profile: "openai-responses", tree: oneStep, tweak: signed("gpt-5")},
		{name: "a model that nobody knows", profile: "anthropic", tree: oneStep, tweak: signed("some-model")},
		{name: "no model named", profile: "anthropic", tree: oneStep, tweak: signed("")},
		{
			name: "of a model that nobody knows, through another API than is asked now", profile: "anthropic", tree: oneStep, store: omits,
			tweak: all(signed("M2.1"), through("minimax", "anthropic")), want: "SC504 warning P.1\nkept with lossy: omit P.1/blocks/0",
		},
		{name: "through the same API", profile: "anthropic", tree: oneStep, tweak: all(signed("M2.1"), through("minimax", "minimax"))},
		{name: "Claude's own through another API", profile: "anthropic", tree: oneStep, tweak: all(signed("claude-opus-4-5"), through("vertex", "anthropic"))},
		{name: "nothing is signed", profile: "anthropic", tree: oneStep, tweak: all(inBlocks(1, unmarked, aCall), madeBy("gpt-5"))},
		{name: "an API without signatures", profile: "openai-chat", tree: oneStep, tweak: signed("gemini-3-pro")},
	})
}
