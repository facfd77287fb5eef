package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// Helpers for the rules about the parts of messages, for which the notation of
// trees has no words.

// inBlocks gives an item of the root session its blocks.
func inBlocks(item int, blocks ...session.Block) func(*session.Tree) {
	return func(tree *session.Tree) { tree.Root().Items[item].Blocks = blocks }
}

// madeBy names the model of every item of the root session that an agent said.
func madeBy(model string) func(*session.Tree) {
	return func(tree *session.Tree) {
		for i := range tree.Root().Items {
			if it := &tree.Root().Items[i]; it.Role == session.Assistant {
				it.Own().Model = model
			}
		}
	}
}

// thinking says whether the root session thinks.
func thinking(state session.Tristate) func(*session.Tree) {
	return func(tree *session.Tree) { tree.Root().Thinking = state }
}

// named gives every result the name of a tool, as Gemini wants it.
func named(tree *session.Tree) {
	for i := range tree.Root().Items {
		for n := range tree.Root().Items[i].Results {
			tree.Root().Items[i].Results[n].Name = "shell"
		}
	}
}

// all makes several changes.
func all(tweaks ...func(*session.Tree)) func(*session.Tree) {
	return func(tree *session.Tree) {
		for _, tweak := range tweaks {
			tweak(tree)
		}
	}
}

// The blocks that tests use.
var (
	thought   = session.Block{Kind: session.ReasoningBlock, Text: session.DigestOf("hm"), Signature: session.DigestOf("s1")}
	unsigned  = session.Block{Kind: session.ReasoningBlock, Text: session.DigestOf("hm"), Unsigned: true}
	aCall     = session.Block{Kind: session.CallBlock}
	bareCall  = session.Block{Kind: session.CallBlock, Unsigned: true}
	doneCall  = session.Block{Kind: session.CallBlock, Signature: session.DigestOf("s2")}
	unmarked  = session.Block{Kind: session.ReasoningBlock, Text: session.DigestOf("mh")} // no place for a signature
	sentence  = session.Block{Kind: session.TextBlock}
	picture   = session.Block{Kind: session.MediaBlock, Name: "image", Width: 100, Height: 80}
	cacheMark = session.Block{Kind: session.TextBlock, Cached: true}
)

// copies repeats a block.
func copies(n int, b session.Block) []session.Block {
	var list []session.Block
	for range n {
		list = append(list, b)
	}
	return list
}

// oneStep is a call with its result, and the last thing said.
const oneStep = `
P
  user
  root c1()
  root <c1`

// answered is the step with what was said of it.
const answered = oneStep + `
  root "done"`

// TestWhatIsAnsweredAndWhatIsSent: the provider's words with the place of the
// first block, and what an adapter sends instead.
func TestWhatIsAnsweredAndWhatIsSent(t *testing.T) {
	rs := session.Block{Kind: session.ReasoningBlock, ID: "rs_1"}
	large := session.Block{Kind: session.MediaBlock, Name: "image", Width: 9000, Height: 10}
	for _, tc := range []struct {
		rule, tree, profile string
		tweak               func(*session.Tree)
		answer, sent        string
	}{
		{
			rule: "SC501", tree: oneStep, profile: "anthropic", tweak: thinking(session.Yes),
			answer: "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. " +
				"When `thinking` is enabled, a final `assistant` message must start with a thinking block",
		},
		{
			rule: "SC502", tree: oneStep, profile: "anthropic", tweak: inBlocks(1, sentence, unsigned, aCall),
			answer: "messages.1.content.1: Invalid `signature` in `thinking` block", sent: "the turns without the unsigned thinking",
		},
		{
			rule: "SC504", tree: oneStep, profile: "anthropic", tweak: all(inBlocks(1, thought, aCall), madeBy("gemini-3-pro")),
			answer: "messages.1.content.0: Invalid `signature` in `thinking` block", sent: "the turns without the foreign thinking",
		},
		{
			rule: "SC504", tree: oneStep, profile: "gemini", tweak: all(inBlocks(1, doneCall), madeBy("claude-sonnet-4-5"), named),
			sent: "the sentinel skip_thought_signature_validator in place of the foreign signature",
		},
		{
			rule: "SC506", tree: oneStep, profile: "gemini", tweak: all(inBlocks(1, bareCall), named),
			answer: "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly",
			sent:   "the sentinel skip_thought_signature_validator in place of the missing signature",
		},
		{
			rule: "SC507", tree: "P\n  user\n  root blank", profile: "openai-responses", tweak: inBlocks(1, rs),
			answer: "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
		},
		{
			rule: "SC508", tree: oneStep, profile: "openai-responses",
			tweak:  all(inBlocks(1, rs, aCall), func(tree *session.Tree) { tree.Root().Unstored = true }),
			answer: "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
			sent:   "the items without the server's ids",
		},
		{
			rule: "SC509", tree: oneStep, profile: "deepseek",
			answer: "Missing `reasoning_content` field in the assistant message at message index 1", sent: "an empty reasoning_content in these turns",
		},
		{
			rule: "SC601", tree: "P\n  user", profile: "anthropic", tweak: inBlocks(0, sentence, large),
			answer: "messages.0.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels",
			sent:   "the images scaled down",
		},
		{
			rule: "SC602", tree: "P\n  user", profile: "anthropic", tweak: inBlocks(0, copies(103, picture)...),
			sent: "a note in place of the oldest 3 images",
		},
		{
			rule: "SC603", tree: oneStep, profile: "openai-chat", tweak: inBlocks(2, picture),
			answer: "Invalid 'messages[2]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.",
			sent:   "the media in a user message after all results of the turn",
		},
		{
			rule: "SC604", tree: "P\n  user", profile: "anthropic", tweak: func(tree *session.Tree) { tree.Root().Items[0].Size = 40 << 20 },
			answer: "413 request_too_large: Request exceeds the maximum size",
		},
		{
			rule: "SC605", tree: "P\n  user", profile: "anthropic", tweak: inBlocks(0, copies(5, cacheMark)...),
			answer: "A maximum of 4 blocks with cache_control may be provided. Found 5.", sent: "only the last 4 marks",
		},
	} {
		t.Run(tc.rule+" for "+tc.profile, func(t *testing.T) {
			trees := treetest.Trees(t, tc.tree)
			if tc.tweak != nil {
				tc.tweak(trees[0])
			}
			c := ruleCase{profile: tc.profile, asIs: true}
			for _, f := range findFor(&session.Store{Writer: session.WriterDead}, trees, c.judge()) {
				if f.Rule.ID != tc.rule {
					continue
				}
				if f.ProviderError != tc.answer || f.Sent != tc.sent || f.Profile.Name != tc.profile || f.Rule.Wire && tc.sent == "" {
					t.Errorf("for %s:\n%s\nnot\n%s\nand sent is %q, not %q", f.Profile.Name, f.ProviderError, tc.answer, f.Sent, tc.sent)
				}
				return
			}
			t.Error("it finds nothing")
		})
	}
}
