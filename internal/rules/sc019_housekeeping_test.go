package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC019Housekeeping(t *testing.T) {
	fault := session.Fault{Kind: session.Housekeeping, Detail: "430 MB of the file are free"}
	runCases(t, []ruleCase{
		{name: "of the store", tree: quiet, store: ofStore(fault), want: `SC019 info`, says: "430 MB"},
		{name: "of a session", tree: quiet, tweak: ofSession(fault), want: `SC019 info P`},
	})
}
