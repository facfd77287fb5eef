package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC017MixedDialects(t *testing.T) {
	fault := session.Fault{Kind: session.MixedDialects, Detail: "3 events have keys like function_call, 1 has keys like functionCall"}
	runCases(t, []ruleCase{
		{name: "of a session", tree: quiet, tweak: ofSession(fault), want: `SC017 warning P`, says: "3 events have keys like function_call"},
	})
}
