package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC609NulCharacter(t *testing.T) {
	fault := session.Fault{Kind: session.NulCharacter, Field: "message"}
	runCases(t, []ruleCase{
		{
			name: "in a message", profile: "anthropic", tree: quiet, tweak: ofItem(fault), store: omits,
			want: "SC609 warning P.1\nkept with lossy: scrub P.1", says: "a text has the character U+0000. Some clients cut the request off there",
		},
		{name: "where no repair can write it", profile: "bedrock", tree: quiet, tweak: ofItem(fault), want: "SC609 warning P.1"},
		{
			name: "history that a summary covers", profile: "anthropic", tweak: ofItem(fault), store: omits,
			tree: `
P
  user
  root "hi"
  summary "so far"
  user`,
			want: `SC609 info P.1`, says: "A summary covers this part of the session, so it is not sent to a model again",
		},
		{name: "a provider that takes it", profile: "gemini", tree: quiet, tweak: ofItem(fault)},
	})
}
