package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC026HiddenRecord(t *testing.T) {
	off := "false"
	fault := session.Fault{Kind: session.HiddenRecord, Field: "line 2 /ephemeral", Default: &off, Detail: "line 2 is marked"}
	harmless := fault
	harmless.Harmless = true
	runCases(t, []ruleCase{
		{name: "of a message that would be sent", tree: quiet, tweak: ofSession(fault), want: "SC026 warning P\nkept: set P line 2 /ephemeral=false", says: "line 2 is marked"},
		{name: "of a sub-agent", tree: quiet, tweak: ofSession(harmless), want: "SC026 info P\nkept: set P line 2 /ephemeral=false"},
	})
}
