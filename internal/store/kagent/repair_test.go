package kagent_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// found are the findings of a plan above info.
func found(plan *repair.Plan) []string {
	var list []string
	for _, f := range plan.Findings {
		if f.Severity > rules.Info {
			list = append(list, fmt.Sprint(f.Rule.ID, " ", f.Message))
		}
	}
	return list
}

// TestElevenCallsInOneSession is kagent-dev/kagent#2137: what it looks like, what the
// split makes of it, and that it can be taken back.
func TestElevenCallsInOneSession(t *testing.T) {
	for _, form := range []string{"python", "go 1", "go 2, quoted"} {
		t.Run(form, func(t *testing.T) {
			path, truth := build(t, kagenttest.Script("collapsed-11"), kagenttest.Forms[form])
			before := storetest.Dump(t, path)
			plan, receipt, err := repairtest.Repair(path, "split")
			if err != nil {
				t.Fatal(err)
			}
			if len(plan.Trees) != 1 || len(plan.Trees[0].Fixes) != 1 || plan.Trees[0].Fixes[0].Rule != "SC707" {
				t.Fatalf("the plan is %+v, and leaves %v", plan.Trees, found(plan))
			}
			split := splitAs(t, path, truth)
			split.places(t, path)
			if again, _, err := repairtest.Plan(path, "split"); err != nil || !again.IsEmpty() || len(found(again)) > 0 {
				t.Errorf("a second check finds %v (%v)", found(again), err)
			}
			if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
				t.Errorf("after the undo: %s", diff)
			}
		})
	}
}

// splitAs splits how the eleven calls are split in a file: each has a session with one task.
func splitAs(t *testing.T, path string, truth *kagenttest.Written) *splitter {
	t.Helper()
	_, trees := read(t, path)
	if len(trees) != 1 || len(trees[0].Sessions) != 12 {
		t.Fatalf("%d trees, the first of %d sessions", len(trees), len(trees[0].Sessions))
	}
	s := &splitter{truth: truth, homes: map[string]string{}, loose: true}
	var titles []string
	for _, session := range trees[0].Sessions {
		if !session.Delegated && session.Agent != kagenttest.Worker {
			continue
		}
		if len(session.Runs) != 1 {
			t.Errorf("session %s has %d tasks", session.ID, len(session.Runs))
			continue
		}
		s.homes[session.Runs[0].ID] = session.ID
		titles = append(titles, session.Title)
	}
	slices.Sort(titles)
	if n := len(slices.Compact(titles)); n != 1 {
		t.Errorf("the sessions have %d titles, although all requests begin alike", n)
	}
	return s
}

// TestInterruptedCalls gives calls that nobody answered a result, in the form of the
// events around them (K1): a second repair has nothing to do, and undo gives back what
// was stored.
func TestInterruptedCalls(t *testing.T) {
	forms := maps.Clone(kagenttest.Forms)
	forms["openai"] = kagenttest.Form{Generation: kagenttest.Current, Dialect: kagenttest.OpenAI, Times: kagenttest.GORM}
	for form := range forms {
		t.Run(form, func(t *testing.T) {
			path, _ := build(t, kagenttest.Script("interrupted"), forms[form])
			before := storetest.Dump(t, path)
			_, receipt, err := repairtest.Repair(path)
			if err != nil {
				t.Fatal(err)
			}
			if receipt == nil {
				t.Fatal("there was nothing to do")
			}
			if again, _, err := repairtest.Plan(path); err != nil || !again.IsEmpty() || len(found(again)) > 0 {
				t.Errorf("a second check finds %v (%v)", found(again), err)
			}
			if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
				t.Errorf("after the undo: %s", diff)
			}
		})
	}
}
