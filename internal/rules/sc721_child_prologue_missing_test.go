package rules_test

import "testing"

func TestSC721ChildPrologueMissing(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "a child that a compaction damaged: the call gives the task",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1 "done"
  root "fine"
C<P
  summary "so far"
  worker "done"`,
			store: scripts,
			want: `
				SC721 warning C see P.0
				lossless: insert prologue for T1 of P.0 in C at start`,
		},
		{
			name: "the call records no task: nothing is made up",
			tree: `
P
  root T1>worker()
  sub C
  root <T1
  root "fine"
C<P
  worker "done"`,
			store: scripts,
			want:  `SC721 warning C see P.0`,
		},
		{
			name: "nobody knows which call it belongs to",
			tree: `
P
  user
  root "ok"
C<P
  worker "done"`,
			store: scripts,
			want: `
				SC705 warning C
				manual:
				SC721 warning C`,
		},
		{
			name: "a child with its task and start message",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
  root "fine"
C<P
  system(do it)
  user implicit
  worker "done"`,
			store: scripts,
		},
		{
			name: "a child of a skill begins with the skill",
			tree: `
P
  root T1>root(skill)
  sub C
  root <T1
  root "fine"
C<P "Skill: review"
  system "what the skill says"
  user "body" implicit
  root "done"`,
			store: scripts,
		},
		{
			name: "a start message without a task that can be read is a beginning",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
  root "fine"
C<P
  other
  user implicit
  worker "done"`,
			store: scripts,
		},
		{
			name: "an empty child is SC717",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
  root "fine"
C<P agent=worker`,
			store: scripts,
			want:  `SC717 warning C see P.0`,
		},
		{
			name: "children of other runtimes begin in other ways",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
  root "fine"
C<P
  worker "done"`,
		},
	})
}
