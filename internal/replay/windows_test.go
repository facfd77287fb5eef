package replay_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/treetest"
)

func TestWindowsHoldWhatTheCallerCannotHaveSaid(t *testing.T) {
	runCases(t, []replayCase{
		{"a healthy delegation has no leak", `
P
  user
  root T1>worker(do it)
  sub C
  root <T1 "done"
  root "fine"
C<P
  system(do it)
  user implicit
  worker "done"`,
			`P.1 T1 → C at 2, answered 3`},
		{"assistant items and the results of their calls leak, the own result does not", `
P
  user
  root T1>worker()
  worker "doing" s1()
  worker <s1
  worker "done"
  root <T1 "done"
  root "fine"`,
			`P.1 T1 → none, answered 5, leaked 2 3 4`},
		{"ordinary results of the opener's batch never leak", `
P
  root s1() T1>worker() s2()
  root <s1
  worker "doing" w1()
  root <T1
  root <s2
  root "fine"`,
			`P.0 T1 → none, answered 3, leaked 2`},
		{"the window outlives one result of a batch", `
P
  root T1>alpha() T2>beta()
  alpha "a"
  root <T1
  beta "b"
  root <T2
  root "fine"`, `
			P.0 T1 → none, answered 2, leaked 1
			P.0 T2 → none, answered 4, leaked 3`},
		{"results may come in any order", `
P
  root T1>alpha() T2>beta()
  alpha "a"
  root <T2
  root <T1
  root "fine"`, `
			P.0 T1 → none, answered 3
			P.0 T2 → none, answered 2, leaked 1`},
		{"one tool item may answer the whole batch", `
P
  root T1>alpha() T2>beta()
  alpha "a"
  root <T1 <T2
  root "fine"`, `
			P.0 T1 → none, answered 2, leaked 1
			P.0 T2 → none, answered 2`},
		{"a user turn closes the window", `
P
  root T1>worker()
  worker "doing"
  user
  root "fine"
  root <T1`,
			`P.0 T1 → none, until 2, leaked 1`},
		{"an implicit user item does not close the window", `
P
  root T1>worker()
  user implicit
  worker "doing"
  root <T1`,
			`P.0 T1 → none, answered 3, leaked 2`},
		{"the end of the session closes the window", `
P
  root T1>worker()
  worker "doing"
  worker "mor" unfinished`,
			`P.0 T1 → none, until 3, leaked 1 2`},
		{"a handoff changes the agent, not the depth", `
P
  user
  root h1:handoff(beta)
  root <h1
  beta "here" b1()
  beta <b1
  beta T1>alpha()
  alpha "a"
  beta <T1
  beta "fine"`,
			`P.5 T1 → none, answered 7, leaked 6`},
		{"a background delegation opens no window", `
P
  root B1>>worker()
  root <B1 "started"
  root "meanwhile" s1()
  root <s1
  sub C
  root "fine"
C<P
  worker "done"`,
			`P.0 B1 → none, answered 1`},
		{"a background call in a blocking batch has its own result", `
P
  root B1>>alpha() T1>beta()
  root <B1 "started"
  beta "b"
  root <T1`, `
			P.0 B1 → none, answered 1
			P.0 T1 → none, answered 3, leaked 2`},
		{"a leaked delegation opens no window of its own", `
P
  root T1>worker()
  worker "asking" W1>grand()
  grand "g"
  worker <W1
  worker "done"
  root <T1
  root "fine" s1()
  root <s1`,
			`P.0 T1 → none, answered 5, leaked 1 2/1 3 4`},
		{"what reaches no model is nobody's leak", `
P
  root T1>worker()
  other
  summary "so far"
  system
  sub GONE
  root <T1`,
			`P.0 T1 → none, answered 5`},
		{"the result of a call that did not leak gives itself away by its agent", `
P
  root T1>worker() s1()
  worker <w1
  root <s1
  root <T1`,
			`P.0 T1 → none, answered 3, leaked 1`},
		{"a result under another name is the caller's when it answers the caller's call", `
P
  root T1>worker()
  worker <T1
  root "fine"`,
			`P.0 T1 → none, answered 1`},
		{"the caller speaks again when its child is complete, although the result is lost", `
P
  root T1>worker()
  worker "doing"
  sub C
  root "fine" s1()
  root <s1
C<P
  worker "doing"`,
			`P.0 T1 → C at 2, until 3, leaked 1=C.0`},
		{"a session that a repair rebuilt lacks results and has nothing but its own items", `
C
  system(do it) synthetic
  user implicit synthetic
  worker "asking" W1>grand(sub task) h1:handoff(gamma)
  sub G
  gamma "done" G1>grand()
  gamma "more"
G<C
  system(sub task)
  grand "found"`, `
			C.2 W1 → G at 3, until 4
			C.4 G1 → none, until 5`},
		{"but not while another child of the batch runs", `
P
  root T1>root() T2>root()
  sub A
  root <T1
  root "mine?"
  root <T2
A<P
  root "x"`, `
			P.0 T1 → A at 1, answered 2
			P.0 T2 → none, answered 4, leaked 3?`},
		{"an item with an own result is the caller's, whatever else it answers", `
P
  root T1>worker() s1()
  worker "doing" w1()
  root <w1 <s1
  root <T1`,
			`P.0 T1 → none, answered 3, leaked 1`},
	})
}

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
	})
}

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

// An agent may be host and worker in one session: its name proves nothing.
func TestItemsWithTheCallersNameAreUndecidableWithoutATwin(t *testing.T) {
	runCases(t, []replayCase{
		{"the caller's name and no copy", `
P
  root T1>worker()
  root "meanwhile" s1()
  root <s1
  root <T1`,
			`P.0 T1 → none, answered 3, leaked 1? 2?`},
		{"the caller's name and a copy", `
P
  root T1>root()
  root "mine"
  sub C
  root <T1
C<P
  root "mine"`,
			`P.0 T1 → C at 2, answered 3, leaked 1=C.0`},
		{"a decidable call makes its result decidable", `
P
  root T1>worker()
  worker "doing" w1()
  root <w1
  root <T1`,
			`P.0 T1 → none, answered 3, leaked 1 2`},
	})
}

func TestStepsSayWhy(t *testing.T) {
	trace := replay.Stored(treetest.Tree(t, `
P
  user
  root T1>worker()
  worker "doing" w1()
  worker <w1
  sub C
  root <T1
C<P
  worker "done"`))
	want := []replay.Reason{
		replay.OwnItem, replay.OwnItem, replay.BehindCall, replay.ResultOfLeaked, replay.OwnRecord, replay.OwnResult,
	}
	for i, step := range sessionOf(trace, "P").Steps {
		if step.Reason != want[i] || (step.Action == replay.Skip) != (i == 2 || i == 3) {
			t.Errorf("item %d: %v because %v, want %v", i, step.Action, step.Reason, want[i])
		}
	}
}
