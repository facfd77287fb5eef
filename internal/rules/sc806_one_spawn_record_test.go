package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC806OneSpawnRecord(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "a sub-session without a call",
			tree: `
P
  user "q"
  sub C
  root "done"
C<P
  user "do it"
  worker "done"`,
			only: "SC806",
			want: "SC806 warning P.1",
			says: "1 sub-session of P has no call: C",
		},
		{
			name: "two for one call",
			tree: `
P
  user "q"
  root T1>worker(do it)
  sub C
  sub D
  root <T1 "other"
C<P
  worker "a"
D<P
  worker "b"`,
			only: "SC806",
			want: "SC806 warning P.2,3",
			says: "2 sub-sessions of P have no call: C and D. Only 1 call can have started one of them",
		},
		{
			name: "two for two calls of which nobody can tell whose they are",
			tree: `
P
  user "q"
  root T1>worker() T2>worker()
  sub C
  sub D
  root <T1 "x"
  root <T2 "y"
C<P
  worker "a"
D<P
  worker "b"`,
			only: "SC806",
		},
		{
			name: "one for each call, and a call that failed",
			tree: `
P
  user "q"
  root T1>worker(do it) T2>worker(do that)
  sub C
  root <T1 "done"
  root <T2! "no such agent"
C<P
  system(do it)
  worker "done"`,
			only: "SC806",
		},
		{
			name: "a sub-session that no item refers to is SC705",
			tree: `
P
  user "q"
  root "done"
C<P
  user "do it"
  worker "done"`,
			only: "SC806",
		},
		{
			name: "a fork is started by a person",
			tree: `
P
  user "q"
  sub C
C<P
  user "q"
  worker "done"`,
			only:  "SC806",
			tweak: func(tree *session.Tree) { tree.Session("C").Forked = true },
		},
		{
			name: "two sessions that claim one child are SC715",
			tree: `
P
  user "q"
  sub C
Q
  user "q"
  sub C
C<P
  user "do it"
  worker "done"`,
			only: "SC806",
		},
	})
}
