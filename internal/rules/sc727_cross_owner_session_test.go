package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC727CrossOwnerSession(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "one id under two users",
			tree: `
ann/W user=ann
  user "do it" run=i1
  worker "done" run=i1`,
			tweak: func(tree *session.Tree) {
				s := tree.Root()
				s.Faults = []session.Fault{{Kind: session.SharedID, Ref: s.Ref(), Item: -1, Detail: "user bob has a session with the id W, too"}}
			},
			want: `SC727 error ann/W`,
			says: "user bob has a session with the id W, too",
		},
		{
			name: "calls of two conversations name one session: SC707 does not repeat it",
			tree: `
P
  user
  root T1>worker(one)=W
  root <T1=W "first"
  root "fine"
Q
  user
  root T1>worker(two)=W
  root <T1=W "second"
  root "fine"
W delegated
  user "one" run=i1
  worker "first" run=i1
  user "two" run=i2
  worker "second" run=i2`,
			want: `SC727 error W see P.1 see Q.1`,
			says: "2 conversations share this session as their sub-session. What one of them was told, the others could see",
		},
		{
			name: "a fork has the call of the conversation that it is a copy of",
			tree: `
P
  user
  root T1>worker(one)=W
  root <T1=W "first"
  root "fine"
Q
  user
  root T1>worker(one)=W
  root <T1=W "first"
  root "fine"
  user "and now?"
W<P delegated
  user "one" run=i1
  worker "first" run=i1`,
		},
		{
			name: "a server that gives its ids again: the calls are two, at two times",
			tree: `
P
  user
  root T1>worker(one)=W at=3
  root <T1=W "first"
  root "fine"
Q
  user
  root T1>worker(one)=W at=9
  root <T1=W "first"
  root "fine"
W<P delegated
  user "one" run=i1
  worker "first" run=i1`,
			want: `SC727 error W see P.1 see Q.1`,
		},
		{
			name: "two forks of a conversation that was rewound, so that its own call is gone",
			tree: `
P
  user
Q
  user
  root T1>worker(one)=W at=3
  root <T1=W "first"
R
  user
  root T1>worker(one)=W at=3
  root <T1=W "first"
W<P delegated
  user "one" run=i1
  worker "first" run=i1`,
		},
		{
			name: "a fork that asks the sub-session of the original again",
			tree: `
P
  user
  root T1>worker(one)=W at=3
  root <T1=W "first"
Q
  user
  root T1>worker(one)=W at=3
  root <T1=W "first"
  user "more"
  root T2>worker(two)=W at=9
  root <T2=W "second"
W<P delegated
  user "one" run=i1
  worker "first" run=i1
  user "two" run=i2
  worker "second" run=i2`,
			want: `SC727 error W see P.1 see Q.4`,
		},
		{
			name: "both of one session are one finding",
			tree: `
P
  user
  root T1>worker(one)=W
  root <T1=W "first"
Q
  user
  root T1>worker(two)=W
  root <T1=W "second"
W delegated
  user "one" run=i1
  worker "first" run=i1
  user "two" run=i2
  worker "second" run=i2`,
			tweak: func(tree *session.Tree) {
				s := tree.Session("W")
				s.Faults = []session.Fault{{Kind: session.SharedID, Ref: s.Ref(), Item: -1, Detail: "user bob has a session with the id W, too"}}
			},
			want: `SC727 error W see P.1 see Q.1`,
			says: "user bob has a session with the id W, too",
		},
		{
			name: "one of them asks twice in one turn: two things to tell",
			tree: `
P
  user
  root T1>worker(one)=W T2>worker(two)=W
  root <T1=W "first" <T2=W "second"
  root "fine"
Q
  user
  root T1>worker(three)=W
  root <T1=W "third"
  root "fine"
W delegated
  user "one" run=i1
  user "two" run=i2
  worker "first" run=i1
  worker "second" run=i2
  user "three" run=i3
  worker "third" run=i3`,
			want: `
				SC707 error P.1 see W.0 see W.1 see W.4
				SC727 error W see P.1 see Q.1`,
			says: "A repair cannot split it, because calls of another conversation use it too",
		},
		{
			name: "two workers of one conversation ask the same third one", store: reuses,
			tree: `
P
  user
  root T1>alpha(a)=A T2>beta(b)=B
  root <T1=A "a done" <T2=B "b done"
  root "fine"
A delegated
  user "a" run=a1
  alpha U1>worker(one)=W run=a1
  alpha <U1=W "first" run=a1
  alpha "a done" run=a1
B delegated
  user "b" run=b1
  beta U2>worker(two)=W run=b1
  beta <U2=W "second" run=b1
  beta "b done" run=b1
W delegated
  user "one" run=i1
  worker "first" run=i1
  user "two" run=i2
  worker "second" run=i2`,
			want: `SC707 info A.1 see B.1 see W.0 see W.2`,
			says: "one after another",
		},
	})
}
