package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC007BadMetadataJSON(t *testing.T) {
	fault := session.Fault{Kind: session.BadMetadata, Field: "attributes", Detail: "unexpected end of JSON input", Default: text("{}")}
	runCases(t, []ruleCase{
		{
			name: "a column that does not parse", tree: quiet, tweak: ofSession(fault),
			want: `
				SC007 error P
				kept: set P attributes={}`,
			says: "attributes does not parse: unexpected end of JSON input",
		},
	})
}
