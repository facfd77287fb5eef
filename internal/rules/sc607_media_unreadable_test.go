package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// omits is a store from which blocks can leave.
func omits(s *session.Store) { s.Omits = true }

func TestSC607MediaUnreadable(t *testing.T) {
	image := func(label, is string) session.Block {
		return session.Block{Kind: session.MediaBlock, Name: "image", Media: label, Is: is, Bytes: 100}
	}
	cut := image("image/png", "image/png")
	cut.Broken = true
	left := image("image/svg+xml", "")
	left.Unsent = true
	inResult := image("image/svg+xml", "image/svg+xml")
	inResult.In = 1
	document := func(is string) session.Block {
		return session.Block{Kind: session.MediaBlock, Name: "document", Media: "application/pdf", Is: is, Bytes: 100}
	}
	const one = `
P
  user
  root "hm"
  user`
	for _, profile := range []string{"anthropic", "bedrock", "openai-responses"} {
		runCases(t, []ruleCase{{
			name: "a type that no provider takes, " + profile, profile: profile, tree: one, tweak: inBlocks(0, sentence, image("image/svg+xml", "")), store: omits,
			want: "SC607 error P.0\nkept with lossy: omit P.0/blocks/1", says: `the provider cannot read 1 attachment: the first is of the type "image/svg+xml", which the provider does not take`,
		}})
	}
	runCases(t, []ruleCase{
		{name: "in the result of a tool", profile: "anthropic", tree: oneStep, tweak: inBlocks(2, inResult, session.Block{Kind: session.ResultBlock}), want: "SC607 error P.2"},
		{name: "no base64", profile: "anthropic", tree: one, tweak: inBlocks(0, cut), want: "SC607 error P.0", says: "the first is not base64 of the standard alphabet"},
		{name: "a JPEG that is called a PNG", profile: "anthropic", tree: one, tweak: inBlocks(0, image("image/png", "image/jpeg"), image("image/png", "")),
			want: "SC607 error P.0", says: `2 attachments: the first is labelled "image/png" and begins as "image/jpeg"`},
		{name: "no image at all", profile: "anthropic", tree: one, tweak: inBlocks(0, image("image/gif", "")), want: "SC607 error P.0", says: "does not begin as one"},
		{name: "no PDF", profile: "anthropic", tree: one, tweak: inBlocks(0, document("")), want: "SC607 error P.0"},
		{name: "Gemini takes no GIF", profile: "gemini", tree: one, tweak: inBlocks(0, image("image/gif", "image/gif")), want: "SC607 warning P.0"},
		{name: "Gemini takes a photo of a phone", profile: "gemini", tree: one, tweak: inBlocks(0, image("image/heic", "image/heic"))},

		{name: "what it takes", profile: "anthropic", tree: one, tweak: inBlocks(0, image("image/png", "image/png"), image("image/webp", "image/webp"), document("application/pdf"))},
		{name: "one that the runtime leaves out", profile: "anthropic", tree: one, tweak: inBlocks(0, left)},
		{name: "a link", profile: "anthropic", tree: one, tweak: inBlocks(0, picture)},
		{name: "history", profile: "anthropic", tree: "P\n  user\n  summary \"so far\"\n  user", tweak: inBlocks(0, image("image/svg+xml", ""))},
		{name: "a provider of which nothing is known", profile: "mistral", tree: one, tweak: inBlocks(0, image("image/svg+xml", ""))},
	})
}
