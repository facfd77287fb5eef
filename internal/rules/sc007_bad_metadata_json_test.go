package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC007BadMetadataJSON(t *testing.T) {
	fault := session.Fault{Kind: session.BadMetadata, Field: "attributes", Detail: "unexpected end of JSON input", Default: text("{}")}
	place := session.Fault{Kind: session.BadMetadata, Field: session.FieldPosition, Detail: "the reader expects a whole number"}
	runCases(t, []ruleCase{
		{
			name: "a position that is no number", tree: quiet, tweak: ofItem(place),
			want: `
				SC007 error P.1
				kept: set P.1 position=1`,
		},
		{
			name: "a column that does not parse", tree: quiet, tweak: ofSession(fault),
			want: `
				SC007 error P
				kept: set P attributes={}`,
			says: "attributes cannot be parsed: unexpected end of JSON input",
		},
	})
}
