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
