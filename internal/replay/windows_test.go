package replay_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		{"a background delegation is answered at any time", `
P
  root B1>>ann() s1()
  root <s1
  root B2>>bob()
  root "meanwhile"
  user
  root T1>cat()
  root <B2
  cat "c"
  root <T1
  root <B1`, `
			P.0 B1 → none, answered 9
			P.2 B2 → none, answered 6
			P.5 T1 → none, answered 8, leaked 7`},
		{"but not by a result of a later call with its id", `
P
  root B1>>ann()
  root "meanwhile" B1()
  root <B1`,
			`P.0 B1 → none, until 3`},
		{"two of one id are answered one after the other", `
P
  root B1>>ann() B1>>bob()
  root <B1
  root "meanwhile"
  root <B1`, `
			P.0 B1 → none, answered 1
			P.0 B1 → none, answered 3`},
		{"a call that waited for a person has two results", `
P
  root T1>ann() T2>bob()
  root <T1? <T2?
  root a1:ask()
  user
  root <T1? <T2
  root <T1
  root <T1`, `
			P.0 T1 → none, answered 1 and 5
			P.0 T2 → none, answered 1 and 4`},
		{"a placeholder is no answer of one that waits", `
P
  root T1>ann()
  root <T1?
  root <T1~
  root <T1`,
			`P.0 T1 → none, answered 1 and 3`},
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
	trace := replay.TraceStored(treetest.Tree(t, `
P
  user
  root T1>worker()
  worker "doing" w1()
  worker <w1
  sub C
  root <T1
C<P
  worker "done"`))
	for i, step := range sessionOf(trace, "P").Steps {
		if (step.Action == replay.Skip) != (i == 2 || i == 3) {
			t.Errorf("item %d: %v", i, step.Action)
		}
	}
}

// TestChildrenApart: what stands behind the call of a child in another process is the
// caller's own, and the result comes at any time.
func TestChildrenApart(t *testing.T) {
	tree := treetest.Tree(t, `
P
  root T1>ann()=C T2>bob()
  root a1:ask()
  user
  root "meanwhile"
  root <T1? <T2
  root <T1
  root "done"
C
  ann "it"`)
	calls := tree.Root().Items[0].Calls
	for n := range calls {
		calls[n].Delegation.Apart = true
	}
	trace := replay.TraceStored(tree)
	for i, step := range trace.Sessions[0].Steps {
		if step.Action != replay.Persist || step.Depth != 0 {
			t.Errorf("item %d is at depth %d", i, step.Depth)
		}
	}
	want := "P.0 T1 → C, answered 4 and 5\nP.0 T2 → none, answered 4"
	if diff := cmp.Diff(want, strings.TrimSpace(describe(trace))); diff != "" {
		t.Error(diff)
	}
	if d := trace.Sessions[0].Delegations; d[0].End != 6 || d[1].End != 5 {
		t.Errorf("they end at %d and %d", d[0].End, d[1].End)
	}
}
