package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

func TestSC503ThinkingEdited(t *testing.T) {
	emptied, other := thought, thought
	emptied.Text, emptied.Empty = 0, true
	other.Text = session.DigestOf("something else")
	two := `
P
  user
  root "one"
  user
  root "two"`
	const refusal = "\n  user\n  root refused(API Error: 400 messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.)"
	longer := other
	longer.Signature = session.DigestOf("another signature")
	inChild := func(blocks ...session.Block) func(*session.Tree) {
		return func(tree *session.Tree) { tree.Sessions[1].Items[2].Blocks = blocks }
	}
	runCases(t, []ruleCase{
		{
			name: "two texts under one signature", profile: "anthropic", tree: two, tweak: all(inBlocks(1, thought), inBlocks(3, other)),
			want: `SC503 error P.1,3`, says: "2 signed thinking blocks differ from another copy with the same signature",
		},
		{name: "the same text twice", profile: "anthropic", tree: two, tweak: all(inBlocks(1, thought), inBlocks(3, thought))},
		{
			name: "the emptied one is the edited one", profile: "anthropic", tree: two, tweak: all(inBlocks(1, thought), inBlocks(3, emptied)),
			want: `SC503 error P.3 see P.1`,
		},
		{name: "thinking that never had a text", profile: "anthropic", tree: two, tweak: inBlocks(3, emptied)},
		{
			name: "an older model, of which another block has a text", profile: "anthropic", tree: two, store: omits,
			tweak: all(inBlocks(1, emptied, sentence), inBlocks(3, longer), madeBy("claude-opus-4-5")),
			want:  "SC503 warning P.1\nkept with lossy: omit P.1/blocks/0", says: "1 signed thinking block has no text. Another one of the same model has one",
		},
		{
			name: "a newer model, which omits texts by itself", profile: "anthropic", tree: two,
			tweak: all(inBlocks(1, emptied), inBlocks(3, longer), madeBy("claude-opus-4-8")),
		},
		{
			name: "what was refused, of a newer model: the latest answer's", profile: "anthropic", store: omits, tree: two + refusal,
			tweak: all(inBlocks(1, emptied, sentence), inBlocks(3, emptied), madeBy("claude-opus-4-8")),
			want:  "SC309 error P.5\nSC503 error P.3\nkept with lossy: quarantine P.3",
		},
		{
			name: "what was refused, where the latest answer has none", profile: "anthropic", tree: two + refusal,
			tweak: all(inBlocks(1, emptied, sentence), madeBy("claude-opus-4-8")), want: "SC309 error P.5\nSC503 error P.1",
		},
		{
			name: "the original is in the child", profile: "anthropic", tweak: all(inBlocks(1, emptied, aCall), inChild(thought, sentence)),
			tree: `
P
  user
  root T1>worker(do it)
  sub C
  root <T1
C<P
  system(do it)
  user implicit
  worker "done"`,
			want: `SC503 error P.1 see C.2`,
		},
		{
			name: "signed calls are not thinking", profile: "anthropic", tree: oneStep,
			tweak: inBlocks(1, thought, session.Block{Kind: session.CallBlock, Signature: thought.Signature}),
		},
		{
			name: "thoughts without a signature", profile: "anthropic", tree: two,
			tweak: all(inBlocks(1, session.Block{Kind: session.ReasoningBlock, Text: session.DigestOf("hm")}), inBlocks(3, unmarked)),
		},
		{name: "another provider", profile: "gemini", tree: two, tweak: all(inBlocks(1, thought), inBlocks(3, emptied))},
	})
}

// TestTheAnswerToEditedThinking depends on where it stands.
func TestTheAnswerToEditedThinking(t *testing.T) {
	emptied := thought
	emptied.Text = 0
	for name, tc := range map[string]struct {
		tweak func(*session.Tree)
		want  string
	}{
		"in the latest answer": {all(inBlocks(1, thought), inBlocks(3, emptied)),
			"messages.3.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. " +
				"These blocks must remain as they were in the original response."},
		"further up": {all(inBlocks(1, emptied), inBlocks(3, thought)), "messages.1.content.0: Invalid `signature` in `thinking` block"},
	} {
		t.Run(name, func(t *testing.T) {
			trees := treetest.Trees(t, "P\n  user\n  root \"one\"\n  user\n  root \"two\"")
			tc.tweak(trees[0])
			found := findFor(&session.Store{}, trees, rules.Judge{Profiles: []*rules.Profile{rules.FindProfile("anthropic")}})
			if len(found) != 1 || found[0].ProviderError != tc.want {
				t.Errorf("want %q of\n%s", tc.want, messages(found))
			}
		})
	}
}
