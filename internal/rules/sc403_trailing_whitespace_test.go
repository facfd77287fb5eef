package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC403TrailingWhitespace(t *testing.T) {
	const partial = `
P
  user
  root "partial answer "`
	trailing := flagged(1, session.TrailingSpace)
	runCases(t, []ruleCase{
		{
			name: "sent as it is", tree: partial, profile: "anthropic", asIs: true, tweak: trailing,
			want: `
				SC303 warning P.1
				SC403 error P.1`,
		},
		{name: "the user's next message follows", tree: partial, profile: "anthropic", tweak: trailing},
		{name: "only Anthropic minds", tree: partial, profile: "openai-chat kimi", asIs: true, tweak: trailing},
		{
			name: "an answer in the middle",
			tree: `
P
  user
  root "partial answer "
  user`,
			profile: "anthropic", asIs: true, tweak: trailing,
		},
		{name: "an answer that ends with a word", tree: partial, profile: "anthropic", asIs: true, want: `SC303 warning P.1`},
	})
}
