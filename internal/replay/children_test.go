package replay_test

import "testing"

func TestChildrenAreFoundByTheirPlaceInTheWindow(t *testing.T) {
	runCases(t, []replayCase{
		{"calls that ran one after another", `
P
  root T1>alpha() T2>beta()
  sub A
  root <T1
  sub B
  root <T2
A<P
  alpha "a"
B<P
  beta "b"`, `
			P.0 T1 → A at 1, answered 2
			P.0 T2 → B at 3, answered 4`},
		{"the second call was answered first", `
P
  root T1>alpha() T2>beta()
  sub B
  root <T2
  sub A
  root <T1
A<P
  alpha "a"
B<P
  beta "b"`, `
			P.0 T1 → A at 3, answered 4
			P.0 T2 → B at 1, answered 2`},
		{"a failed call has no child, the next one keeps its own", `
P
  root T1>alpha(same) T2>alpha(same)
  root <T1!
  sub B
  root <T2
B<P
  system(same)
  alpha "b"`, `
			P.0 T1 → none, answered 1
			P.0 T2 → B at 2, answered 3`},
		{"ordinary calls of the batch do not disturb", `
P
  root s1() T1>alpha()
  root <s1
  sub A
  root <T1
A<P
  alpha "a"`,
			`P.0 T1 → A at 2, answered 3`},
		{"a killed call has the child that is left over", `
P
  root T1>alpha() T2>beta()
  sub A
  root <T1
  sub B
A<P
  alpha "a"
B<P
  beta "b"`, `
			P.0 T1 → A at 1, answered 2
			P.0 T2 → B at 3, until 4`},
		{"a reference behind the result in the same answer group", `
P
  user
  root T1>worker()
  worker <T1
  sub C
  root "fine"
C<P
  worker "done"`,
			`P.1 T1 → C at 3, answered 2`},
		{"results that became rows of their children stand before the references to these", `
P
  root T1>alpha(same) T2>alpha(same) T3>alpha(same)
  beta <T1
  sub A
  beta <T2
  sub B
  sub C
  root <T3
A<P
  system(same)
B<P
  system(same)
C<P
  system(same)`, `
			P.0 T1 → A at 2, answered 1
			P.0 T2 → B at 4, answered 3
			P.0 T3 → C at 5, answered 6`},
		{"but not before one of another task, or of one that began later", `
P
  root T1>alpha(one) T2>alpha(two) T3>alpha(two) at=1
  alpha <T1! at=2
  sub B
  alpha <T2 at=4
  sub C
  root <T3 at=8
B<P
  system(two) at=3
C<P
  system(two) at=7`, `
			P.0 T1 → none, answered 1
			P.0 T2 → B at 2, answered 3
			P.0 T3 → C at 4, answered 5`},
		{"a reference behind the next turn is nobody's", `
P
  root T1>worker()
  root <T1
  root "fine"
  sub C
C<P
  worker "done"`,
			`P.0 T1 → none, answered 1`},
	})
}

func TestChildrenOfAParallelBatchAreFoundByTaskThenByAnswer(t *testing.T) {
	runCases(t, []replayCase{
		{"by task", `
P
  root T1>alpha(one) T2>alpha(two)
  sub B
  sub A
  root <T1
  root <T2
A<P
  system(one)
  alpha "a"
B<P
  system(two)
  alpha "b"`, `
			P.0 T1 → A at 2, answered 3
			P.0 T2 → B at 1, answered 4`},
		{"by answer", `
P
  root T1>alpha() T2>beta()
  sub B
  sub A
  root <T1 "a"
  root <T2 "b"
A<P
  alpha "a"
B<P
  beta "b"`, `
			P.0 T1 → A at 2, answered 3
			P.0 T2 → B at 1, answered 4`},
		{"equal tasks are linked in order: nothing can tell them apart", `
P
  root T1>alpha(same) T2>alpha(same)
  sub A
  sub B
  root <T1
  root <T2
A<P
  system(same)
  alpha "x"
B<P
  system(same)
  alpha "x"`, `
			P.0 T1 → A at 1, answered 3
			P.0 T2 → B at 2, answered 4`},
		{"without any evidence nobody is linked", `
P
  root T1>alpha() T2>alpha()
  sub A
  sub B
  root <T1
  root <T2
A<P
  alpha "x"
B<P
  alpha "x"`, `
			P.0 T1 → none, answered 3
			P.0 T2 → none, answered 4`},
		{"a child in the stretch of a call that failed is the other call's, by its task", `
P
  root T1>alpha(one) T2>alpha(two)
  sub B
  root <T1!
  root <T2
B<P
  system(two)
  alpha "b"`, `
			P.0 T1 → none, answered 2
			P.0 T2 → B at 1, answered 3`},
		{"and by its agent, where it records no task", `
P
  root T1>alpha() T2>beta()
  sub B
  root <T1! "boom"
  root <T2 "b"
B<P
  beta "b"`, `
			P.0 T1 → none, answered 2
			P.0 T2 → B at 1, answered 3`},
		{"a background child in a blocking call's stretch is not that call's", `
P
  root T1>alpha(one) B1>>beta(two)
  root <B1
  sub B
  root <T1!
B<P
  system(two)
  beta "b"`, `
			P.0 T1 → none, answered 3
			P.0 B1 → B at 2, answered 1`},
		{"a background child may land in a later turn", `
P
  root B1>>alpha(one)
  root <B1
  root "meanwhile" T1>beta(two)
  sub A
  sub B
  root <T1
A<P
  system(one)
  alpha "a"
B<P
  system(two)
  beta "b"`, `
			P.0 B1 → A at 3, answered 1
			P.2 T1 → B at 4, answered 5`},
	})
}

func TestARecordedChildIsBelieved(t *testing.T) {
	runCases(t, []replayCase{
		{"with its reference", `
P
  root T1>alpha()=B T2>alpha()=A
  sub A
  root <T1
  sub B
  root <T2
A<P
  alpha "a"
B<P
  alpha "b"`, `
			P.0 T1 → B at 3, answered 2
			P.0 T2 → A at 1, answered 4`},
		{"without one", `
P
  root T1>alpha()=A
  root <T1
A<P
  alpha "a"`,
			`P.0 T1 → A, answered 1`},
		{"but not when it is the session itself or does not exist", `
P
  root T1>alpha()=P T2>alpha()=GONE
  root <T1
  root <T2`, `
			P.0 T1 → none, answered 1
			P.0 T2 → none, answered 2`},
	})
}

func TestNestedChildrenAreLinkedInTheirOwnSession(t *testing.T) {
	runCases(t, []replayCase{{"three deep with the same names", `
P
  root T>a(go)
  sub A
  root <T
A<P
  system(go)
  a T>a(go)
  sub B
  a <T
  a "done"
B<A
  system(go)
  a T>a(go)
  sub C
  a <T
  a "done"
C<B
  system(go)
  a "done"`, `
		P.0 T → A at 1, answered 2
		A.1 T → B at 2, answered 3
		B.1 T → C at 2, answered 3`}})
}
