package kagenttest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The scripts are the cases that they are named after, by plain SQL.
func TestScripts(t *testing.T) {
	const (
		workers     = "SELECT count(*), count(DISTINCT id) FROM session WHERE source = 'agent'"
		tasks       = "SELECT count(*), count(DISTINCT session_id) FROM task WHERE session_id IN (SELECT id FROM session WHERE source = 'agent')"
		invocations = "SELECT count(DISTINCT data ->> '$.invocation_id'), count(*) FROM event WHERE data ->> '$.author' = 'user' AND " +
			"session_id IN (SELECT id FROM session WHERE source = 'agent')"
		parts = "SELECT max(json_array_length(data, '$.content.parts')) FROM event"
	)
	tests := []struct {
		program Program
		query   string
		want    string
	}{
		{Script("collapsed-11"), workers, "1 1"},
		{Script("collapsed-11"), tasks, "11 1"},
		{Script("collapsed-11"), invocations, "11 11"},
		{Script("collapsed-11"), parts, "11"},
		{Script("collapsed-11"), "SELECT name FROM session WHERE source = 'agent'", "Check the pods of cl..."},
		{Script("collapsed-11"), "SELECT count(*) FROM event WHERE instr(data, 'subagent_session_id') > 0", "1"},
		{Script("isolated"), workers, "11 11"},
		{Script("isolated"), tasks, "11 11"},
		{Script("sequential"), workers, "1 1"},
		{Script("sequential"), tasks, "3 1"},
		{Script("within-request"), workers, "1 1"},
		{Script("within-request"), tasks, "2 1"},
		{Script("mixed-users"), workers, "2 1"},
		{Script("mixed-users"), "SELECT count(DISTINCT user_id) FROM task", "2"},
		{Script("pod-shared"), workers, "1 1"},
		{Script("pod-shared"), tasks, "2 1"},
		{Script("equal-requests"), tasks, "4 1"},
		{Script("pending-approval"), "SELECT group_concat(data ->> '$.status.state', ' ') FROM (SELECT data FROM task ORDER BY rowid)", "input-required input-required completed"},
		{Script("approval-given"), "SELECT DISTINCT data ->> '$.status.state' FROM task", "completed"},
		{Script("langgraph-worker"), "SELECT count(*), count(DISTINCT thread_id) FROM lg_checkpoint", "2 1"},
		{Script("crewai-worker"), "SELECT count(*), count(DISTINCT thread_id) FROM crewai_flow_state", "2 1"},
		{Script("openai-worker"), "SELECT count(*) FROM event WHERE data ->> '$.type' = 'conversation_items'", "4"},
		{Script("nested"), workers, "3 3"},
		{Script("interrupted"), "SELECT count(*) FROM event WHERE instr(data, '\"function_response\":{') > 0", "0"},
		{Script("plain-responses"), "SELECT count(*) FROM event WHERE instr(data, 'subagent_session_id') > 0", "0"},
		{Script("plain-responses"), "SELECT count(*) FROM task WHERE instr(data, 'kagent_subagent_session_id') > 0", "1"},
		{Script("failed"), workers, "0 0"},
		{Script("external"), workers, "1 1"},
		{Script("missing-worker"), workers, "0 0"},
		{Script("deleted-worker"), "SELECT count(*) FROM session WHERE deleted_at IS NOT NULL", "1"},
		{Script("orphans"), "SELECT count(*) FROM event WHERE session_id IS NULL OR session_id NOT IN (SELECT id FROM session)", "3"},
		{Script("orphans"), "SELECT count(*) FROM task WHERE session_id NOT IN (SELECT id FROM session)", "1"},
		{Script("partly-answered"), "SELECT count(*) FROM event WHERE instr(data, '\"function_response\":{') > 0", "1"},
		{Script("other-user"), "SELECT count(*) FROM event e WHERE NOT EXISTS (SELECT 1 FROM session s WHERE s.id = e.session_id AND s.user_id = e.user_id)", "3"},
		{Script("ties"), "SELECT count(*) - count(DISTINCT created_at) FROM event", "2"},
		{Script("mixed-dialect"), "SELECT count(*) FROM event WHERE data ->> '$.InvocationID' IS NOT NULL", "2"},
		{Script("stuck-task"), "SELECT count(*) FROM task WHERE data ->> '$.status.state' = 'working'", "1"},
	}
	for _, tt := range tests {
		t.Run(tt.program.Name, func(t *testing.T) {
			db, _ := build(t, tt.program, Forms["python"])
			if got := rows(t, db, tt.query); !slices.Equal(got, []string{tt.want}) {
				t.Errorf("got %v, want %s, of %s", got, tt.want, tt.query)
			}
		})
	}
}

// The invocations of a collapse are interleaved: after another one, one goes on.
func TestCollapsedRunsAreInterleaved(t *testing.T) {
	db, w := build(t, Script("collapsed-11"), Forms["go 2"])
	order := rows(t, db, fmt.Sprintf("SELECT data ->> '$.invocationId' FROM event WHERE session_id = '%s' ORDER BY created_at", w.Calls[0].Child))
	if runs := slices.Compact(slices.Clone(order)); len(runs) < 2*11 {
		t.Errorf("%d runs of one invocation in %d events", len(runs), len(order))
	}
}

// A run of one invocation answers a call that another one made.
func TestCrossIDs(t *testing.T) {
	db, w := build(t, Script("cross-ids"), Forms["go 1"])
	var answered []string
	for _, c := range w.Calls {
		answered = append(answered, rows(t, db, "SELECT data ->> '$.Content.parts[0].functionResponse.id' FROM event WHERE id = '"+c.Events[2]+"'")...)
	}
	if diff := cmp.Diff([]string{"call_of_the_left", "call_of_the_left"}, answered); diff != "" {
		t.Error(diff)
	}
}

// A call under approval has two responses, and its caller knows the task.
func TestApprovalGiven(t *testing.T) {
	for _, form := range []string{"python", "go 1", "go 2"} {
		db, w := build(t, Script("approval-given"), Forms[form])
		c := w.Calls[0]
		if len(c.Responses) != 2 || c.Open {
			t.Fatalf("%s: %+v", form, c)
		}
		first := rows(t, db, "SELECT data FROM event WHERE id = '"+c.Responses[0]+"'")[0]
		for _, part := range []string{`"status":"pending"`, `"task_id":"` + c.Task + `"`, `"context_id":"` + c.Child + `"`} {
			if !strings.Contains(first, part) {
				t.Errorf("%s: no %s in %s", form, part, first)
			}
		}
		if want := map[string]int{"python": 1, "go 1": 2, "go 2": 1}[form]; len(c.Invocations) != want {
			t.Errorf("%s: %d invocations, want %d", form, len(c.Invocations), want)
		}
	}
}

// Random programs have what properties need: shared sessions of all kinds, workers
// of workers, users who meet, and everything that can go wrong.
func TestRandomProgramsDiffer(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(150) {
		w := playProgram(Random(seed), Forms["python"]).buildTruth()
		shared := map[string][]Worked{}
		for _, c := range w.Calls {
			shared[c.Child] = append(shared[c.Child], c)
			seen["nested"] += count(!slices.ContainsFunc(w.Roots(), func(s Session) bool { return s.ID == c.Parent }))
			seen["open"] += count(c.Open)
			seen["never reached"] += count(c.Child == "")
			seen["unnamed"] += count(c.Child != "" && !c.Named)
			seen["elsewhere"] += count(c.Child != "" && c.Task == "")
			seen["approved"] += count(len(c.Responses) > 1)
			seen["without events"] += count(c.Task != "" && c.Events == nil)
		}
		for child, calls := range shared {
			if child != "" && len(calls) > 1 {
				seen["one event"] += count(calls[0].CallEvent == calls[1].CallEvent)
				seen["several parents"] += count(calls[0].Parent != calls[len(calls)-1].Parent)
				seen["several users"] += count(calls[0].User != calls[len(calls)-1].User)
			}
		}
	}
	for _, what := range []string{
		"nested", "open", "never reached", "unnamed", "elsewhere", "approved", "without events", "one event", "several parents", "several users",
	} {
		if seen[what] == 0 {
			t.Errorf("none of the programs has: %s", what)
		}
	}
	t.Log(seen)
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
