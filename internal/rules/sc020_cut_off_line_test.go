package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC020CutOffLine(t *testing.T) {
	fault := session.Fault{Kind: session.TornLine, Detail: "line 41, the last one, was cut off"}
	runCases(t, []ruleCase{
		{name: "of a session: nothing is repaired", tree: quiet, tweak: ofSession(fault), want: `SC020 warning P`, says: "line 41, the"},
	})
}
