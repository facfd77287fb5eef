package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC402BlankBlock(t *testing.T) {
	const called = `
P
  user
  root "  " c1()
  root <c1
  root "done"`
	blankText := flagged(1, session.BlankText)
	runCases(t, []ruleCase{
		{
			name: "beside calls", tree: called, profile: "anthropic", tweak: blankText,
			want: `
				SC402 error P.1
				kept: set P.1 text=`,
			says: "the next request would contain 1 message with a blank text beside other content",
		},
		{
			name: "a warning where it is not known who refuses it", tree: called, profile: "generic", tweak: blankText,
			want: `
				SC402 warning P.1
				kept: set P.1 text=`,
		},
		{
			name: "others accept it: the repair is the same, the severity is not", tree: called, profile: "openai-chat gemini", tweak: blankText,
			want: `
				SC402 info P.1
				kept: set P.1 text=`,
		},
		{
			name: "the one who minds most speaks, and its repair is made", tree: called, profile: "openai-chat bedrock", tweak: blankText,
			want: `
				SC402 error P.1
				kept: set P.1 text=`,
		},
		{
			name: "beside reasoning, which keeps the message",
			tree: `
P
  user
  root "  " blank
  user`,
			profile: "kimi",
			tweak: func(tree *session.Tree) {
				blankText(tree)
				holding(1, session.ReasoningBlock)(tree)
			},
			want: `
				SC402 error P.1
				kept: set P.1 text=`,
		},
		{
			name: "a blank part beside a text stays, because a repair knows only the whole text",
			tree: `
P
  user
  root "ok"
  user`,
			profile: "kimi",
			tweak: func(tree *session.Tree) {
				tree.Root().Items[1].Blocks = []session.Block{{Kind: session.TextBlock, Blank: true}, {Kind: session.TextBlock}}
			},
			want: `SC402 error P.1`,
		},
		{
			name: "a message of white space alone is another rule's",
			tree: `
P
  user
  root "  " blank
  user`,
			profile: "kimi", tweak: blankText,
			want: `
				SC401 error P.1
				kept: quarantine P.1`,
		},
		{
			name: "history is an info and stays",
			tree: `
P
  user
  root "  " c1()
  root <c1
  summary "so far"
  user`,
			profile: "kimi", tweak: blankText,
			want: `SC402 info P.1`,
			says: "A summary covers this part of the session, so it is not sent to a model again",
		},
		{name: "a text of words", tree: called, profile: "anthropic"},
	})
}

// TestSC402NamesTheBlock: its place among the parts of the message.
func TestSC402NamesTheBlock(t *testing.T) {
	tree := `
P
  user
  root "ok"
  user`
	found := findings(t, "bedrock", false, tree, func(tree *session.Tree) {
		tree.Root().Items[1].Blocks = []session.Block{{Kind: session.TextBlock}, {Kind: session.TextBlock, Blank: true}}
	})
	const want = "The text field in the ContentBlock object at messages.1.content.1 is blank. Add text to the text field, and try again."
	if len(found) != 1 || found[0].ProviderError != want {
		t.Errorf("want %q, got:\n%s%+v", want, messages(found), found)
	}
}
