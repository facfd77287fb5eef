package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC001StoreDamaged(t *testing.T) {
	fault := session.Fault{Kind: session.StoreDamaged, Detail: "the header says 1,153 pages, the file has 1,745"}
	runCases(t, []ruleCase{
		{name: "damage of the file", tree: quiet, store: ofStore(fault), want: `SC001 error`, says: "1,745"},
		{name: "damage that one session has", tree: quiet, tweak: ofSession(fault), want: `SC001 error P`},
	})
}
