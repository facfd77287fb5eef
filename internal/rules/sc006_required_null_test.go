package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC006RequiredNull(t *testing.T) {
	fault := session.Fault{Kind: session.RequiredNull, Field: "title", Detail: "No session can be listed.", Default: text("")}
	unset := fault
	unset.Field, unset.Default = "created_at", nil
	runCases(t, []ruleCase{
		{
			name: "a column with a documented default", tree: quiet, tweak: ofSession(fault),
			want: `
				SC006 error P
				lossless: set P title=`,
			says: "title is NULL",
		},
		{name: "one whose value nobody knows", tree: quiet, tweak: ofSession(unset), want: `SC006 error P`},
		{
			name: "a column of an item", tree: quiet, tweak: ofItem(fault),
			want: `
				SC006 error P.1
				lossless: set P.1 title=`,
		},
	})
}
