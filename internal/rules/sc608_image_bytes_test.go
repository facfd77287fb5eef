package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC608ImageBytes(t *testing.T) {
	long := func(bytes int64) session.Block {
		return session.Block{Kind: session.MediaBlock, Name: "image", Media: "image/png", Is: "image/png", Bytes: bytes}
	}
	const two = `
P
  user
  root "hm"
  user`
	const most = 5 << 20
	runCases(t, []ruleCase{
		{
			name: "one is too long", profile: "anthropic", tree: two, tweak: inBlocks(0, long(most), long(most+4)), store: omits,
			want: "SC608 warning P.0\nkept with lossy: omit P.0/blocks/1",
			says: "1 image is longer than 5 MB in base64, the limit of the provider; the longest has 5.0 MB. Some models and places accept up to 10 MB",
		},
		{name: "longer than anybody takes", profile: "anthropic", tree: two, tweak: all(inBlocks(0, long(6<<20)), inBlocks(2, long(11<<20))), want: "SC608 error P.0,2"},
		{name: "Bedrock", profile: "bedrock", tree: two, tweak: inBlocks(0, long(most+4)), want: "SC608 warning P.0"},
		{name: "the longest that it takes", profile: "anthropic", tree: two, tweak: inBlocks(0, long(most))},
		{name: "a document is no image", profile: "anthropic", tree: two, tweak: inBlocks(0, session.Block{Kind: session.MediaBlock, Name: "document", Bytes: 6 << 20})},
		{name: "another provider", profile: "gemini", tree: two, tweak: inBlocks(0, long(most+4))},
	})
}
