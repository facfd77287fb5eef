package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC010UndecodableRecord(t *testing.T) {
	fault := session.Fault{Kind: session.Undecodable, Field: "message_json", Detail: "unexpected end of JSON input"}
	runCases(t, []ruleCase{
		{
			name: "an item that does not decode", tree: quiet, tweak: ofItem(fault),
			want: `
				SC010 error P.1
				kept: quarantine P.1`,
			says: "message_json does not decode, so that the session fails to load: unexpected end of JSON input",
		},
		{name: "a record that belongs to no session", tree: quiet, store: ofStore(fault), want: `SC010 error`},
	})
}
