package kagent_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// TestReusedCallIDs splits calls of one request that have the same ids turn by turn, as
// models give them that number their calls: each answer and each call in the caller's
// task names the session that its own event names, also where calls ask the same.
func TestReusedCallIDs(t *testing.T) {
	for _, tt := range []struct{ name, asks string }{{"other requests", "ABCD"}, {"equal requests", "AAAA"}, {"equal turns", "ABAB"}} {
		var work [][]kagenttest.Call
		for n, what := range tt.asks {
			call := kagenttest.Call{ID: fmt.Sprint("call_", n%2), Agent: kagenttest.Worker, Ask: "Look at " + string(what), Answer: "Seen: " + string(what)}
			if n%2 == 0 {
				work = append(work, nil)
			}
			work[len(work)-1] = append(work[len(work)-1], call)
		}
		program := kagenttest.Program{Name: "reused-ids", Conversations: []kagenttest.Conversation{{Turns: []kagenttest.Turn{{Ask: "Look", Work: work, Answer: "Seen"}}}}}
		for _, form := range sortedForms() {
			t.Run(tt.name+", "+form, func(t *testing.T) {
				path, truth := build(t, program, kagenttest.Forms[form])
				before := storetest.Dump(t, path)
				s := &splitter{truth: truth, homes: map[string]string{}}
				journal, err := changedIn(t, path, s.split)
				if err != nil {
					t.Fatal(err)
				}
				if len(s.homes) != 3 {
					t.Fatalf("%d calls have a session of their own", len(s.homes))
				}
				var want []string
				for _, call := range truth.Calls {
					want = append(want, call.Call+" "+s.child(call))
				}
				var said []string
				for _, row := range queried(t, path, "select id, data from event order by created_at") {
					said = append(said, answersIn(decoded(t, row[1]))...)
				}
				if diff := cmp.Diff(want, said); diff != "" {
					t.Errorf("the events: %s", diff)
				}
				for _, row := range queried(t, path, "select id, data from task") {
					if row[0] == truth.Calls[0].ParentTask {
						inTask(t, decoded(t, row[1]), want)
					}
				}
				takenBack(t, path, journal)
				if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
					t.Errorf("after the undo: %s", diff)
				}
			})
		}
	}
}

// inTask makes sure that a task names the sessions that the events name, in their order.
func inTask(t *testing.T, doc any, want []string) {
	t.Helper()
	seen := false
	for _, place := range []string{"history", "artifacts"} {
		list := doc.(map[string]any)[place]
		if said := answersIn(list); len(said) > 0 {
			seen = true
			if diff := cmp.Diff(want, said); diff != "" {
				t.Errorf("the task's %s: %s", place, diff)
			}
		}
		if stamps := stampsIn(list); len(stamps) > 0 {
			if diff := cmp.Diff(want, stamps); diff != "" {
				t.Errorf("the stamps in the task's %s: %s", place, diff)
			}
		}
	}
	if !seen {
		t.Error("the task names no session")
	}
}

// answersIn are the sessions that answers to calls name, with the ids of the calls.
func answersIn(doc any) (list []string) {
	each(doc, func(object map[string]any) {
		if response, _ := object["response"].(map[string]any); response["subagent_session_id"] != nil {
			list = append(list, fmt.Sprint(object["id"], " ", response["subagent_session_id"]))
		}
	})
	return list
}

// stampsIn are the sessions that calls are stamped with.
func stampsIn(doc any) (list []string) {
	each(doc, func(object map[string]any) {
		data, _ := object["data"].(map[string]any)
		metadata, _ := object["metadata"].(map[string]any)
		if stamp := metadata["kagent_subagent_session_id"]; stamp != nil {
			list = append(list, fmt.Sprint(data["id"], " ", stamp))
		}
	})
	return list
}
