package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC704DanglingSubsessionRef(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "the session that an item names is gone",
			tree: `
P
  root T1>worker(do it)
  sub GONE
  root <T1
  root "fine"`,
			want: `SC704 warning P.1
				kept with prune: quarantine P.1`,
			says: "refers to sub-session GONE, which does not exist",
		},
		{
			name: "an item that lost its reference",
			tree: `
P
  root T1>worker(do it)
  sub -
  root <T1
  root "fine"`,
			want: `SC704 warning P.1
				kept with prune: quarantine P.1`,
			says: "refers to a sub-session that was deleted",
		},
		{
			name: "calls name a session that is gone: one finding",
			tree: `
P
  root T1>worker(do it)=GONE T2>worker(that too)=GONE
  root <T1=GONE <T2=GONE
  root T3>worker(and that)=GONE
  root <T3=GONE
  root "fine"`,
			want: `SC704 warning P.0,2`,
			says: "call T1 (transfer_task) was answered by session GONE, which does not exist in this store",
		},
		{
			name: "the one sub-session that has the task is named by nothing",
			tree: `
P
  user
  root T1>worker(do it)=GONE
  root <T1=GONE
  root "fine"
C<P
  system(do it)
  worker "done"`,
			want: `SC704 warning P.1
				lossless: set P.2/results/0 child=C`,
			says: "call T1 (transfer_task) was answered by session GONE, which does not exist in this store. Sub-session C has the task of the call, and nothing names it",
		},
		{
			name: "of two that have the task, and where two calls do, none is taken",
			tree: `
P
  user
  root T1>worker(do it)=GONE T2>worker(that)=LOST T3>worker(that)=AWAY
  root <T1=GONE <T2=LOST <T3=AWAY
  root "fine"
C<P
  system(do it)
  worker "done"
D<P
  system(do it)
  worker "done"
E<P
  system(that)
  worker "done"`,
			want: `
				SC704 warning P.1
				SC704 warning P.1
				SC704 warning P.1
				SC705 warning C see P.1
				lossless: insert sub C in P after P.1
				SC705 warning D
				manual:
				SC705 warning E
				manual:`,
		},
		{
			name: "one of an agent that runs elsewhere",
			tree: `
P
  root T1>worker(do it)=FAR
  root <T1=FAR
  root "fine"`,
			store: func(s *session.Store) { s.Agents = map[string]bool{"root": true} },
			want:  `SC704 info P.0`,
			says:  `call T1 (transfer_task) was answered by session FAR, which is stored elsewhere. Agent "worker" is not in this store`,
		},
		{
			name: "one of an agent that the store knows",
			tree: `
P
  root T1>worker(do it)=GONE
  root <T1=GONE
  root "fine"`,
			store: func(s *session.Store) { s.Agents = map[string]bool{"root": true, "worker": true} },
			want:  `SC704 warning P.0`,
		},
		{
			name: "one that was deleted, with its records",
			tree: `
P
  root T1>worker(do it)=C
  root <T1=C
  root "fine"
C deleted
  user "do it"
  worker "done"`,
			want: `SC704 info P.0`,
			says: "call T1 (transfer_task) was answered by session C, which was deleted. Its records are still stored",
		},
		{
			name: "an id that was given out for a call which never came to it",
			tree: `
P
  root T1>worker(do it)=NEVER
  root <T1!
  root "fine"`,
			tweak: func(tree *session.Tree) { tree.Root().Items[0].Calls[0].Delegation.Likely = true },
		},
		{
			name: "the call and an item name it",
			tree: `
P
  root T1>worker(do it)=GONE
  sub GONE
  root <T1
  root "fine"`,
			want: `SC704 warning P.1
				kept with prune: quarantine P.1`,
		},
		{
			name: "a child that exists",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
C<P
  system(do it)
  worker "done"`,
		},
	})
}
