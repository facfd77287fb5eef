package rules_test

import "testing"

func TestSC804InheritedSteps(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "a call of the parent with its result",
			tree: `
P
  user "q"
  root "I look" c1(ls)
  root <c1 "a.txt"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  system(do it)
  user implicit
  root "I look" c1(ls)
  root <c1 "a.txt"
  worker "done"`,
			want: `SC804 warning C.2,3 see P.1 see P.2 see P.3`,
			says: "the sub-session of call T1 (transfer_task) contains 2 steps of session P",
		},
		{
			name: "the call with another text around it, and the parent's answers with it",
			tree: `
P
  user "q"
  root "I look" c1(ls)
  root <c1 "a.txt"
  root "seen"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  system(do it)
  user implicit
  root "I looked" c1(ls)
  root <c1 "a.txt"
  root "seen"
  worker "done"`,
			want: `SC804 warning C.2,3,4 see P.1 see P.2 see P.3 see P.4`,
		},
		{
			name: "a result alone",
			tree: `
P
  user "q"
  root c1(ls)
  root <c1 "a.txt"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  system(do it)
  user implicit
  worker <c1 "a.txt"
  worker "done"`,
			only: "SC804",
			want: `SC804 warning C.2 see P.2 see P.3`,
		},
		{
			name: "the same agent, but the call is older than the delegation",
			tree: `
P
  user "q"
  root c1(ls) at=1
  root <c1 "a.txt" at=2
  root T1>root(do it) at=5
  sub C
  root <T1 "done" at=9
C<P
  system(do it) at=5
  root c1(ls) at=1
  root <c1 "a.txt" at=2
  root "done" at=8`,
			only: "SC804",
			want: `SC804 warning C.1,2 see P.1 see P.2 see P.3`,
		},
		{
			name: "the same agent makes the same call again, with an id that its provider reuses",
			tree: `
P
  user "q"
  root c1(ls) at=1
  root <c1 "a.txt" at=2
  root T1>root(do it) at=5
  sub C
  root <T1 "done" at=9
C<P
  system(do it) at=5
  root c1(ls) at=6
  root <c1 "a.txt" at=7
  root "done" at=8`,
		},
		{
			name: "another agent makes the same call and gets the same result",
			tree: `
P
  user "q"
  root c1(ls)
  root <c1 "a.txt"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  system(do it)
  worker c1(ls)
  worker <c1 "a.txt"
  worker "done"`,
		},
		{
			name: "the parent's agent works in the child after a handoff",
			tree: `
P
  user "q"
  root c1(ls)
  root <c1 "a.txt"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  system(do it)
  worker h1:handoff(root)
  worker <h1
  root c1(ls)
  root <c1 "a.txt"
  root "done"`,
		},
		{
			name: "a skill of the parent's agent hands over at its end",
			tree: `
P
  user "q"
  root "I look" c1(ls)
  root <c1 "a.txt"
  root T1>(do it)
  sub C
  root <T1 "done"
C<P
  user "do it"
  root "I look" c1(ls)
  root <c1 "a.txt"
  root h1:handoff(beta)
  root <h1
  beta "done"`,
		},
		{
			name: "a skill whose agent hands over by a tool that is named after the other",
			tree: `
P
  user "q"
  root "I look" c1(ls)
  root <c1 "a.txt"
  root T1>(do it)
  sub C
  root <T1 "done"
C<P
  user "do it"
  root "I look" c1(ls)
  root <c1 "a.txt"
  root h1:transfer_to_beta()
  root <h1
  beta "done"`,
		},
		{
			name: "a copied handoff does not hide whose the child is",
			tree: `
P
  user "q"
  root "I look" c1(ls)
  root <c1 "a.txt"
  root "go on" h1:handoff(root)
  root <h1
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  user "do it"
  root "I look" c1(ls)
  root <c1 "a.txt"
  root "go on" h1:handoff(root)
  worker "done"`,
			only: "SC804",
			want: `SC804 warning C.1,2,3 see P.1 see P.2 see P.3 see P.5`,
		},
		{
			name: "an error without its call",
			tree: `
P
  user "q"
  root c1(ls)
  root <c1! "no such tool"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  system(do it)
  worker <c1! "no such tool"
  worker "done"`,
			only: "SC804",
		},
		{
			name: "what the parent does after the delegation",
			tree: `
P
  user "q"
  root T1>worker(do it)
  sub C
  root <T1 "done"
  root "I look" c1(ls)
  root <c1 "a.txt"
C<P
  system(do it)
  root "I look" c1(ls)
  root <c1 "a.txt"
  worker "done"`,
		},
		{
			name: "two siblings with the same task, of which the first one leaked",
			tree: `
P
  user "q"
  root T1>worker(do it)
  worker c1(ls)
  worker <c1 "a.txt"
  sub C
  root <T1 "done"
  root T2>worker(do it)
  sub D
  root <T2 "done"
C<P
  system(do it)
  worker c1(ls)
  worker <c1 "a.txt"
  worker "done"
D<P
  system(do it)
  worker c1(ls)
  worker <c1 "a.txt"
  worker "done"`,
			only: "SC804",
		},
		{
			name: "a copy of the whole conversation is SC708",
			tree: `
P
  user "q"
  root "I look" c1(ls)
  root <c1 "a.txt"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  user "q"
  root "I look" c1(ls)
  root <c1 "a.txt"
  user "do it"
  worker "done"`,
			want: `SC708 warning C.0,1,2 see P.0 see P.1 see P.2`,
		},
	})
}
