package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC706ParentCycle(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "a session that names itself loses the link",
			tree: `
P<P
  user
  root "ok"`,
			want: `
				SC706 error P
				lossless: clear P parent_id`,
		},
		{
			name: "a ring is a person's to open",
			tree: `
P<C
  user
C<P
  user`,
			store: scripts,
			want: `
				SC706 error P
				manual:`,
			says: "P → C → P",
		},
		{
			name: "a session that names itself, and that a call names",
			tree: `
P agent=main delegated
  user
  main T1>worker(do it)=C
  main <T1=C "done"
C<C delegated
  worker "done"`,
			want: `
				SC706 error C
				lossless: set C parent_id=P
				SC719 info P`,
			says: "A call of session P names C",
		},
		{
			name: "a ring of which calls name one half",
			tree: `
P<C agent=main delegated
  user
  main T1>worker(do it)=C
  main <T1=C "done"
C<P delegated
  worker "done"`,
			want: `
				SC706 error P
				lossless: clear P parent_id`,
		},
		{
			name: "two sessions name one that names itself",
			tree: `
P agent=main delegated
  user
  main T1>worker(do it)=C
  main <T1=C "done"
Q agent=main delegated
  user
  main T2>worker(do it)=C
  main <T2=C "done"
C<C delegated
  worker "done"`,
			want: `
				SC706 error C
				manual:
				SC719 info P
				SC719 info Q
				SC727 error C see P.1 see Q.1`,
			says: "Calls of 2 sessions name C",
		},
		{
			name: "an item that refers to its own session",
			tree: `
P
  user
  sub P
  root "ok"`,
			want: `
				SC706 error P.1
				manual:`,
			says: "this item refers to its own session. A program that loads it never ends",
		},
		{
			name: "an item of a child that refers to the root",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
C<P
  system(do it)
  sub P
  worker "done"`,
			want: `
				SC706 error C.1
				manual:`,
			says: "this item refers to session P, which this session belongs to (P → C → P). A program that loads it never ends",
		},
		{
			name: "two sessions that refer to each other",
			tree: `
P
  user
  sub Q
Q
  user
  sub P`,
			want: `
				SC706 error Q.1
				manual:
				SC715 warning Q see P.1
				lossless: set Q parent_id=P`,
		},
		{
			name: "a call that leads to its own session",
			tree: `
P agent=main delegated
  main step_001()
  main <step_001
  main step_002>main(do it)=P
  main <step_002`,
			want: `
				SC706 error P.2
				manual:`,
			says: "call step_002 (transfer_task) leads to its own session",
		},
		{
			name: "calls of a child that lead to its root, and no stray root",
			tree: `
P agent=main delegated
  main T1>worker(do it)=C
  main <T1=C "done"
C delegated
  worker U1>main(cycle)=P
  worker <U1=P
  worker U2>main(again)=P
  worker <U2=P "ok"`,
			want: `
				SC706 error C.0,2
				manual:`,
			says: "call U1 (transfer_task) leads to session P, which this session belongs to (P → C → P). A program that follows it never ends",
		},
		{
			name: "a ring of three calls",
			tree: `
P
  root T1>a(1)=A
  root <T1=A
A delegated
  a T2>b(2)=B
  a <T2=B
B delegated
  b T3>root(3)=P
  b <T3=P`,
			want: `
				SC706 error B.0
				manual:`,
			says: "(P → A → B → P)",
		},
		{
			name: "a ring beside the root, of which the tree knows one link at most",
			tree: `
P
  root T1>a(1)=A T2>b(2)=B
  root <T1=A <T2=B
A delegated
  a T3>b(3)=B
  a <T3=B
B delegated
  b T4>a(4)=A
  b <T4=A`,
			only: "SC706",
			want: `
				SC706 error B.0
				manual:`,
			says: "(A → B → A)",
		},
		{
			name: "two calls of one child, and a child of its sibling, are no ring",
			tree: `
P
  root T1>a(1)=A T2>b(2)=B
  root <T1=A <T2=B
A delegated
  a T3>b(3)=B
  a <T3=B
B delegated
  b "done"`,
			only: "SC706",
		},
		{
			name: "a child that begins with a copy of the call that started it",
			tree: `
P
  user "q"
  root T1>worker(do it)=C
  root <T1=C "done"
C delegated
  user "q"
  root T1>worker(do it)=C
  root <T1 "you are the worker"
  worker "done"`,
			only: "SC706",
		},
		{
			name: "a child that is only likely",
			tree: `
P
  root T1>worker(do it)=C
  root <T1=C "done"
C delegated
  worker U1>main(cycle)=P
  worker <U1`,
			only:  "SC706",
			tweak: func(tree *session.Tree) { tree.Session("C").Items[0].Calls[0].Delegation.Likely = true },
		},
		{
			name: "a deep chain is no ring",
			tree: `
P
  root T1>a(1)
  sub A
  root <T1
A<P
  system(1)
  a T1>b(2)
  sub B
  a <T1
  a "done"
B<A
  system(2)
  b "done"`,
		},
	})
}
