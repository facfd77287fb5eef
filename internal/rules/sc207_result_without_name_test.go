package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC207ResultWithoutName(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "one result names its tool, two do not",
			tree: `
P
  user
  root c1() c2() c3()
  root <c1
  root <c2
  root <c3
  root "ok"`,
			profile: "gemini",
			tweak:   func(tree *session.Tree) { tree.Root().Items[2].Results[0].Name = "shell" },
			want:    `SC207 error P.3,4`,
			says:    "2 results do not name their tools",
		},
		{
			name: "a store that names none leaves it to the adapter",
			tree: `
P
  user
  root c1()
  root <c1
  root "ok"`,
			profile: "gemini",
		},
		{
			name: "neither the call nor its result has a name",
			tree: `
P
  user
  root c1:()
  root <c1
  root "ok"`,
			profile: "gemini",
			want: `
				SC206 error P.1
				SC207 error P.2`,
		},
		{
			name: "other providers pair by id",
			tree: `
P
  user
  root c1() c2()
  root <c1
  root <c2
  root "ok"`,
			profile: "anthropic generic",
			tweak:   func(tree *session.Tree) { tree.Root().Items[2].Results[0].Name = "shell" },
		},
		{
			name: "history is in no request",
			tree: `
P
  user
  root c1() c2()
  root <c1
  root <c2
  summary "so far"
  user`,
			profile: "gemini",
			tweak:   func(tree *session.Tree) { tree.Root().Items[2].Results[0].Name = "shell" },
		},
	})
}
