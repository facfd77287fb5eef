package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC405EmptyToolCalls(t *testing.T) {
	const answered = `
P
  user
  root "ok"
  user
  root "done"`
	both := func(tree *session.Tree) {
		flagged(1, session.EmptyCalls)(tree)
		flagged(3, session.EmptyCalls)(tree)
	}
	runCases(t, []ruleCase{
		{
			name: "all of a session in one finding", tree: answered, profile: "openai-chat deepseek", tweak: both,
			want: `SC405 error P.1,3`,
			says: "the next request would contain 2 messages with an empty list of calls",
		},
		{name: "others do not mind", tree: answered, profile: "anthropic generic kimi", tweak: both},
		{
			name: "history reaches no provider",
			tree: answered + `
  summary "so far"
  user`,
			profile: "openai-chat", tweak: both,
		},
		{name: "no list at all", tree: answered, profile: "openai-chat"},
	})
}

func TestSC405NamesTheMessage(t *testing.T) {
	tree := `
P
  system
  user
  root "ok"
  user`
	found := findings(t, "openai-chat", false, tree, flagged(2, session.EmptyCalls))
	const want = "Invalid 'messages[2].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead."
	if len(found) != 1 || found[0].ProviderError != want || found[0].Sent == "" {
		t.Errorf("want %q, got:\n%s%+v", want, messages(found), found)
	}
}
