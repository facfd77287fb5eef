package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// refusedBy is what a profile refuses of a tree's root: "calls 1.0 results 3.0 4.1*",
// with a star where the call is answered already.
func refusedBy(tree *session.Tree, profile string) string {
	pass := rules.NewPass(&session.Store{}, tree, rules.Judge{}, nil)
	refused := pass.Subjects[0].RefusedBy(rules.FindProfile(profile))
	var words []string
	add := func(what string, list []pairing.Occurrence) {
		if len(list) > 0 {
			words = append(words, what)
		}
		for _, at := range list {
			words = append(words, fmt.Sprintf("%d.%d", at.Item, at.Nth)+map[bool]string{true: "*"}[refused.Repeated[at]])
		}
	}
	add("calls", refused.Calls)
	add("results", refused.Results)
	return strings.Join(words, " ")
}

func TestWhatIsRefused(t *testing.T) {
	const all = "anthropic gemini openai-chat openai-responses"
	type byProfile map[string]string
	for _, tc := range []struct {
		name, tree string
		tweak      func(*session.Tree)
		want       byProfile // by the profiles of which it is true
	}{
		{"all is well", "root A() B()\n  root <B\n  root <A\n  user", nil, byProfile{all: ""}},
		{"no result", "root A() B()\n  root <B\n  user", nil, byProfile{all: "calls 1.0"}},
		{"a late one", "root A()\n  user\n  root <A", nil, byProfile{"anthropic gemini openai-chat": "calls 1.0 results 3.0", "openai-responses": ""}},
		{"an early one", "root <A\n  root A()\n  user", nil, byProfile{all: "calls 2.0 results 1.0"}},
		{"nobody's", "root <X\n  user", nil, byProfile{all: "results 1.0"}},
		{"a second one", "root A()\n  root <A\n  root <A", nil, byProfile{all: "results 3.0*"}},
		{
			"a stand-in answers, and the real one is too much", "root A()\n  root <A~\n  user\n  root <A", nil,
			byProfile{"anthropic gemini openai-chat": "results 4.0", "openai-responses": "results 4.0*"},
		},
		{"an id used again is the nearest call's", "root A()\n  user\n  root A()\n  root <A", nil, byProfile{all: "calls 1.0"}},
		{"an id twice in one message", "root A() A()\n  root <A\n  user", nil, byProfile{all: "calls 1.1"}},
		{
			"a system message parts where it is a message", "root A()\n  system\n  root <A", nil,
			byProfile{"anthropic gemini openai-responses": "", "openai-chat": "calls 1.0 results 3.0"},
		},
		{"an empty message is none", "root A()\n  root blank\n  root <A", nil, byProfile{all: ""}},
		{"a result within its call's message", "root A() <A\n  user", inAssistant(1), byProfile{"anthropic bedrock": "calls 1.0", "gemini openai-chat openai-responses": ""}},
		{"a result within a later message", "root A()\n  root <A\n  user", inAssistant(2), byProfile{"anthropic bedrock": "calls 1.0", "gemini openai-chat openai-responses": ""}},
		{
			"one within the message besides a stand-in in its place", "root A() <A\n  root <A~\n  user", inAssistant(1),
			byProfile{"anthropic bedrock": "results 1.0", "gemini openai-chat openai-responses": "results 2.0*"},
		},
		{"nobody's within a message", "root \"so\" <X\n  user", inAssistant(1), byProfile{all: "results 1.0"}},
		{"a lone result without an id", "root A()\n  root <\n  user", nil, byProfile{all: ""}},
		{"what the provider ran", "root A() <A\n  user", changes(inAssistant(1), byServer(1)), byProfile{all: ""}},
		{"results in a message of the user", "root A()\n  root <A\n  user", inUserItems(2), byProfile{all: ""}},
		{"history", "root A()\n  summary \"so far\"\n  root <A", nil, byProfile{all: "results 3.0"}},
	} {
		for profiles, want := range tc.want {
			for profile := range strings.FieldsSeq(profiles) {
				t.Run(tc.name+" for "+profile, func(t *testing.T) {
					tree := treetest.Tree(t, "P\n  user\n  "+tc.tree)
					if tc.tweak != nil {
						tc.tweak(tree)
					}
					if got := refusedBy(tree, profile); got != want {
						t.Errorf("got %q, want %q", got, want)
					}
				})
			}
		}
	}
}
