package rules_test

import "testing"

func TestSC605CacheMarks(t *testing.T) {
	marked := `
P
  user
  root "one"
  user
  root "two"
  user`
	runCases(t, []ruleCase{
		{
			name: "all but the last four are named", profile: "anthropic", tree: marked,
			tweak: all(inBlocks(0, cacheMark), inBlocks(1, cacheMark), inBlocks(2, sentence), inBlocks(3, cacheMark, cacheMark), inBlocks(4, cacheMark, cacheMark)),
			want:  `SC605 warning P.0,1`, says: "the next request contains 6 prompt cache marks, but the provider accepts 4",
		},
		{name: "as many as it takes", profile: "anthropic", tree: marked, tweak: inBlocks(0, copies(4, cacheMark)...)},
		{name: "another provider", profile: "bedrock", tree: marked, tweak: inBlocks(0, copies(5, cacheMark)...)},
	})
}
