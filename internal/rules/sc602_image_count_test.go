package rules_test

import "testing"

func TestSC602ImageCount(t *testing.T) {
	screens := `
P
  user
  root c1()
  root <c1
  root "so"
  user`
	runCases(t, []ruleCase{
		{
			name: "the oldest are too many", profile: "anthropic", tree: screens, tweak: all(inBlocks(0, picture), inBlocks(2, picture), inBlocks(4, copies(100, picture)...)),
			want: `SC602 warning P.0,2`, says: "the next request contains 102 images, but the provider accepts 100",
		},
		{
			name: "in one message of Bedrock", profile: "bedrock", tree: screens, tweak: all(inBlocks(0, picture), inBlocks(2, copies(22, picture)...), inBlocks(4, copies(20, picture)...)),
			store: omits, want: "SC602 warning P.2\nkept with lossy: omit P.2/blocks/0; omit P.2/blocks/1",
			says: "a message of the next request contains 22 images, but the provider accepts 20 in one",
		},
		{name: "in several messages of Bedrock", profile: "bedrock", tree: screens, tweak: all(inBlocks(0, copies(20, picture)...), inBlocks(2, copies(20, picture)...))},
		{
			name: "OpenAI", profile: "openai-responses", tree: screens, tweak: inBlocks(0, copies(1501, picture)...),
			want: "SC602 warning P.0", says: "contains 1501 images, but the provider accepts 1500",
		},
		{name: "as many as Gemini takes", profile: "gemini", tree: screens, tweak: inBlocks(0, copies(3600, picture)...)},
		{name: "as many as it takes", profile: "anthropic", tree: screens, tweak: all(inBlocks(0, picture), inBlocks(4, copies(99, picture)...))},
		{name: "another provider", profile: "kimi", tree: quiet, tweak: inBlocks(0, copies(101, picture)...)},
		{
			name: "history that a summary covers", profile: "anthropic", tweak: all(inBlocks(0, copies(60, picture)...), inBlocks(2, copies(60, picture)...)),
			tree: `
P
  user
  summary "so far"
  user`,
		},
	})
}
