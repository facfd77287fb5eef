package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// TestWhatIsSaidAboutCalls: the provider's words with the place of the first
// call, and what an adapter sends instead.
func TestWhatIsSaidAboutCalls(t *testing.T) {
	odd := func(it *session.Item) { it.Calls[0].Form = session.ArgsValue }
	for _, tc := range []struct {
		rule, profile, turn, behind string
		tweak                       func(*session.Item)
		answer, sent                string
	}{
		{
			rule: "SC203", profile: "anthropic", turn: `root "let me see" a.b()`, behind: "root <a.b",
			answer: "messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
			sent:   `"a_b_2e7336dc" as the id of the first of these calls and of its result`,
		},
		{
			rule: "SC203", profile: "mistral", turn: "root a.b()", behind: "root <a.b",
			answer: "Tool call id was a.b but must be a-z, A-Z, 0-9, with a length of 9.",
			sent:   `"b0UEGNgVd" as the id of the first of these calls and of its result`,
		},
		{
			rule: "SC203", profile: "openai-chat", turn: "root call_012345678901234567890123456789012345678()", behind: "root <call_012345678901234567890123456789012345678",
			sent: `"call_01234567890123456789012345_1ed1f855" as the id of the first of these calls and of its result`,
		},
		{
			rule: "SC206", profile: "openai-chat", turn: "root c1() c2:fs/read()", behind: "root <c1 <c2",
			answer: "Invalid 'messages[1].tool_calls[1].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
			sent:   `"fs_read_96379919" as the name of the first of these tools, wherever it appears`,
		},
		{
			rule: "SC205", profile: "anthropic", turn: "root c1()", behind: "root <c1", tweak: odd,
			answer: "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
		},
		{
			rule: "SC201", profile: "anthropic", turn: "root c1() c1()", behind: "root <c1 <c1",
			answer: "messages.1.content.1: `tool_use` ids must be unique",
		},
	} {
		t.Run(tc.rule+" "+tc.profile, func(t *testing.T) {
			trees := treetest.Trees(t, "P\n  user\n  "+tc.turn+"\n  "+tc.behind+"\n  root \"ok\"")
			if tc.tweak != nil {
				tc.tweak(&trees[0].Root().Items[1])
			}
			for _, f := range findFor(&session.Store{}, trees, rules.Judge{Profiles: []*rules.Profile{rules.FindProfile(tc.profile)}}) {
				if f.Rule.ID != tc.rule {
					continue
				}
				if f.ProviderError != tc.answer || f.Sent != tc.sent {
					t.Errorf("answer %q\nwant   %q\nsent   %q\nwant   %q", f.ProviderError, tc.answer, f.Sent, tc.sent)
				}
				return
			}
			t.Error("not found")
		})
	}
}
