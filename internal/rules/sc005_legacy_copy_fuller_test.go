package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC005LegacyCopyFuller(t *testing.T) {
	fault := session.Fault{Kind: session.LegacyFuller, Field: "messages", Detail: "the column holds 4 items, the table 2"}
	runCases(t, []ruleCase{
		{name: "a column with more items", tree: quiet, tweak: ofSession(fault), want: `SC005 error P`, says: "4 items"},
	})
}
