package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC703LeakNoChild(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "the child failed: a new sub-session stands before the result",
			tree: `
P
  user
  root "I'll delegate." T1>worker(do it)
  worker "starting" w1()
  root <T1!
  root "it failed"`,
			want: `
				SC703 error P.2
				lossless: create new1 below P for T1 of P.1; move P.2 to new1 at start; insert sub new1 in P after P.1`,
			says: `1 message of sub-agent "worker" is stored here, and its sub-session was never saved. This is the only copy. ` +
				"Here it separates call T1 from its result, and w1 (shell) has no result",
		},
		{
			name: "nested delegations become nested sub-sessions",
			tree: `
P
  root T1>worker(do it)
  worker "asking" W1>grand(sub task)
  grand "half"
  worker "done"
  root <T1!`,
			want: `
				SC703 error P.1,2,3
				lossless: create new1 below P for T1 of P.0; move P.1 to new1 at start; create new2 below new1 for W1 of P.1; move P.2 to new2 at start; move P.3 to new1 after P.1; insert sub new2 in new1 after P.1; insert sub new1 in P after P.0`,
		},
		{
			name: "the first of two equal runs failed, the second is complete",
			tree: `
P
  root T1>worker(same) T2>worker(same)
  worker "ok" w1()
  root <T1!
  worker "ok" w1()
  sub B
  root <T2
B<P
  system(same)
  worker "ok" w1()
  worker <w1
  worker "done"`,
			want: `
				SC701 error P.3
				kept: remove P.3 twin B.1
				SC703 error P.1
				lossless: create new1 below P for T1 of P.0; move P.1 to new1 at start; insert sub new1 in P after P.0`,
		},
		{
			name: "a user turn ends what leaked",
			tree: `
P
  root T1>worker(do it)
  worker "half"
  user
  root "again"`,
			want: `
				SC101 error P.0
				lossless: insert placeholder T1 by root in P after P.0
				SC703 error P.1
				lossless: create new1 below P for T1 of P.0; move P.1 to new1 at start; insert sub new1 in P after P.0`,
		},
		{
			name: "a message under the caller's name may be its own: nothing moves",
			tree: `
P
  root T1>worker(do it)
  root "meanwhile"
  root <T1`,
			want: `
				SC703 error P.1
				manual:`,
			says: "It has the caller's name and no copy, so sessctl cannot tell whose it is and never moves it",
		},
		{
			name: "in a child that is never sent again that is an info",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1!
C<P
  system(do it)
  worker "asking" W1>grand(sub task)
  worker "done"`,
			want: `
				SC101 info C.1
				SC703 info C.2
				manual:`,
		},
		{
			name: "a child that a repair rebuilt lacks results and holds no leak",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1!
C<P
  system(do it) synthetic
  user implicit synthetic
  worker "asking" W1>grand(sub task) h1:handoff(gamma)
  gamma "done"`,
			want: `
				SC101 info C.2
				SC101 info C.2`,
		},
		{
			name: "background delegations block nobody",
			tree: `
P
  root B1>>worker(do it)
  root <B1
  worker "a host as well"
  root "fine"`,
		},
		{
			name: "after its result, an agent that was a worker may be a host",
			tree: `
P
  root T1>worker(do it)
  root <T1
  root h1:handoff(worker)
  root <h1
  worker "now I speak" s1()
  worker <s1`,
		},
		{
			name: "the store tells whose messages they are, and that session is gone",
			tree: `
P
  user
  root T1>worker(do it)=GONE
  root "away"
  root <T1=GONE
  root "fine"`,
			tweak: func(tree *session.Tree) {
				tree.Root().Items[2].Own().Home = "GONE"
			},
			want: `
				SC703 error P.2
				lossless: split new1 from P for T1 of P.1; move P.2 to new1 at start
				SC704 warning P.1`,
			says: "1 message of the run of sub-session GONE is stored here, and that sub-session does not exist",
		},
	})
}
