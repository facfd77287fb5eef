package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC004SetAsideBackup(t *testing.T) {
	fault := session.Fault{Kind: session.SetAsideBackup, Detail: "session.db.bak holds 3342 sessions that this store lacks"}
	told := fault
	told.Remedy = "copy its sessions: `sessctl export session.db.bak --output lost.ndjson`"
	runCases(t, []ruleCase{
		{name: "a backup with more sessions", tree: quiet, store: ofStore(fault), want: `SC004 warning`, says: "3342 sessions"},
		{name: "with the command that copies them", tree: quiet, store: ofStore(told), want: "SC004 warning\nmanual:"},
	})
}
