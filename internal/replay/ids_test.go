package replay_test

import "testing"

// Providers count call ids from one in every completion or session, so a child
// may use an id of its caller.
func TestIDsThatCallerAndChildShare(t *testing.T) {
	runCases(t, []replayCase{
		{"the child's result did not leak, so the only result is the caller's", `
P
  root c1>worker()
  worker "doing" c1()
  root <c1
  root "fine"`,
			`P.0 c1 → none, answered 2, leaked 1`},
		{"of two results the last is the caller's", `
P
  root c1>worker()
  worker "doing" c1()
  worker <c1
  root <c1
  root "fine"`,
			`P.0 c1 → none, answered 3, leaked 1 2`},
		{"the child used the id twice", `
P
  root c1>worker()
  worker "doing" c1()
  worker <c1
  worker "more" c1()
  worker <c1
  root <c1`,
			`P.0 c1 → none, answered 5, leaked 1 2 3 4`},
		{"the caller uses the id again in its next turn", `
P
  root c1>worker()
  worker "doing" c1()
  root <c1
  root "again" c1>worker()
  worker "doing"
  root <c1
  root "fine"`, `
			P.0 c1 → none, answered 2, leaked 1
			P.3 c1 → none, answered 5, leaked 4`},
		{"two delegations of one batch share an id", `
P
  root c1>alpha() c1>beta()
  alpha "a"
  root <c1
  beta "b"
  root <c1
  root "fine"`, `
			P.0 c1 → none, answered 2, leaked 1
			P.0 c1 → none, answered 4, leaked 3`},
		{"children used it before and after, and one result became a row of theirs", `
P
  root c1>worker()
  worker "asking" c1>grand()
  grand <c1
  worker "more" c1()
  worker <c1
  root "fine"`,
			`P.0 c1 → none, answered 4, leaked 1 2 3`},
		{"a later call of the batch cannot have its result yet", `
P
  root c4>alpha() c5>beta()
  alpha "asking" c5>grand()
  grand <c5
  root <c4
  beta "b"
  root <c5`, `
			P.0 c4 → none, answered 3, leaked 1 2
			P.0 c5 → none, answered 5, leaked 4`},
		{"a result under the caller's own name is the caller's", `
P
  root c6>worker() c8>alpha()
  worker "doing" c6()
  root <c6
  alpha "a"
  beta <c6
  root <c8`, `
			P.0 c6 → none, answered 2, leaked 1
			P.0 c8 → none, answered 5, leaked 3 4`},
		{"the row that a silent child began ends it, before its sub-session item", `
P
  root c3>alpha() h1:handoff(beta)
  gamma "asking" c3>delta()
  alpha <c3
  sub C
  root <h1
  beta "mine" c3()
  beta <c3
C<P
  alpha c1>gamma()
  alpha <c1`, `
			P.0 c3 → C at 3, answered 2, leaked 1/C.0
			C.0 c1 → none, answered 1`},
		{"a result names whom a leaked call asked, and the caller never came back", `
P
  root c1>worker()
  beta "asking" c1>alpha()
  alpha <c1
  beta "half" unfinished
  user
  root "again"`,
			`P.0 c1 → none, until 4, leaked 1 2 3`},
		{"the same, but the caller came back: it is the caller's", `
P
  root c1>worker()
  worker "over" c1>alpha() h1:handoff(alpha)
  alpha <c1
  root "fine"`,
			`P.0 c1 → none, answered 2, leaked 1`},
	})
}
