package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC008BadTimestamp(t *testing.T) {
	fault := session.Fault{Kind: session.BadTime, Field: "created_at", Detail: "it is not RFC 3339", Default: text("2026-02-03T10:15:07+01:00")}
	unset := fault
	unset.Default = nil
	runCases(t, []ruleCase{
		{
			name: "a session's time, which its first message can give", tree: quiet, tweak: ofSession(fault),
			want: `
				SC008 warning P
				kept: set P created_at=2026-02-03T10:15:07+01:00`,
			says: "created_at is not a usable time",
		},
		{name: "one that nothing can give", tree: quiet, tweak: ofItem(unset), want: `SC008 warning P.1`},
	})
}
