package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC021BrokenChain(t *testing.T) {
	fault := session.Fault{Kind: session.BrokenChain, Detail: "line a names the parent b, which does not exist"}
	runCases(t, []ruleCase{
		{name: "of a session: nothing is repaired", tree: quiet, tweak: ofSession(fault), want: `SC021 info P`, says: "line a names"},
	})
}
