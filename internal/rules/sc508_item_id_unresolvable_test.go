package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC508ItemIDUnresolvable(t *testing.T) {
	unstored := func(tree *session.Tree) { tree.Root().Unstored = true }
	ids := inBlocks(1, session.Block{Kind: session.ReasoningBlock, ID: "rs_1"}, session.Block{Kind: session.CallBlock, ID: "fc_1", With: "rs_1"})
	said := inBlocks(3, session.Block{Kind: session.TextBlock, ID: "msg_1"})
	runCases(t, []ruleCase{
		{
			name: "one finding names all", profile: "openai-responses", tree: answered, tweak: all(unstored, ids, said),
			want: `SC508 warning P.1,3`, says: "3 parts have an id of the provider's server that the server cannot look up. The server was told to store nothing",
		},
		{name: "the server keeps them", profile: "openai-responses", tree: answered, tweak: all(ids, said)},
		{name: "no ids", profile: "openai-responses", tree: answered, tweak: unstored},
		{name: "another provider", profile: "openai-chat", tree: answered, tweak: all(unstored, ids)},
	})
}
