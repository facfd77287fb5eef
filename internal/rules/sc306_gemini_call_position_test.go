package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC306GeminiCallPosition(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "calls behind an answer",
			tree: `
P
  user
  root "I look"
  root c1()
  root <c1
  root "ok"
  root c2()
  root <c2
  root "done"`,
			profile: "gemini", tweak: asGemini,
			want: `SC306 error P.2,5`,
			says: "in 2 places",
		},
		{
			name: "the request starts with calls",
			tree: `
P
  root c1()
  root <c1
  root "x"
  user`,
			profile: "gemini", tweak: asGemini,
			want: `SC306 error P.0`,
			says: "the request starts with calls",
		},
		{
			name: "the user's next message follows results",
			tree: `
P
  user
  root c1()
  root <c1`,
			profile: "gemini", tweak: asGemini,
			want: `SC306 warning P.2`,
			says: "the next user message follows function results. Some servers refuse both in one message",
		},
		{
			name: "nobody says anything behind them",
			tree: `
P
  user
  root c1()
  root <c1`,
			profile: "gemini", tweak: asGemini, asIs: true,
		},
		{
			name: "calls behind a question, results, or a summary",
			tree: `
P
  user
  summary "so far"
  root c1()
  root <c1
  root c2()
  root <c2
  user
  root c3()
  root <c3
  root "done"`,
			profile: "gemini", tweak: asGemini,
		},
		{
			name: "a message that says nothing leaves",
			tree: `
P
  user
  root blank
  root c1()
  root <c1
  root "done"`,
			profile: "gemini", tweak: asGemini,
			want: `
				SC401 error P.1
				kept: quarantine P.1`,
		},
		{
			name: "only Gemini minds",
			tree: `
P
  user
  root "I look"
  root c1()
  root <c1
  root "done"`,
			profile: "anthropic openai-chat openai-responses",
		},
		{
			name: "tools of the provider are answered within the message",
			tree: `
P
  user
  root "I look"
  root c1()
  root "done"`,
			profile: "gemini",
			tweak: func(tree *session.Tree) {
				it := &tree.Root().Items[2]
				it.Calls[0].Server = true
				it.Results = []session.Result{{CallID: "c1", Server: true, Name: "shell", Text: "found", Digest: session.DigestOf("found")}}
			},
		},
	})
}

// asGemini gives every result the name of its tool, and every first call of a turn a
// signature, as Gemini wants them.
func asGemini(tree *session.Tree) {
	for i := range tree.Root().Items {
		it := &tree.Root().Items[i]
		for n := range it.Results {
			it.Results[n].Name = "shell"
		}
		for n := range it.Calls {
			it.Blocks = append(it.Blocks, session.Block{Kind: session.CallBlock, Nth: n, Signature: 1})
		}
	}
}
