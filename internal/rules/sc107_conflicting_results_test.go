package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC107ConflictingResults(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "two different results: the conversation went on from the first",
			tree: `
P
  root c1()
  root <c1 "timeout"
  root <c1 "deployed"
  user`,
			want: `
				SC107 error P.2 see P.1
				kept: quarantine P.2`,
			says: "call c1 (shell) has two different results. sessctl cannot tell which one is right",
		},
		{
			name: "the one behind the call stays, although another stands before it",
			tree: `
P
  root <c1 "timeout"
  root c1()
  root <c1 "deployed"
  user`,
			want: `
				SC107 error P.0 see P.2
				kept: quarantine P.0`,
		},
		{
			name:  "a runtime that sends the last one: neither is taken away, and no request fails",
			store: func(s *session.Store) { s.Title, s.GathersResults, s.LastResult = "ADK", true, true },
			tree: `
P
  user
  root c1()
  root <c1 "pending"
  root "wait"
  root <c1 "final"
  user`,
			want: `
				SC107 warning P.4 see P.2`,
			says:    "ADK sends the last one, and the model does not see the other",
			profile: "gemini anthropic",
		},
		{
			name: "three of them",
			tree: `
P
  root c1()
  root <c1 "one"
  root <c1 "two"
  root <c1 "three"
  user`,
			want: `
				SC107 error P.2 see P.1
				kept: quarantine P.2
				SC107 error P.3 see P.1
				kept: quarantine P.3`,
		},
		{
			name: "the same text once as success and once as error",
			tree: `
P
  root c1()
  root <c1 "x"
  root <c1! "x"
  user`,
			want: `
				SC107 error P.2 see P.1
				kept: quarantine P.2`,
		},
		{
			name: "a real result that may belong to a call with a placeholder is a person's to place",
			tree: `
P
  root <c1 "real"
  root c1()
  root <c1~
  user
  root c1()
  root <c1 "second"
  user`,
			want: `
				SC107 error P.0 see P.2
				manual:
				SC202 warning P.4 see P.1
				lossless: set P.4/calls/0 id=c1_dup1; set P.5/results/0 call=c1_dup1`,
			says: "has only a placeholder",
		},
		{
			name: "in a child that is never sent again it is an info without a repair",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
C<P
  system(do it)
  worker c1()
  worker <c1 "a"
  worker <c1 "b"
  worker "done"`,
			want: `SC107 info C.3 see C.2`,
		},
		{
			name: "a result that waited for approval gives way to the final one: SC112",
			tree: `
P
  root c1()
  root <c1? "waiting"
  root <c1 "done"
  user`,
			want: `
				SC112 error P.1 see P.2
				kept: quarantine P.1`,
		},
	})
}
