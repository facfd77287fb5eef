package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC003ForeignKeyViolation(t *testing.T) {
	fault := session.Fault{Kind: session.ForeignKey, Detail: "row 7 of session_items points to a session that does not exist"}
	runCases(t, []ruleCase{
		{name: "a row that points nowhere", tree: quiet, store: ofStore(fault), want: `SC003 error`, says: "row 7 of session_items"},
	})
}
