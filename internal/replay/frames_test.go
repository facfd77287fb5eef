package replay_test

import "testing"

func TestLeakedItemsKnowTheirInnermostFrame(t *testing.T) {
	runCases(t, []replayCase{
		{"three deep, each speaks again when its child is done", `
P
  root T1>a()
  a "1" A1>b()
  b "2" B1>c()
  c "3"
  b "4"
  a "5"
  root <T1`,
			`P.0 T1 → none, answered 6, leaked 1 2/1 3/2 4/1 5`},
		{"an agent that took over stays in the frame", `
P
  root T1>worker()
  worker "over to you" h1:handoff(beta)
  beta "mine" B1>c()
  c "deep"
  beta "done"
  root <T1`,
			`P.0 T1 → none, answered 5, leaked 1 2 3/2 4`},
		{"the calls of a leaked batch have a frame each", `
P
  root T1>worker()
  worker "both" A1>alpha() B1>beta()
  alpha "a"
  beta "b"
  worker "done"
  root <T1`,
			`P.0 T1 → none, answered 5, leaked 1 2/1 3/1+1 4`},
		{"a handoff inside the first of a leaked batch keeps its frame", `
P
  root T1>worker()
  worker "both" A1>alpha() B1>beta()
  alpha "a" h1:handoff(gamma)
  gamma "g"
  beta "b"
  root <T1`,
			`P.0 T1 → none, answered 5, leaked 1 2/1 3/1 4/1+1`},
		{"a result ends the frame of its call", `
P
  root T1>worker()
  worker "both" A1>alpha() B1>alpha()
  alpha "one"
  worker <A1
  alpha "two"
  root <T1`,
			`P.0 T1 → none, answered 5, leaked 1 2/1 3 4/1+1`},
		{"of two equal runs the one without a child has the message without a copy", `
P
  root T1>worker(do it)
  worker "both" A1>alpha(same) B1>alpha(same)
  alpha "one"
  alpha "two"
  sub C
  root <T1
C<P
  system(do it)
  worker "both" A1>alpha(same) B1>alpha(same)
  sub A
  worker <A1
  worker <B1!
A<C
  system(same)
  alpha "one"`, `
			P.0 T1 → C at 4, answered 5, leaked 1=C.1 2/1=A.1 3/1+1
			C.1 A1 → A at 2, answered 3
			C.1 B1 → none, answered 4`},
		{"a call that did not leak is known from the child", `
P
  root T1>worker(do it) at=1
  beta "half" at=4
  worker "done" at=6
  sub C
  root <T1 at=7
C<P
  system(do it) at=1
  worker W1>beta(sub task) at=2
  worker <W1! at=5
  worker "done" at=6`, `
			P.0 T1 → C at 3, answered 4, leaked 1/C.1 2=C.3
			C.1 W1 → none, answered 2`},
		{"of two such calls the time tells which", `
P
  root T1>worker(do it) at=1
  beta "one" at=3
  beta "two" B1>gamma() at=7
  gamma "deep" at=8
  beta "three" at=9
  sub C
  root <T1 at=20
C<P
  system(do it) at=1
  worker W1>beta(a) at=2
  worker <W1! at=4
  worker W2>beta(b) at=6
  worker <W2! at=10`, `
			P.0 T1 → C at 5, answered 6, leaked 1/C.1 2/C.3 3/2 4/C.3
			C.1 W1 → none, answered 2
			C.3 W2 → none, answered 4`},
		{"an agent that a handoff brought in stays, even if a later call asks it too", `
P
  root T1>worker()
  worker "both" A1>alpha() B1>beta()
  alpha "over to you" h1:handoff(beta)
  beta "for alpha"
  worker "done"
  root <T1`,
			`P.0 T1 → none, answered 5, leaked 1 2/1 3/1 4`},
		{"each call of the own batch has its own stack", `
P
  root T1>a() T2>b()
  a "1" A1>c()
  c "2"
  root <T1
  b "3" B1>c()
  c "4"
  b "5"
  root <T2`, `
			P.0 T1 → none, answered 3, leaked 1 2/1
			P.0 T2 → none, answered 7, leaked 4 5/4 6`},
	})
}
