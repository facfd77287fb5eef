package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC604RequestTooLarge(t *testing.T) {
	sizes := func(megabytes ...int64) func(*session.Tree) {
		return func(tree *session.Tree) {
			for i, n := range megabytes {
				tree.Root().Items[i].Size = n << 20
			}
		}
	}
	runCases(t, []ruleCase{
		{
			name: "the items together are too large", profile: "anthropic", tree: quiet, tweak: sizes(20, 13),
			want: `SC604 warning P`, says: "the next request contains about 33.0 MB, but the provider accepts 32 MB. Compact the conversation",
		},
		{name: "as large as it takes", profile: "anthropic", tree: quiet, tweak: sizes(20, 12)},
		{
			name: "each provider has its own bound, and one finding says it", profile: "openai-chat bedrock gemini", tree: quiet, tweak: sizes(20, 13),
			want: `SC604 warning P`, says: "the next request contains about 33.0 MB, but the provider accepts 20 MB. Compact the conversation",
		},
		{
			name: "history that a summary covers", profile: "anthropic", tweak: sizes(20, 0, 13),
			tree: `
P
  user
  summary "so far"
  user`,
		},
	})
}
