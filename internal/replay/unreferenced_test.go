package replay_test

import "testing"

// A crash or a compaction inside a child leaves a session that names its parent
// and that no item refers to.
func TestChildrenThatNoItemRefersTo(t *testing.T) {
	runCases(t, []replayCase{
		{"the only call that fits", `
P
  root T1>worker(do it)
  root <T1
C<P
  worker "done"`,
			`P.0 T1 → C, answered 1`},
		{"an unanswered call fits as well", `
P
  root T1>worker(do it)
C<P
  worker "done"`,
			`P.0 T1 → C, until 1`},
		{"the task decides between two", `
P
  root T1>worker(one)
  root <T1
  root T2>worker(two)
  root <T2
C<P
  system(two)
  worker "done"`, `
			P.0 T1 → none, answered 1
			P.2 T2 → C, answered 3`},
		{"the answer decides between two", `
P
  root T1>worker()
  root <T1 "one"
  root T2>worker()
  root <T2 "two"
C<P
  worker "one"`, `
			P.0 T1 → C, answered 1
			P.2 T2 → none, answered 3`},
		{"the time decides between two", `
P
  root T1>worker() at=10
  root <T1 at=20
  root T2>worker() at=30
  root <T2 at=40
C<P
  worker "x" at=33`, `
			P.0 T1 → none, answered 1
			P.2 T2 → C, answered 3`},
		{"a background child may begin after the result of its call", `
P
  root B1>>worker() at=10
  root <B1 at=11
  root "fine" at=12
C<P
  worker "x" at=60`,
			`P.0 B1 → C, answered 1`},
		{"several fit: nobody is linked", `
P
  root T1>worker()
  root <T1
  root T2>worker()
  root <T2
C<P
  worker "x"`, `
			P.0 T1 → none, answered 1
			P.2 T2 → none, answered 3`},
		{"a call that has its child is not asked", `
P
  root T1>worker()
  sub A
  root <T1
  root T2>worker()
  root <T2
A<P
  worker "a"
C<P
  worker "x"`, `
			P.0 T1 → A at 1, answered 2
			P.3 T2 → C, answered 4`},
		{"another task contradicts", `
P
  root T1>worker(one)
  root <T1
C<P
  system(two)
  worker "x"`,
			`P.0 T1 → none, answered 1`},
		{"another agent contradicts", `
P
  root T1>worker()
  root <T1
C<P
  other
  beta "x"`,
			`P.0 T1 → none, answered 1`},
		{"begun before the call contradicts", `
P
  root T1>worker() at=10
  root <T1 at=20
C<P
  worker "x" at=5`,
			`P.0 T1 → none, answered 1`},
		{"begun after the result contradicts", `
P
  root T1>worker() at=10
  root <T1 at=20
C<P
  worker "x" at=25`,
			`P.0 T1 → none, answered 1`},
		{"a second's difference is within the resolution of stored times", `
P
  root T1>worker() at=10
  root <T1 at=20
C<P
  worker "x" at=9`,
			`P.0 T1 → C, answered 1`},
	})
}
