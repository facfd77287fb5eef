package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC308UnknownBlock(t *testing.T) {
	role := session.Fault{Kind: session.UnknownPart, Field: "ro\x1b[2Jbot"}
	worded := session.Fault{Kind: session.UnknownPart, Field: "robot", Detail: "the message has a role that no provider knows"}
	parts := func(tree *session.Tree) {
		for _, i := range []int{1, 3} {
			tree.Root().Items[i].Blocks = []session.Block{{Kind: session.TextBlock}, {Kind: session.UnknownBlock, Name: "hologram"}}
		}
	}
	runCases(t, []ruleCase{
		{
			name: "a role, with control characters escaped", tree: quiet, tweak: ofItem(role),
			want: `SC308 warning P.1`,
			says: `"ro\x1b[2Jbot" is an unknown role or part of a message, so the model may never see it`,
		},
		{
			name: "what the adapter words itself", tree: quiet, tweak: ofItem(worded),
			want: `SC308 warning P.1`,
			says: "a role that no provider knows",
		},
		{
			name: "parts of messages, all in one finding",
			tree: `
P
  user
  root "a"
  user
  root "b"`,
			tweak: parts,
			want:  `SC308 warning P.1,3`,
			says:  `2 messages have parts of an unknown type ("hologram"), which the model may never see`,
		},
		{
			name: "a part that a fault tells of is not told twice",
			tree: quiet,
			tweak: func(tree *session.Tree) {
				tree.Root().Items[1].Blocks = []session.Block{{Kind: session.UnknownBlock, Name: "robot"}}
				ofItem(worded)(tree)
			},
			want: `SC308 warning P.1`,
		},
		{
			name: "every type is named once",
			tree: quiet,
			tweak: inBlocks(1, session.Block{Kind: session.UnknownBlock, Name: "b"},
				session.Block{Kind: session.UnknownBlock, Name: "a"}, session.Block{Kind: session.UnknownBlock, Name: "b"}),
			want: `SC308 warning P.1`,
			says: `1 message has parts of an unknown type ("b" and "a"), which the model may never see`,
		},
		{
			name: "the known parts are none",
			tree: quiet,
			tweak: func(tree *session.Tree) {
				for kind := session.TextBlock; kind < session.UnknownBlock; kind++ {
					tree.Root().Items[1].Blocks = append(tree.Root().Items[1].Blocks, session.Block{Kind: kind})
				}
			},
		},
	})
}
