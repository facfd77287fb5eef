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
		{"a child's equal result of another time is no copy", `
P
  root c1>alpha() c2>beta()
  alpha <c1! "failed" at=1
  beta "asking" c1>alpha() at=2
  alpha <c1! "failed" at=3
  sub C
  root <c2
C<P
  beta "asking" c1>alpha() at=2
  beta <c1! "failed" at=3`, `
			P.0 c1 → none, answered 1
			P.0 c2 → C at 4, answered 5, leaked 2=C.0 3=C.1
			C.0 c1 → none, answered 1`},
		{"what the agent that took over asked later says nothing of a batch that is over", `
P
  root c1>alpha() h1:handoff(beta)
  gamma "doing" c1()
  alpha <c1! "failed"
  root <h1
  beta "mine" c1()
  gamma "half"
  beta <c1
  beta <c1`,
			`P.0 c1 → none, answered 2, leaked 1`},
		{"the same, but the caller came back: it is the caller's", `
P
  root c1>worker()
  worker "over" c1>alpha() h1:handoff(alpha)
  alpha <c1
  root "fine"`,
			`P.0 c1 → none, answered 2, leaked 1`},
	})
}

// A call that never got its result does not claim what children say later: a run that
// was killed never answers, and a result that came late has its caller's name, or is
// older than the window that it stands in.
func TestResultsOfCallsThatWereGivenUp(t *testing.T) {
	runCases(t, []replayCase{
		{"a child's child ended in silence, and its call used the id of one that was killed", `
P
  root c1>worker()
  user
  root c2>alpha()
  worker <c1 "x"
  sub C
  root <c2
C<P
  alpha c1>worker()
  sub D
  alpha <c1 "x"
D<C
  user implicit`, `
			P.0 c1 → none, until 1
			P.2 c2 → C at 4, answered 5, leaked 3=C.2
			C.0 c1 → D at 1, answered 2`},
		{"the same, and nothing of the child is stored", `
P
  root c1>worker()
  user
  root c2>alpha()
  worker <c1
  root <c2`, `
			P.0 c1 → none, until 1
			P.2 c2 → none, answered 4, leaked 3`},
		{"the killed call was the worker's own, and the child has the copy", `
P
  root h1:handoff(worker)
  root <h1
  worker c1()
  user
  root c2>alpha()
  worker <c1 "x"
  sub C
  root <c2
C<P
  alpha c1>worker()
  alpha <c1 "x"`, `
			P.4 c2 → C at 6, answered 7, leaked 5=C.1
			C.0 c1 → none, answered 1`},
		{"without a copy its own late result is its own", `
P
  root h1:handoff(worker)
  root <h1
  worker c1()
  user
  root c2>alpha()
  worker <c1
  root <c2`,
			`P.4 c2 → none, answered 6`},
		{"a result that is older than the window came late", `
P
  root c1>worker() at=1
  user at=3
  root c2>alpha() at=4
  worker <c1 at=2
  root <c2 at=5`, `
			P.0 c1 → none, until 1
			P.2 c2 → none, answered 4`},
	})
}
