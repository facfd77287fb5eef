package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// flagged adds flags to an item of the root session.
func flagged(item int, flags session.Flags) func(*session.Tree) {
	return func(tree *session.Tree) { tree.Root().Items[item].Flags |= flags }
}

// holding gives an item of the root session a block of a kind.
func holding(item int, kind session.BlockKind) func(*session.Tree) {
	return func(tree *session.Tree) {
		tree.Root().Items[item].Blocks = append(tree.Root().Items[item].Blocks, session.Block{Kind: kind})
	}
}

func TestSC401EmptyMessage(t *testing.T) {
	const blank = `
P
  user
  root blank
  user`
	runCases(t, []ruleCase{
		{
			name: "one message", tree: blank, profile: "anthropic bedrock openai-chat gemini generic kimi deepseek mistral",
			want: `
				SC401 error P.1
				kept: quarantine P.1`,
			says: "the next request would contain 1 message without any content",
		},
		{
			name: "nothing but reasoning, which is no content to DeepSeek", tree: blank, profile: "deepseek", tweak: holding(1, session.ReasoningBlock),
			want: `
				SC401 error P.1
				kept: quarantine P.1`,
		},
		{
			name: "several messages, of users too",
			tree: `
P
  user
  root blank
  user
  root "ok"
  user blank
  root "ok"`,
			profile: "generic",
			want: `
				SC401 error P.1,4
				kept: quarantine P.1; quarantine P.4`,
		},
		{
			name: "Responses accepts it: the repair is the same, the severity is not", tree: blank, profile: "openai-responses",
			want: `
				SC401 info P.1
				kept: quarantine P.1`,
		},
		{
			name: "with a list of calls that is empty", tree: blank, profile: "openai-chat", tweak: flagged(1, session.EmptyCalls),
			want: `
				SC401 error P.1
				kept: quarantine P.1`,
		},
		{name: "reasoning says something", tree: blank, profile: "generic", tweak: holding(1, session.ReasoningBlock)},
		{name: "so does an image", tree: blank, profile: "generic", tweak: holding(1, session.MediaBlock)},
		{
			name: "and what nobody knows may", tree: blank, profile: "generic", tweak: holding(1, session.UnknownBlock),
			want: `SC308 warning P.1`,
		},
		{
			name: "a runtime that leaves them out does not fail",
			tree: blank, profile: "generic",
			store: func(s *session.Store) {
				s.Adapts = map[string]string{"SC401": "leaves blank messages out"}
			},
			want: `SC401 info P.1`,
		},
		{
			name: "history is an info and stays",
			tree: `
P
  user
  root blank
  summary "so far"
  user
  root blank
  user`,
			profile: "generic",
			want: `
				SC401 info P.1
				SC401 error P.4
				kept: quarantine P.4`,
			says: "the session has 1 message without any content. A summary covers this part of the session, so it is not sent to a model again",
		},
		{
			name: "so is a child that is never sent again",
			tree: `
P
  user
  root T1>worker(do it)
  sub C
  root <T1
  root "ok"
C<P
  system(do it)
  user implicit
  worker blank
  worker "done"`,
			profile: "generic",
			want:    `SC401 info C.2`,
		},
		{
			name: "the last message of a running stream is about to say something",
			tree: `
P
  user
  root blank unfinished`,
			store: alive, profile: "generic",
			want: `SC407 info P.1`,
		},
		{
			name: "the stream of a dead writer will not",
			tree: `
P
  user
  root blank unfinished`,
			profile: "generic",
			want: `
				SC401 error P.1
				kept: quarantine P.1
				SC407 info P.1`,
		},
		{
			name: "calls need no text",
			tree: `
P
  user
  root c1()
  root <c1 ""
  root "ok"`,
			profile: "generic",
		},
	})
}

// TestSC401NamesTheMessageThatTheProviderCounts: the number that it would have if
// it were sent.
func TestSC401NamesTheMessageThatTheProviderCounts(t *testing.T) {
	const error = "messages.%: all messages must have non-empty content except for the optional final assistant message"
	checkErrors(t, "anthropic", false, error, map[string]string{
		"1": "\nP\n  user\n  root blank\n  user",
		"0": "\nP\n  user blank\n  root \"ok\"\n  user",
		"3": "\nP\n  user\n  root c1()\n  root <c1\n  root blank\n  user",
		"2": "\nP\n  user \"long ago\"\n  summary \"so far\"\n  user\n  root blank\n  user\n  root \"ok\"",
	})
}
