package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC205ArgumentsInvalid(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "arguments that are not JSON",
			tree: `
P
  user
  root c1()
  root <c1!
  root "ok"`,
			profile: "generic",
			tweak:   func(tree *session.Tree) { tree.Root().Items[1].Calls[0].Form = session.ArgsBroken },
			want: `
				SC205 error P.1
				lossless: wrap P.1/calls/0`,
			says: "the arguments of call c1 (shell) are not JSON",
		},
		{
			name: "a list instead of an object",
			tree: `
P
  user
  root c1()
  root <c1!
  root "ok"`,
			profile: "anthropic",
			tweak:   func(tree *session.Tree) { tree.Root().Items[1].Calls[0].Form = session.ArgsValue },
			want: `
				SC205 error P.1
				lossless: wrap P.1/calls/0`,
			says: "are JSON, but not an object",
		},
		{
			name: "Chat Completions seems to take any text",
			tree: `
P
  user
  root c1()
  root <c1!
  root "ok"`,
			profile: "openai-chat",
			tweak:   func(tree *session.Tree) { tree.Root().Items[1].Calls[0].Form = session.ArgsBroken },
			want: `
				SC205 warning P.1
				lossless: wrap P.1/calls/0`,
		},
		{
			name: "the runtime sees to it, and nobody asked",
			tree: `
P
  user
  root c1()
  root <c1!
  root "ok"`,
			store:   func(s *session.Store) { s.Adapts = map[string]string{"SC205": "sends an object"} },
			profile: "own",
			tweak:   func(tree *session.Tree) { tree.Root().Items[1].Calls[0].Form = session.ArgsBroken },
		},
		{
			name: "in history that a summary covers it is an info without a repair",
			tree: `
P
  user
  root c1()
  root <c1!
  summary "so far"
  user`,
			profile: "generic",
			tweak:   func(tree *session.Tree) { tree.Root().Items[1].Calls[0].Form = session.ArgsBroken },
			want:    `SC205 info P.1`,
		},
		{
			name: "in a child that is never sent again it is an info without a repair",
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
  worker c1()
  worker <c1
  worker "done"`,
			profile: "anthropic",
			tweak:   func(tree *session.Tree) { tree.Sessions[1].Items[2].Calls[0].Form = session.ArgsValue },
			want:    `SC205 info C.2`,
		},
	})
}
