package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC310UnansweredPrompts(t *testing.T) {
	const two = `
P
  user
  root
  user
  user`
	runCases(t, []ruleCase{
		{name: "two prompts", tree: two, want: "SC310 info P.2,3", says: "the last 2 prompts have no answer"},
		{name: "the runtime asks no model", tree: two, tweak: func(tree *session.Tree) {
			tree.Root().Stalled.Why = "Their ids wrapped"
			tree.Root().Stalled.Way = "update it"
		}, want: "SC310 warning P.2,3\n  manual:", says: "Their ids wrapped"},
		{name: "of another branch between", tree: `
P
  user
  root
  user
  user archived
  user`, want: "SC310 info P.2,4"},
		{name: "nothing was ever answered", tree: "\nP\n  user\n  user\n  user", want: "SC310 info P.0,1,2"},

		{name: "one prompt", tree: "\nP\n  user\n  root\n  user"},
		{name: "an error in between", tree: "\nP\n  user\n  root\n  user\n  root refused(API Error: 529 overloaded)\n  user"},
		{name: "a call", tree: "\nP\n  user\n  user\n  root c1()\n  root <c1"},
		{name: "hidden from people", tree: "\nP\n  user\n  root\n  user\n  user implicit"},
		{name: "a command", tree: two, tweak: func(tree *session.Tree) { tree.Root().Items[3].Note = true }},
		{name: "it still runs", tree: two, tweak: func(tree *session.Tree) { tree.Root().Writer = session.WriterLive }},
	})
}
