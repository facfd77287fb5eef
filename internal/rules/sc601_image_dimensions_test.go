package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC601ImageDimensions(t *testing.T) {
	sized := func(width, height int) session.Block {
		return session.Block{Kind: session.MediaBlock, Name: "image", Width: width, Height: height}
	}
	three := `
P
  user
  root "hm"
  user
  root "so"
  user`
	runCases(t, []ruleCase{
		{
			name: "too wide and too high", profile: "anthropic", tree: three, tweak: all(inBlocks(0, sized(8001, 10)), inBlocks(2, sized(10, 9000), sized(8000, 8000))),
			want: `SC601 warning P.0,2`, says: "2 images are larger than 8000 pixels on a side, the limit of the provider",
		},
		{name: "the largest that it takes", profile: "anthropic", tree: three, tweak: inBlocks(0, sized(8000, 8000))},
		{
			name: "many images make the limit lower", profile: "anthropic", tree: three, tweak: all(inBlocks(0, sized(2001, 10)), inBlocks(2, copies(20, picture)...)),
			want: `SC601 warning P.0`, says: "1 image is larger than 2000 pixels on a side, the limit of the provider for requests with more than 20 images",
		},
		{name: "twenty are not many", profile: "anthropic", tree: three, tweak: all(inBlocks(0, sized(2001, 10)), inBlocks(2, copies(19, picture)...))},
		{name: "a size that nobody knows", profile: "anthropic", tree: three, tweak: inBlocks(0, sized(0, 0))},
		{
			name: "a document is no image", profile: "anthropic", tree: three,
			tweak: inBlocks(0, session.Block{Kind: session.MediaBlock, Name: "document", Width: 9000, Height: 9000}),
		},
		{name: "another provider", profile: "openai-responses", tree: three, tweak: inBlocks(0, sized(9000, 9000))},
	})
}
