package kagent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
)

// asking is a turn with one call that a person is asked about, and maybe one beside it
// that nobody is asked about.
func asking(pauses kagenttest.Pauses, approval kagenttest.Approval, beside bool) kagenttest.Program {
	batch := []kagenttest.Call{{ID: "gated", Agent: kagenttest.Worker, Ask: "Apply the manifest", Answer: "applied", Approval: approval}}
	if beside {
		batch = append(batch, kagenttest.Call{ID: "free", Agent: kagenttest.Worker, Ask: "List the pods", Answer: "three"})
	}
	turn := kagenttest.Turn{Ask: "Apply it", Work: [][]kagenttest.Call{batch}, Answer: "done"}
	return kagenttest.Program{Name: "asking", Sharing: kagenttest.PerCall, Pauses: pauses, Conversations: []kagenttest.Conversation{{Turns: []kagenttest.Turn{turn}}}}
}

// verdicts are the rules of a plan: those that it repairs, and those of its findings with
// the ids of the calls that they are about, where tool is a worker's own.
func verdicts(plan *repair.Plan) (list []string) {
	for _, tree := range plan.Trees {
		for _, fix := range tree.Fixes {
			list = append(list, "repairs "+fix.Rule)
		}
	}
	for _, f := range plan.Findings {
		id := f.Call
		if strings.HasPrefix(id, "call_") {
			id = "tool"
		}
		list = append(list, fmt.Sprint(f.Rule.ID, " ", id))
	}
	slices.Sort(list)
	return list
}

// TestApprovals holds for every order of runtimes that an approval is no defect, open or
// given, and that what it cost the call beside it is one.
func TestApprovals(t *testing.T) {
	for _, c := range []struct {
		pauses   kagenttest.Pauses
		approval kagenttest.Approval
		beside   bool
		want     []string
	}{
		{kagenttest.AtResponses, kagenttest.Waiting, false, []string{"SC102 gated", "SC102 tool"}},
		{kagenttest.AtResponses, kagenttest.Approved, false, nil},
		{kagenttest.AtQuestion, kagenttest.Waiting, false, []string{"SC102 gated", "SC102 tool"}},
		{kagenttest.AtQuestion, kagenttest.Waiting, true, []string{"SC102 gated", "SC102 tool", "SC719 ", "repairs SC101"}},
		{kagenttest.AtQuestion, kagenttest.Approved, false, nil},
		{kagenttest.AtQuestion, kagenttest.Approved, true, []string{"SC719 ", "repairs SC101"}},
		{kagenttest.BehindQuestion, kagenttest.Waiting, false, []string{"SC102 gated", "SC102 tool"}},
		{kagenttest.BehindQuestion, kagenttest.Approved, false, nil},
	} {
		for _, form := range []string{"python", "go 1", "go 2"} {
			t.Run(fmt.Sprint(c.pauses, " ", c.approval, " ", c.beside, " ", form), func(t *testing.T) {
				path, _ := build(t, asking(c.pauses, c.approval, c.beside), kagenttest.Forms[form])
				plan, _, err := repairtest.Plan(path)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.want, verdicts(plan)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestNobodyApprovesAnyMore where the task was given up: a call without a result is lost.
func TestNobodyApprovesAnyMore(t *testing.T) {
	for state, want := range map[string]bool{"input-required": true, "canceled": false} {
		path, truth := build(t, asking(kagenttest.AtQuestion, kagenttest.Waiting, false), kagenttest.Forms["python"])
		run(t, path, `update task set data = replace(data, '"state":"input-required"', '"state":"`+state+`"')`)
		_, trees := read(t, path)
		_, caller := sessionOf(trees, truth.Calls[0].Parent, truth.Calls[0].User)
		if got := callOf(caller, "gated").Waits; got != want {
			t.Errorf("%s: the call waits: %v", state, got)
		}
	}
}
