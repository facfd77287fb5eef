package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC009UnknownItemKind(t *testing.T) {
	fault := session.Fault{Kind: session.UnknownKind, Field: "check\x1b[2Jpoint"}
	role := session.Fault{Kind: session.UnknownKind, Field: "robot", Detail: "the message has a role that no provider knows"}
	runCases(t, []ruleCase{
		{
			name: "a kind outside the table, with control characters escaped", tree: quiet, tweak: ofItem(fault),
			want: `SC009 warning P.1`,
			says: `of kind "check\x1b[2Jpoint", which no known reader loads`,
		},
		{
			name: "what the adapter words itself", tree: quiet, tweak: ofItem(role),
			want: `SC009 warning P.1`,
			says: "a role that no provider knows",
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
