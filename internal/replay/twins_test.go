package replay_test

import "testing"

func TestEachTwinVouchesForOneLeakedItem(t *testing.T) {
	runCases(t, []replayCase{
		{"said twice, stored twice", `
P
  root T1>worker()
  worker "ok"
  worker "ok"
  sub C
  root <T1
C<P
  worker "ok"
  worker "ok"`,
			`P.0 T1 → C at 3, answered 4, leaked 1=C.0 2=C.1`},
		{"said twice, stored once", `
P
  root T1>worker()
  worker "ok"
  worker "ok"
  sub C
  root <T1
C<P
  worker "ok"`,
			`P.0 T1 → C at 3, answered 4, leaked 1=C.0 2`},
		{"the time tells which of two equal messages is stored", `
P
  root T1>worker()
  worker "ok" at=5
  worker "ok" at=9
  sub C
  root <T1
C<P
  worker "ok" at=9`,
			`P.0 T1 → C at 3, answered 4, leaked 1 2=C.0`},
		{"a copy without a time is a twin as well", `
P
  root T1>worker()
  worker "ok" at=5
  sub C
  root <T1
C<P
  worker "ok"`,
			`P.0 T1 → C at 2, answered 3, leaked 1=C.0`},
		{"so is one that the store dated differently, if no other item has it", `
P
  root T1>worker()
  worker "ok" at=5
  sub C
  root <T1
C<P
  worker "ok" at=6`,
			`P.0 T1 → C at 2, answered 3, leaked 1=C.0`},
		{"the same text of another agent is no twin", `
P
  root T1>worker()
  worker "ok"
  sub C
  root <T1
C<P
  beta "ok"`,
			`P.0 T1 → C at 2, answered 3, leaked 1`},
		{"a result is the twin of one under another agent's name", `
P
  root T1>worker()
  worker "asking" W1>grand()
  grand <W1
  sub C
  root <T1
C<P
  worker "asking" W1>grand()
  worker <W1`, `
			P.0 T1 → C at 3, answered 4, leaked 1=C.0 2=C.1
			C.0 W1 → none, answered 1`},
	})
}

func TestTwinsAreSoughtBelowTheOwnChildOnly(t *testing.T) {
	runCases(t, []replayCase{
		{"in grandchildren too", `
P
  root T1>worker()
  worker "asking" W1>grand()
  grand "found"
  worker "done"
  sub C
  root <T1
C<P
  worker "asking" W1>grand()
  sub G
  worker <W1
  worker "done"
G<C
  grand "found"`, `
			P.0 T1 → C at 4, answered 5, leaked 1=C.0 2/1=G.0 3=C.3
			C.0 W1 → G at 1, answered 2`},
		{"not in an earlier run of the same agent", `
P
  root T1>worker(one)
  worker "ok"
  sub A
  root <T1
  root T2>worker(two)
  worker "ok"
  root <T2!
A<P
  system(one)
  worker "ok"`, `
			P.0 T1 → A at 2, answered 3, leaked 1=A.1
			P.4 T2 → none, answered 6, leaked 5`},
		{"not in the sibling when the first of two equal runs failed", `
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
  worker "done"`, `
			P.0 T1 → none, answered 2, leaked 1
			P.0 T2 → B at 4, answered 5, leaked 3=B.1`},
		{"the same agent twice with identical items", `
P
  root T1>worker()
  worker "ok"
  sub A
  root <T1
  root T2>worker()
  worker "ok"
  sub B
  root <T2
A<P
  worker "ok"
B<P
  worker "ok"`, `
			P.0 T1 → A at 2, answered 3, leaked 1=A.0
			P.4 T2 → B at 6, answered 7, leaked 5=B.0`},
		{"of a batch that ran in parallel, the child with the copy has the item", `
P
  root T1>alpha() T2>beta()
  beta "b"
  alpha "a"
  sub A
  root <T1
  sub B
  root <T2
A<P
  alpha "a"
B<P
  beta "b"`, `
			P.0 T1 → A at 3, answered 4, leaked 2=A.0
			P.0 T2 → B at 5, answered 6, leaked 1=B.0`},
		{"an unreferenced child has twins too", `
P
  root T1>worker()
  worker "one" c1()
  worker "two"
  root <T1
C<P
  worker <c1
  summary "so far"
  worker "two"`,
			`P.0 T1 → C, answered 3, leaked 1 2=C.2`},
	})
}
