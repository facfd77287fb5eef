package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC201DuplicateIDInTurn(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "an id twice, both answered in order",
			tree: `
P
  user
  root c1() c1()
  root <c1 "one"
  root <c1 "two"
  root "ok"`,
			want: `
				SC201 error P.1
				lossless: set P.1/calls/1 id=c1_dup1; set P.3/results/0 call=c1_dup1`,
			says: "call c1 (shell) has the same id as another call of its message",
		},
		{
			name: "three times, in one item of results",
			tree: `
P
  user
  root c1() c1() c1()
  root <c1 "one" <c1 "two" <c1 "three"
  root "ok"`,
			want: `
				SC201 error P.1
				lossless: set P.1/calls/1 id=c1_dup1; set P.2/results/1 call=c1_dup1
				SC201 error P.1
				lossless: set P.1/calls/2 id=c1_dup2; set P.2/results/2 call=c1_dup2`,
		},
		{
			name: "fewer results than calls of one tool: the first has it",
			tree: `
P
  user
  root c1() c1()
  root <c1
  user`,
			want: `
				SC101 error P.1
				lossless: insert placeholder c1 by root in P after P.2
				SC201 error P.1
				lossless: set P.1/calls/1 id=c1_dup1`,
		},
		{
			name: "fewer results than calls of two tools: whose it is cannot be told",
			tree: `
P
  user
  root c1:read() c1:write()
  root <c1
  user`,
			want: `
				SC101 error P.1
				lossless: insert placeholder c1 by root in P after P.2
				SC201 error P.1
				manual:`,
		},
		{
			name: "a result that names another tool than the call of its place",
			tree: `
P
  user
  root c1:read() c1:write()
  root <c1 "one" <c1 "two"
  root "ok"`,
			tweak: func(tree *session.Tree) { tree.Root().Items[2].Results[0].Name = "write" },
			want: `
				SC201 error P.1
				manual:`,
		},
		{
			name: "the new id is one that nothing has",
			tree: `
P
  user
  root c1() c1()
  root <c1 "one" <c1 "two"
  root c1_dup1()
  root <c1_dup1
  root "ok"`,
			want: `
				SC201 error P.1
				lossless: set P.1/calls/1 id=c1_dup2; set P.2/results/1 call=c1_dup2`,
		},
		{
			name: "used before as well: each call has one finding and a name of its own",
			tree: `
P
  user
  root c1()
  root <c1
  root c1() c1()
  root <c1 "one"
  root <c1 "two"
  root "ok"`,
			want: `
				SC201 error P.3 see P.1
				lossless: set P.3/calls/1 id=c1_dup2; set P.5/results/0 call=c1_dup2
				SC202 warning P.3 see P.1
				lossless: set P.3/calls/0 id=c1_dup1; set P.4/results/0 call=c1_dup1`,
		},
		{
			name: "the new id is one that Mistral takes as it took the old one",
			tree: `
P
  user
  root aaaaaaaaa() aaaaaaaaa()
  root <aaaaaaaaa "one"
  root <aaaaaaaaa "two"
  root "ok"`,
			profile: "mistral",
			want: `
				SC201 error P.1
				lossless: set P.1/calls/1 id=nVa8D7A9G; set P.3/results/0 call=nVa8D7A9G`,
		},
		{
			name: "calls without an id have none to share",
			tree: `
P
  user
  root () ()
  root <
  root <
  root "ok"`,
			want: `
				SC204 error P.1
				manual:
				SC204 error P.1
				manual:`,
		},
		{
			name: "in history that a summary covers it is an info without a repair",
			tree: `
P
  user
  root c1() c1()
  root <c1 "one" <c1 "two"
  summary "so far"
  user`,
			want: `SC201 info P.1`,
			says: "A summary covers this part of the session, so it is not sent to a model again",
		},
	})
}
