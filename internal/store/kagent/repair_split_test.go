package kagent_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// TestSplitAfterApprovals splits a session of which several runs waited for a person:
// no document names the old session for a run that moved, and undo gives back what was
// stored.
func TestSplitAfterApprovals(t *testing.T) {
	for _, form := range sortedForms() {
		t.Run(form, func(t *testing.T) {
			path, truth := build(t, kagenttest.Script("approvals-given"), kagenttest.Forms[form])
			before := storetest.Dump(t, path)
			_, receipt, err := repairtest.Repair(path, "split")
			if err != nil {
				t.Fatal(err)
			}
			homes := homesIn(t, path)
			kept := 0
			for _, call := range truth.Calls {
				if homes[call.Task] == call.Child {
					kept++
				}
			}
			if kept != 1 || len(truth.Calls) != 3 {
				t.Fatalf("%d of %d calls have the old session", kept, len(truth.Calls))
			}
			(&splitter{truth: truth, homes: homes, loose: true}).places(t, path)
			onlyFor(t, path, truth, homes)
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

// homesIn are the sessions of all tasks in a file.
func homesIn(t *testing.T, path string) map[string]string {
	t.Helper()
	homes := map[string]string{}
	for _, row := range queried(t, path, "select id, session_id from task") {
		homes[row[0]] = row[1]
	}
	return homes
}

// queried are the rows of a query for texts.
func queried(t *testing.T, path, query string) (list [][2]string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var row [2]string
		if err := rows.Scan(&row[0], &row[1]); err != nil {
			t.Fatal(err)
		}
		list = append(list, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// onlyFor makes sure that what names a worker's old session speaks of a call or a task
// that still has it, wherever it stands.
func onlyFor(t *testing.T, path string, truth *kagenttest.Written, homes map[string]string) {
	t.Helper()
	stays := map[string]bool{} // ids of calls, tasks and invocations
	olds := map[string]bool{}
	for _, call := range truth.Calls {
		olds[call.Child] = true
		if homes[call.Task] == call.Child {
			stays[call.Call], stays[call.Task] = true, true
		}
	}
	seen := 0
	for _, row := range queried(t, path, "select session_id, data from event union all select session_id, data from task") {
		if olds[row[0]] {
			continue // it is in that session
		}
		visit(decoded(t, row[1]), nil, func(text string, about []string) {
			if !olds[text] {
				return
			}
			seen++
			if !slices.ContainsFunc(about, func(id string) bool { return stays[id] }) {
				t.Errorf("a document in session %s names the old one for %v", row[0], about)
			}
		})
	}
	if seen == 0 {
		t.Error("nothing names the session that was split")
	}
}

// visit calls a function for all texts of a document, with the ids of what they are
// about, and looks into those that are JSON.
func visit(value any, about []string, fn func(text string, about []string)) {
	switch v := value.(type) {
	case string:
		var inner any
		if strings.HasPrefix(v, "{") && json.Unmarshal([]byte(v), &inner) == nil {
			visit(inner, about, fn)
			return
		}
		fn(v, about)
	case []any:
		for _, element := range v {
			visit(element, about, fn)
		}
	case map[string]any:
		about = slices.Clone(about)
		data, _ := v["data"].(map[string]any)
		for _, id := range []any{v["id"], v["task_id"], data["id"]} {
			if text, ok := id.(string); ok {
				about = append(about, text)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			visit(v[name], about, fn)
		}
	}
}

// TestMarkersGoWithTheirRequests holds the headers in a session that was split off
// against the truth: they are those of its own request.
func TestMarkersGoWithTheirRequests(t *testing.T) {
	programs := []kagenttest.Program{kagenttest.Script("collapsed-11"), kagenttest.Script("pod-shared"), kagenttest.Script("approvals-given")}
	for seed := range uint64(24) {
		programs = append(programs, kagenttest.Random(28+seed)) // runs of one session rarely begin apart and overlap
	}
	moved := 0
	for _, program := range programs {
		path, truth := build(t, program, kagenttest.Forms["python"])
		if _, _, err := repairtest.Repair(path, "split", "guesses"); err != nil {
			t.Fatalf("%s: %v", program.Name, err)
		}
		homes, markers := homesIn(t, path), map[string]string{}
		for _, row := range queried(t, path, "select id, session_id from event where data like '%header_update%'") {
			markers[row[0]] = row[1]
		}
		for _, call := range truth.Calls {
			home := markers[call.Marker]
			if call.Marker == "" || home == call.Child {
				continue
			}
			if moved++; home != homes[call.Task] {
				t.Errorf("%s: the headers of call %s are in %s, and its task is in %s", program.Name, call.Call, home, homes[call.Task])
			}
		}
	}
	if moved == 0 {
		t.Error("no headers moved")
	}
}

// TestQuestions reads whose run a question to a person is about, in each of its
// places.
func TestQuestions(t *testing.T) {
	event := func(part, actions string) string {
		return `{"invocation_id":"i","author":"a","content":{"role":"user","parts":[` + part + `]},"actions":{` + actions + `}}`
	}
	const confirmed = `{"confirmed":true,"payload":{"task_id":"t1","context_id":"w","subagent_name":"b"}}`
	quoted, err := json.Marshal(confirmed)
	if err != nil {
		t.Fatal(err)
	}
	answer := func(response string) string {
		return `{"function_response":{"id":"q","name":"adk_request_confirmation","response":` + response + `}}`
	}
	asking := func(payload string) string {
		return `{"function_call":{"id":"q","name":"adk_request_confirmation","args":{"originalFunctionCall":{"id":"c"},"toolConfirmation":{"payload":` + payload + `}}}}`
	}
	for _, c := range []struct{ name, event, want string }{
		{"the call that asks", event(asking(`{"task_id":"t1","context_id":"w"}`), ""), "w t1"},
		{"the call of a tool that is no agent", event(asking(`{"answers":["x"]}`), ""), " "},
		{"a payload without a task", event(asking(`{"context_id":"w"}`), ""), " "},
		{"an answer as text", event(answer(`{"response":`+string(quoted)+`}`), ""), "w t1"},
		{"an answer", event(answer(confirmed), ""), "w t1"},
		{"an answer that hands nothing on", event(answer(`{"confirmed":true}`), ""), " "},
		{
			"the result that waits", event(`{"function_response":{"id":"c","name":"kagent__NS__b","response":{"status":"pending"}}}`,
				`"requested_tool_confirmations":{"c":`+confirmed+`}`), "w t1",
		},
		{
			"the result beside one that waits", event(`{"function_response":{"id":"d","name":"kagent__NS__b","response":{"status":"pending"}}}`,
				`"requested_tool_confirmations":{"c":`+confirmed+`}`), " ",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, trees := read(t, changed(t, ofSession, storing("e", c.event)))
			_, s := sessionOf(trees, "s", "u")
			it := &s.Items[0]
			got := ""
			for _, call := range it.Calls {
				got = fmt.Sprint(call.Question.Child, " ", call.Question.Run)
			}
			for _, r := range it.Results {
				got = fmt.Sprint(r.Question.Child, " ", r.Question.Run)
			}
			if got != c.want {
				t.Errorf("the question is about %q, not %q", got, c.want)
			}
		})
	}
}
