package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC002SchemaUnknown(t *testing.T) {
	fault := session.Fault{Kind: session.SchemaUnknown, Detail: "migration 030 is recorded and not known"}
	harmless := fault
	harmless.Harmless = true
	runCases(t, []ruleCase{
		{name: "a schema newer than known", tree: quiet, store: ofStore(fault), want: `SC002 warning`, says: "migration 030"},
		{name: "that keeps no repair away", tree: quiet, store: ofStore(harmless), want: `SC002 info`, says: "migration 030"},
	})
}
