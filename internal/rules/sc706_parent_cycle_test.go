package rules_test

import "testing"

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
			name: "an item that refers to its own session",
			tree: `
P
  user
  sub P
  root "ok"`,
			want: `
				SC706 error P.1
				manual:`,
			says: "the item refers to its own session",
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
			says: "the item refers to session P, which this one belongs to",
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
