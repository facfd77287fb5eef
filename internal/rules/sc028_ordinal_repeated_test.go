package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC028OrdinalRepeated(t *testing.T) {
	from := "anew from line 30"
	one := session.Fault{Kind: session.SharedOrdinal, Detail: "line 30 has the ordinal 28, and the line before it 28", Field: "ordinal", Default: &from}
	told := one
	told.Default = nil
	runCases(t, []ruleCase{
		{name: "one line", tree: quiet, tweak: ofSession(one), want: "SC028 warning P\n  lossless: set P ordinal=anew from line 30", says: "line 30 has the ordinal 28"},
		{name: "nothing that can be set", tree: quiet, tweak: ofSession(told), want: "SC028 warning P", says: "line 30"},
	})
}
