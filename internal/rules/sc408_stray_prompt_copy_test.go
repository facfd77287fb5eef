package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC408StrayPromptCopy(t *testing.T) {
	const (
		repeated = `
P
  user
  root "The build has three stages"
  user "The build has three stages"
  root "As I said"`
		result = `
P
  user
  root c1()
  root <c1 "make: done"
  user "make: done"
  root "ok"`
	)
	sized := func(n int64) func(*session.Tree) {
		return func(tree *session.Tree) {
			for i := range tree.Root().Items {
				tree.Root().Items[i].Size = n
			}
		}
	}
	runCases(t, []ruleCase{
		{
			name: "the answer before", tree: repeated, tweak: sized(200),
			want: `SC408 warning P.2`,
			says: "1 user message repeats the message before it word for word",
		},
		{name: "the result before", tree: result, tweak: sized(200), want: `SC408 warning P.3`},
		{name: "people say short things again", tree: repeated, tweak: sized(79)},
		{name: "a length that is not known may be short", tree: repeated},
		{
			name: "history is an info",
			tree: repeated + `
  summary "so far"
  user "another"
  root "yes"`,
			tweak: sized(200),
			want:  `SC408 info P.2`,
			says:  "A summary covers this part of the session, so it is not sent to a model again",
		},
		{
			name: "an older answer, which a person may quote",
			tree: `
P
  user
  root "The build has three stages"
  user "Are you sure?"
  root "Yes"
  user "The build has three stages"
  root "ok"`,
			tweak: sized(200),
		},
		{
			name: "the same question twice",
			tree: `
P
  user "Build it"
  user "Build it"
  root "ok"`,
			tweak: sized(200),
		},
		{
			name: "an assistant that repeats the user",
			tree: `
P
  user "The build has three stages"
  root "The build has three stages"`,
			tweak: sized(200),
		},
	})
}
