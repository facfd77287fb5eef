package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC018OrphanRecord(t *testing.T) {
	fault := session.Fault{Kind: session.OrphanRecord, Detail: `4 events are of the session "s1", which does not exist`}
	runCases(t, []ruleCase{
		{name: "of the store: nothing is repaired", tree: quiet, store: ofStore(fault), want: `SC018 warning`, says: "4 events"},
		{name: "of a session", tree: quiet, tweak: ofSession(fault), want: `SC018 warning P`},
	})
}
