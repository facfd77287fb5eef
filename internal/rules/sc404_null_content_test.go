package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC404NullContent(t *testing.T) {
	const called = `
P
  user
  root c1()
  root <c1
  root "done"`
	null := func(tree *session.Tree) {
		tree.Root().Thinking = session.No // so that no reasoning is missing
		it := &tree.Root().Items[2]
		it.Results[0].Null, it.Results[0].Text, it.Results[0].Digest, it.Text = true, "", 0, 0
	}
	runCases(t, []ruleCase{
		{
			name: "a result", tree: called, profile: "openai-chat generic", tweak: null,
			want: `SC404 error P.2`,
			says: "1 message with null",
		},
		{name: "a warning where it is not known", tree: called, profile: "kimi", tweak: null, want: `SC404 warning P.2`},
		{name: "others have no null", tree: called, profile: "anthropic openai-responses", tweak: null},
		{name: "beside calls it is the usual form", tree: called, profile: "openai-chat generic", tweak: flagged(1, session.NullText)},
		{
			name: "beside reasoning it is not",
			tree: `
P
  user
  root blank
  user`,
			profile: "openai-chat",
			tweak: func(tree *session.Tree) {
				flagged(1, session.NullText)(tree)
				holding(1, session.ReasoningBlock)(tree)
			},
			want: `SC404 error P.1`,
		},
		{
			name: "a message without anything else is empty",
			tree: `
P
  user
  root blank
  user`,
			profile: "openai-chat", tweak: flagged(1, session.NullText),
			want: `
				SC401 error P.1
				kept: quarantine P.1`,
		},
		{
			name: "history reaches no provider",
			tree: called + `
  summary "so far"
  user`,
			profile: "openai-chat", tweak: null,
		},
	})
}
