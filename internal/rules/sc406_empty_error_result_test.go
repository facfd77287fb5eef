package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC406EmptyErrorResult(t *testing.T) {
	const failed = `
P
  user
  root c1() c2()
  root <c1 <c2!
  root "done"`
	silent := func(tree *session.Tree) {
		r := &tree.Root().Items[2].Results[1]
		r.Text, r.Digest = "", 0
	}
	runCases(t, []ruleCase{
		{
			name: "an error without a word", tree: failed, profile: "bedrock", tweak: silent,
			want: `SC406 error P.2`,
			says: "the next request would contain 1 message with an error result without a text",
		},
		{name: "others do not mind", tree: failed, profile: "anthropic openai-chat generic", tweak: silent},
		{name: "an error with a text", tree: failed, profile: "bedrock"},
		{
			name: "a result that is no error may be empty", tree: failed, profile: "bedrock",
			tweak: func(tree *session.Tree) {
				silent(tree)
				tree.Root().Items[2].Results[1].IsError = false
			},
		},
		{
			name: "an error with an image", tree: failed, profile: "bedrock",
			tweak: func(tree *session.Tree) {
				silent(tree)
				tree.Root().Items[2].Blocks = []session.Block{
					{Kind: session.ResultBlock}, {Kind: session.ResultBlock, Nth: 1}, {Kind: session.MediaBlock, Name: "image"},
				}
			},
		},
		{
			name: "history reaches no provider",
			tree: failed + `
  summary "so far"
  user`,
			profile: "bedrock", tweak: silent,
		},
	})
}

func TestSC406NamesTheResult(t *testing.T) {
	tree := `
P
  user
  root c1() c2()
  root <c1 <c2!
  root "done"`
	found := findings(t, "bedrock", false, tree, func(tree *session.Tree) { tree.Root().Items[2].Results[1].Digest = 0 })
	const want = "The content field at messages.2.content.1.toolResult cannot be empty when status value is error."
	if len(found) != 1 || found[0].ProviderError != want {
		t.Errorf("want %q, got:\n%s%+v", want, messages(found), found)
	}
}
