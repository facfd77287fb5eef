package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC012EmptySummary(t *testing.T) {
	empty := session.Fault{Kind: session.BadSummary, Field: "summary_text", Detail: "the summary has no text"}
	usage := session.Fault{Kind: session.BadSummary, Field: "usage_json", Detail: "the usage does not parse", Default: text("")}
	runCases(t, []ruleCase{
		{name: "an empty summary cannot be filled", tree: quiet, tweak: ofItem(empty), want: `SC012 warning P.1`, says: "no text"},
		{
			name: "usage that does not parse is emptied", tree: quiet, tweak: ofItem(usage),
			want: `
				SC012 warning P.1
				kept: set P.1 usage_json=`,
		},
		{
			name: "an older summary without usage is normal",
			tree: `
P
  user
  summary "so far"`,
		},
	})
}
