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
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// renameQuestions is a turn with one call that a person is asked about, and maybe one beside it
// that nobody is asked about.
func renameQuestions(pauses kagenttest.Pauses, approval kagenttest.Approval, beside bool) kagenttest.Program {
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
				path, _ := build(t, renameQuestions(c.pauses, c.approval, c.beside), kagenttest.Forms[form])
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
		path, truth := build(t, renameQuestions(kagenttest.AtQuestion, kagenttest.Waiting, false), kagenttest.Forms["python"])
		run(t, path, `update task set data = replace(data, '"state":"input-required"', '"state":"`+state+`"')`)
		_, trees := read(t, path)
		_, caller := sessionOf(trees, truth.Calls[0].Parent, truth.Calls[0].User)
		if got := callOf(caller, "gated").Waits; got != want {
			t.Errorf("%s: the call waits: %v", state, got)
		}
	}
}

// deleting are the statements that take the events with questions away, as an executor does
// that stops before it stores them (kagent-dev/kagent#2731).
const deleting = `delete from event where data like '%adk_request_confirmation%'`

// setState gives waiting tasks another state, in the spelling of both versions of A2A.
func setState(state, newer string) string {
	return fmt.Sprintf(`update task set data = replace(replace(data, 'input-required', '%s'), 'TASK_STATE_INPUT_REQUIRED', '%s')`, state, newer)
}

// withoutMessage leaves a task its state alone.
const withoutMessage = `update task set data = case json_type(data)
	when 'text' then json_quote(json_remove(data ->> '$', '$.status.message')) else json_remove(data, '$.status.message') end
	where data like '%input_required%'`

// TestTheTaskAloneTellsOfAnApproval: a call without a result waits where the task of its
// invocation says that it waits for somebody, although no event tells of a question.
func TestTheTaskAloneTellsOfAnApproval(t *testing.T) {
	for _, c := range []struct {
		name   string
		beside bool
		after  []string
		want   []string
	}{
		{"the task names the call", false, nil, []string{"SC102 gated", "SC102 tool"}},
		{"the task names one of two calls", true, nil, []string{"SC102 gated", "SC102 tool", "repairs SC101"}},
		{"the task names none", true, []string{withoutMessage}, []string{"SC102 free", "SC102 gated", "SC102 tool"}},
		{"it waits for credentials", false, []string{setState("auth-required", "TASK_STATE_AUTH_REQUIRED")}, []string{"SC102 gated", "SC102 tool"}},
		{"it was given up", false, []string{setState("failed", "TASK_STATE_FAILED")}, []string{"repairs SC101", "repairs SC101"}},
	} {
		for _, form := range sortedForms() {
			t.Run(c.name+" "+form, func(t *testing.T) {
				path, _ := build(t, renameQuestions(kagenttest.AtQuestion, kagenttest.Waiting, c.beside), kagenttest.Forms[form])
				run(t, path, append([]string{deleting}, c.after...)...)
				plan, _, err := repairtest.Plan(path)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.want, ofCalls(verdicts(plan))); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// ofCalls are the verdicts about calls without a result: the event with the question was
// also what named the worker's session.
func ofCalls(all []string) []string {
	return slices.DeleteFunc(all, func(v string) bool { return !strings.Contains(v, "SC10") })
}

// TestAnEndedWaitEndsItsTask: what a person allows to be closed, and what nobody can answer
// any more, leaves no task that waits; an undo gives it back.
func TestAnEndedWaitEndsItsTask(t *testing.T) {
	const wentOn = `insert into event(id, session_id, user_id, created_at, updated_at, data)
		select 'later', session_id, user_id, '2030-01-01 00:00:00+00:00', '2030-01-01 00:00:00+00:00', replace(data, 'Apply it', 'Forget it')
		from event where data like '%Apply it%'`
	states := func(t *testing.T, path string) string {
		return strings.Join(storetest.Query(t, path, `select group_concat(case json_type(data) when 'text' then data ->> '$' else data end ->> '$.status.state') from task`), "")
	}
	for form := range kagenttest.Forms {
		for _, c := range []struct {
			name   string
			allow  []string
			beside bool
			after  []string
			ended  int
		}{
			{"allowed, no event tells", []string{"waiting"}, true, []string{deleting, withoutMessage}, 2},
			{"allowed, events tell", []string{"waiting"}, false, nil, 2},
			{"not allowed", nil, true, nil, 0},
			{"the user went on", nil, true, []string{wentOn}, 1},
		} {
			t.Run(form+" "+c.name, func(t *testing.T) {
				path, _ := build(t, renameQuestions(kagenttest.AtQuestion, kagenttest.Waiting, c.beside), kagenttest.Forms[form])
				run(t, path, c.after...)
				before := storetest.Dump(t, path)
				plan, receipt, err := repairtest.Repair(path, c.allow...)
				if err != nil {
					t.Fatal(err)
				}
				said := states(t, path)
				if got := strings.Count(strings.ToLower(said), "canceled"); got != c.ended {
					t.Errorf("%d tasks ended: %s\n%s", got, said, repairtest.Told(plan))
				}
				if receipt == nil {
					return
				}
				if again, _, err := repairtest.Plan(path, c.allow...); err != nil || !again.IsEmpty() {
					t.Errorf("a second repair has work: %v %v", err, again)
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
}
