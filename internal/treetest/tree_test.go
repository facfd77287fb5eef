package treetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sessctl/sessctl/internal/session"
)

func TestTheNotationSaysWhatItSays(t *testing.T) {
	tree := Tree(t, `
P "Fix the build" model=openai/gpt-5
  user
  root "I ask" think(who knows) T1>worker(do it)=C s1:grep(-r) B1>>beta() at=3
  sub C
  root <T1 "done" <s1! <z~
  summary "so far" kept=2 pos=9
C<P agent=worker
  system(do it)
  user implicit
`)
	p, c := tree.Sessions[0], tree.Sessions[1]
	if p.Title != "Fix the build" || p.Model != "openai/gpt-5" || c.Parent != "P" || c.Agent != "worker" || p.Children[0] != c {
		t.Errorf("sessions %+v and %+v", p, c)
	}
	task := session.DigestOf("do it")
	if c.Task != task || !c.Items[1].Flags.Has(session.Implicit) {
		t.Errorf("the child's start: %+v", c)
	}
	ignore := cmp.Options{AlikeShared, cmpopts.IgnoreFields(session.Shared{}, "Table"), cmpopts.IgnoreFields(session.Item{}, "Key", "Meaning", "Text"), cmpopts.IgnoreFields(session.Result{}, "Digest")}
	want := []session.Item{
		{Role: session.User, Body: &session.Body{Text: "user"}},
		{
			Position: 1, Role: session.Assistant, Shared: &session.Shared{Agent: "root"}, Time: Start.Add(3 * time.Second),
			Body: &session.Body{Text: "I ask", Reasoning: "who knows"},
			Calls: []session.Call{
				{ID: "T1", Name: "transfer_task", Args: "do it", Delegation: &session.Delegation{Agent: "worker", Task: task, Child: "C", Blocking: true}},
				{ID: "s1", Name: "grep", Args: "-r"},
				{ID: "B1", Name: "run_background_agent", Delegation: &session.Delegation{Agent: "beta"}},
			},
		},
		{Position: 2, Kind: session.SubSession, Shared: &session.Shared{Child: "C"}, Body: &session.Body{}},
		{
			Position: 3, Role: session.Tool, Shared: &session.Shared{Agent: "root"}, Body: &session.Body{},
			Results: []session.Result{
				{CallID: "T1", Text: "done"}, {CallID: "s1", Text: "result of s1", IsError: true}, {CallID: "z", Text: "result of z", Synthetic: true},
			},
		},
		{Position: 9, Kind: session.Summary, Shared: &session.Shared{KeptFrom: 2}, Body: &session.Body{Text: "so far"}},
	}
	if diff := cmp.Diff(want, p.Items, ignore); diff != "" {
		t.Error(diff)
	}
}

func TestTheNotationHasRunsAndChildrenOfResults(t *testing.T) {
	tree := Tree(t, `
P user=ann
  root T1>worker(do it)=C at=1
  root <T1=C "done" <T2?=C
C delegated deleted timed
  run R run=i1 asked(do it) answered(done) at=2 until=4
  run Q open
  user "do it" run=i1 at=2
  worker "done" run=i1 at=3`)
	p, c := tree.Sessions[0], tree.Sessions[1]
	at := func(n int) time.Time { return Start.Add(time.Duration(n) * time.Second) }
	want := []session.Run{
		{ID: "R", State: "completed", Invocation: "i1", Asked: session.DigestOf("do it"), Answered: session.DigestOf("done"), Began: at(2), Ended: at(4)},
		{ID: "Q", State: "working", Open: true},
	}
	if diff := cmp.Diff(want, c.Runs); diff != "" {
		t.Error(diff)
	}
	if p.User != "ann" || !c.Delegated || !c.Deleted || c.Items[1].Position != at(3).UnixMicro() || p.Children[0] != c {
		t.Errorf("sessions %+v and %+v", p, c)
	}
	done, waits := p.Items[1].Results[0], p.Items[1].Results[1]
	if done.Child != "C" || done.Answer != done.Digest || waits.Child != "C" || !waits.Pending || waits.Answer != 0 {
		t.Errorf("results %+v and %+v", done, waits)
	}
}

func TestEqualItemsAreTwins(t *testing.T) {
	items := Tree(t, `
P
  worker "ok" c1()
  worker "ok" c1() at=5
  worker "ok" c2()
  beta "ok" c1()
  worker <c1
  beta <c1`).Root().Items
	same := func(a, b int) bool { return items[a].Meaning == items[b].Meaning }
	if !same(0, 1) || same(0, 2) || same(0, 3) || !same(4, 5) {
		t.Error("role, agent, text, calls and results count, times and the agent of a result do not")
	}
}
