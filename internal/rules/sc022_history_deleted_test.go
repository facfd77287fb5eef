package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC022HistoryDeleted(t *testing.T) {
	fault := session.Fault{Kind: session.HistoryDeleted, Detail: "41 writes are counted"}
	runCases(t, []ruleCase{
		{name: "of a session: nothing is repaired", tree: quiet, tweak: ofSession(fault), want: `SC022 warning P`, says: "cannot come back. 41 writes"},
	})
}
