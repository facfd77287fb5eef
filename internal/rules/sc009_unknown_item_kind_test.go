package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC009UnknownItemKind(t *testing.T) {
	fault := session.Fault{Kind: session.UnknownKind, Field: "check\x1b[2Jpoint"}
	worded := session.Fault{Kind: session.UnknownKind, Field: "memo", Detail: "the item is a memo, which only newer versions load"}
	runCases(t, []ruleCase{
		{
			name: "a kind outside the table, with control characters escaped", tree: quiet, tweak: ofItem(fault),
			want: `SC009 warning P.1`,
			says: `the item is of the unknown kind "check\x1b[2Jpoint", which runtimes skip silently`,
		},
		{
			name: "what the adapter words itself", tree: quiet, tweak: ofItem(worded),
			want: `SC009 warning P.1`,
			says: "a memo, which only newer versions load",
		},
		{
			name: "kinds that reach no model are no finding by themselves",
			tree: `
P
  user
  other skipped
  summary "so far"`,
		},
	})
}
