package repair

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// sharing is a conversation whose two calls share the session W.
func sharing(t *testing.T) *session.Tree {
	return treetest.Tree(t, `
P user=ann
  user
  root T1>worker(one)=W T2>worker(two)=W at=1
  root <T1=W "a" <T2=W "b" at=9
  root "fine" at=10
W user=ann agent=worker "one" delegated timed
  run R1 run=i1 asked(one) answered(a) at=2
  run R2 run=i2 asked(two) answered(b) at=3
  user "one" run=i1 at=2
  user "two" run=i2 at=3
  worker "b" run=i2 at=4
  worker "a" run=i1 at=5`)
}

// splitting are the edits that part W, as its finding has them.
func splitting(t *testing.T, tree *session.Tree) Fix {
	t.Helper()
	for _, f := range check.RunTree(&session.Store{}, tree, []*rules.Rule{catalogue.FindRule("SC707")}, rules.Judge{}) {
		if len(f.Fixes) == 1 {
			return Fix{Rule: f.Rule.ID, Fix: f.Fixes[0]}
		}
	}
	t.Fatal("no split is offered")
	return Fix{}
}

func titled(call *session.Call) (string, []session.Item) { return "about " + call.Args, nil }

func TestASplitOnTheDesk(t *testing.T) {
	tree := sharing(t)
	fix := splitting(t, tree)
	if fix.Title != "split session W: 2 calls into 2 sessions" {
		t.Errorf("the title is %q", fix.Title)
	}
	planned := &Tree{Root: "P", Fixes: []Fix{fix}}
	c, err := planned.executeFixes(tree, titled, nil)
	if err != nil {
		t.Fatal(err)
	}
	id := fix.Edits[0].NewID
	if diff := cmp.Diff(map[string]string{id: "W"}, c.Split); diff != "" {
		t.Errorf("what was split: %s", diff)
	}
	got := c.After.Session(id)
	want := *tree.Session("W")
	want.ID, want.Title, want.Created, want.Updated = id, "about two", tree.Session("W").Items[1].Time, tree.Session("W").Items[1].Time
	want.Runs, want.Items = want.Runs[1:], want.Items[1:3]
	if diff := cmp.Diff(&want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the new session: %s", diff)
	}
	kept := c.After.Session("W")
	if len(kept.Items) != 2 || len(kept.Runs) != 1 || kept.Runs[0].ID != "R1" || kept.Title != "one" {
		t.Errorf("what stays is %+v", kept)
	}
	calls, results := c.After.Root().Items[1].Calls, c.After.Root().Items[2].Results
	for n, child := range []string{"W", id} {
		if calls[n].Delegation.Child != child || results[n].Child != child {
			t.Errorf("call %d names %s, its result %s, and not %s", n, calls[n].Delegation.Child, results[n].Child, child)
		}
	}
	if diff := cmp.Diff(sharing(t), tree); diff != "" {
		t.Errorf("the tree that it was made on changed: %s", diff)
	}
	if stateOf(tree) == stateOf(c.After) {
		t.Error("planning takes both for one state")
	}
	if len(c.edited) != 1 || c.added != 0 || len(c.kept) != 1 || !c.kept[0].Edited {
		t.Errorf("%d records are edited, %d added, and the receipt keeps %v", len(c.edited), c.added, c.kept)
	}
}

// What a person was asked about a run and answered names the session that the run is in.
func TestASplitTakesQuestionsAlong(t *testing.T) {
	about := func(run string) session.Question { return session.Question{Child: "W", Run: run} }
	tree := sharing(t)
	items := tree.Root().Items
	items[2].Results[0].Question, items[2].Results[1].Question = about("R1"), about("R2")
	items[3].Calls = []session.Call{{ID: "q1", Question: about("R1")}, {ID: "q2", Question: about("R2")}}
	items[3].Results = []session.Result{{CallID: "q2", Question: about("R2")}, {CallID: "q3", Question: session.Question{Child: "V", Run: "R2"}}}
	fix := splitting(t, tree)
	after, err := (&Tree{Root: "P", Fixes: []Fix{fix}}).Foresee(tree, titled)
	if err != nil {
		t.Fatal(err)
	}
	id := fix.Edits[0].NewID
	items = after.Root().Items
	got := []string{
		items[2].Results[0].Question.Child, items[2].Results[1].Question.Child, items[3].Calls[0].Question.Child, items[3].Calls[1].Question.Child,
		items[3].Results[0].Question.Child, items[3].Results[0].Child, items[3].Results[1].Question.Child,
	}
	if diff := cmp.Diff([]string{"W", id, "W", id, id, "", "V"}, got); diff != "" {
		t.Errorf("the questions name: %s", diff)
	}
}

// A new session has a parent where the one that it is split from has.
func TestASplitSessionHasAParentWhereTheOtherOneHas(t *testing.T) {
	tree := sharing(t)
	tree.Session("W").Parent = "P"
	fix := splitting(t, tree)
	after, err := (&Tree{Root: "P", Fixes: []Fix{fix}}).Foresee(tree, titled)
	if err != nil {
		t.Fatal(err)
	}
	if parent := after.Session(fix.Edits[0].NewID).Parent; parent != "P" {
		t.Errorf("its parent is %q", parent)
	}
}

func TestASplitThatDoesNotFitIsRefused(t *testing.T) {
	for name, change := range map[string]func(edits []session.Edit){
		"the session is there already":   func(edits []session.Edit) { edits[0].NewID = "P" },
		"nothing to split":               func(edits []session.Edit) { edits[0].Like = "X" },
		"no parent":                      func(edits []session.Edit) { edits[0].To = "X" },
		"no call":                        func(edits []session.Edit) { edits[0].Call = nil },
		"a run that is not there":        func(edits []session.Edit) { edits[3].Ref.Key = "R9" },
		"a run of another session":       func(edits []session.Edit) { edits[3].Ref.Session = "P" },
		"a run to nowhere":               func(edits []session.Edit) { edits[3].To = "X" },
		"a result that is not there":     func(edits []session.Edit) { edits[4].Ref.Pointer = "/results/7" },
		"a result that names it already": func(edits []session.Edit) { *edits[4].Value = "W" },
		"a part that is no result":       func(edits []session.Edit) { edits[4].Ref.Pointer = "/calls/0" },
		"an item that goes behind a message of another session": func(edits []session.Edit) {
			edits[2].After = session.Ref{Table: "items", Key: "1"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			tree := sharing(t)
			fix := splitting(t, tree)
			if ops := []session.Op{fix.Edits[0].Op, fix.Edits[3].Op, fix.Edits[4].Op}; ops[0] != session.Create || ops[1] != session.MoveRun || ops[2] != session.Set {
				t.Fatalf("the edits are %v", ops)
			}
			change(fix.Edits)
			if newDraft(tree, titled).applyFix(fix.Edits) == nil {
				t.Error("it was made")
			}
		})
	}
}

// A fix that needs a result, a message or a run as it is waits for the next round.
func TestASplitOverlapsWithWhatItChanges(t *testing.T) {
	tree := sharing(t)
	fix := splitting(t, tree)
	c := newClaims()
	c.claimEdits(fix.Edits)
	result := session.Edit{Op: session.Quarantine, Ref: tree.Root().ItemRef(2)}
	message := session.Edit{Op: session.Quarantine, Ref: tree.Session("W").ItemRef(2)}
	run := session.Edit{Op: session.MoveRun, Ref: tree.Session("W").RunRef(1), To: "P"}
	for name, e := range map[string]session.Edit{"the result": result, "a message": message, "a run": run} {
		if !c.conflictsWith([]session.Edit{e}) {
			t.Errorf("%s is not claimed", name)
		}
	}
	if other := (session.Edit{Op: session.Quarantine, Ref: tree.Session("W").ItemRef(0)}); c.conflictsWith([]session.Edit{other}) {
		t.Error("what stays is claimed")
	}
}

// What a step says is found out where the plan is made.
func TestTheStepsOfASplit(t *testing.T) {
	tree := sharing(t)
	fix := splitting(t, tree)
	steps := newOrigin(tree).describeSteps(itemsByRow(tree), fix.Edits)
	if s := steps[0]; s.Like != "W" || s.Child != fix.Edits[0].NewID || s.Agent != "worker" {
		t.Errorf("the new session: %+v", s)
	}
	if s := steps[3]; s.Run != "R2" || s.Session != "W" || s.Item != -1 {
		t.Errorf("the run: %+v", s)
	}
	if s := steps[4]; s.Call != "T2" || s.Session != "P" || s.Item != 2 {
		t.Errorf("the result: %+v", s)
	}
}
