package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC030UnnamedRecords(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "two messages that no branch names", tree: quiet, says: "no branch names these messages",
			tweak: func(tree *session.Tree) {
				s := tree.Root()
				s.Faults = append(s.Faults, session.Fault{Kind: session.Unnamed, Item: -1, Ref: s.Ref(), Count: 2, Detail: "no branch names these messages"})
			},
			want: `SC030 info P`,
		},
	})
}
