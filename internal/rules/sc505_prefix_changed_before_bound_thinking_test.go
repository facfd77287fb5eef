package rules_test

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// repairedBefore is a session in which a repair wrote item 2.
const repairedBefore = `
P
  user
  root c1()
  root <c1~ synthetic
  root "so"
  user
  root "done"`

func TestSC505PrefixChangedBeforeBoundThinking(t *testing.T) {
	of := func(model string) func(*session.Tree) {
		return func(tree *session.Tree) { tree.Root().Model = model }
	}
	runCases(t, []ruleCase{
		{
			name: "a model that binds its thinking", profile: "anthropic", tree: repairedBefore,
			tweak: all(of("claude-opus-5-5"), inBlocks(3, thought, sentence), inBlocks(5, thought, sentence)),
			want:  `SC505 warning P.2 see P.3 see P.5`, says: `a repair wrote item 2 before 2 signed thinking blocks. A model that binds its thinking to the history refuses such blocks unless the request sets prefix_mismatch_behavior to "drop_block" or leaves out all thinking after item 2`,
		},
		{
			name: "the model is not known", profile: "anthropic", tree: repairedBefore, tweak: inBlocks(3, thought, sentence),
			want: `SC505 warning P.2 see P.3`,
		},
		{
			name: "a Claude that binds nothing", profile: "anthropic", tree: repairedBefore,
			tweak: all(of("claude-sonnet-4-5"), inBlocks(3, thought, sentence)),
			want:  `SC505 info P.2 see P.3`,
		},
		{
			name: "one turn was made by a model that binds", profile: "anthropic", tree: repairedBefore,
			tweak: all(of("claude-sonnet-4-5"), madeBy("claude-fable-5-1"), inBlocks(3, thought, sentence)),
			want:  `SC505 warning P.2 see P.3`,
		},
		{
			name: "one turn was made by a model that nobody knows yet", profile: "anthropic", tree: repairedBefore,
			tweak: all(of("claude-sonnet-4-5"), madeBy("claude-opus-6"), inBlocks(3, thought, sentence)),
			want:  `SC505 warning P.2 see P.3`,
		},
		{name: "the thinking stands before the change", profile: "anthropic", tree: repairedBefore, tweak: inBlocks(1, thought, aCall)},
		{name: "unsigned thinking is bound to nothing", profile: "anthropic", tree: repairedBefore, tweak: inBlocks(3, unmarked, sentence)},
		{
			name: "another provider's thinking is bound to nothing", profile: "anthropic", tree: repairedBefore,
			tweak: all(madeBy("gemini-3-pro"), inBlocks(3, thought, sentence)),
			want:  `SC504 warning P.3`,
		},
		{
			name: "a runtime's own placeholder was there from the start", profile: "anthropic", tweak: inBlocks(3, thought, sentence),
			tree: strings.Replace(repairedBefore, " synthetic", "", 1),
		},
		{
			name: "a change behind the last thinking is not named", profile: "anthropic", tweak: inBlocks(3, thought, sentence),
			tree: repairedBefore + `
  root c2()
  root <c2~ synthetic
  user`,
			want: `SC505 warning P.2 see P.3`,
		},
	})
}

// TestOldModelsBindNothing: only a Claude of a known older version lowers the
// finding; every other may bind its thinking.
func TestOldModelsBindNothing(t *testing.T) {
	for model, want := range map[string]rules.Severity{
		"claude-2.1":                          rules.Info,
		"claude-3-7-sonnet-20250219":          rules.Info,
		"claude-sonnet-4-20250514":            rules.Info,
		"anthropic/claude-opus-4.8":           rules.Info,
		"claude-haiku-5":                      rules.Info,
		"claude-sonnet-5-20260401":            rules.Info,
		"claude-opus-5-4@20260601":            rules.Info,
		"claude-fable-5":                      rules.Info,
		"claude-opus-5-5":                     rules.Warning,
		"claude-mythos-5-2-20260901":          rules.Warning,
		"claude-opus-5-6":                     rules.Warning,
		"claude-sonnet-5-10":                  rules.Warning,
		"claude-opus-6":                       rules.Warning,
		"claude-fable-5-3":                    rules.Warning,
		"claude-novel-1":                      rules.Warning,
		"a-name-that-somebody-gave-the-model": rules.Warning,
	} {
		trees := treetest.Trees(t, repairedBefore)
		all(func(tree *session.Tree) { tree.Root().Model = model }, inBlocks(3, thought, sentence))(trees[0])
		found := findFor(&session.Store{}, trees, rules.Judge{Profiles: []*rules.Profile{rules.FindProfile("anthropic")}})
		if len(found) != 1 || found[0].Severity != want {
			t.Errorf("%s: want %s of\n%s", model, want, describe(trees, found))
		}
	}
}

// TestOnlyBoundThinkingIsRefused: the provider's words name the first block
// behind the change, and stand only where its model binds thinking.
func TestOnlyBoundThinkingIsRefused(t *testing.T) {
	for model, want := range map[string]string{
		"claude-opus-5-5":   "messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.",
		"claude-sonnet-4-5": "",
	} {
		trees := treetest.Trees(t, repairedBefore)
		all(madeBy(model), inBlocks(3, thought, sentence))(trees[0])
		found := findFor(&session.Store{}, trees, rules.Judge{Profiles: []*rules.Profile{rules.FindProfile("anthropic")}})
		if len(found) != 1 || !strings.HasPrefix(found[0].ProviderError, want) || (want == "") != (found[0].ProviderError == "") {
			t.Errorf("%s: want %q of\n%s", model, want, messages(found))
		}
	}
}
