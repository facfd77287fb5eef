package loom_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/loom/loomtest"
)

// steps are those of a parent that spawns a child and goes on, and of the child.
func steps(w *loomtest.Workspace) {
	w.Step("main", loomtest.Step{Tool: "agent:spawn", Args: map[string]any{"child_id": "child"}, Observation: "Spawned child", At: 1000})
	w.Step("main", loomtest.Step{Tool: "a", Observation: "went on", At: 3000})
	w.Step("child", loomtest.Step{Tool: "a", Observation: "worked", At: 2000})
}

const (
	goneOn  = "steps: step_002 a({})\nobservations: <step_002 \"went on\"\n"
	spawned = `steps: step_001 agent:spawn({"child_id":"child"}) of child waits=`
	work    = "steps: step_001 a({})\nobservations: <step_001 \"worked\"\n"
)

func TestEvents(t *testing.T) {
	goal := "goals: user \"g\"\n"
	answer := "answers: assistant \"r\"\n"
	back := "results: <step_001 \"r\"\n"
	observed := "observations: <step_001 \"Spawned child\"\n"
	tests := []struct {
		name, events        string
		main, child, faults string
	}{
		{"no capture", "", spawned + "true\n" + observed + goneOn, work, ""},
		{"by topic", `{"topic":"agent.spawn","payload":{"child_id":"child","goal":"g"}}`, spawned + "false\n" + goneOn, goal + work, ""},
		{"by type", `{"type":"spawn_request","payload":{"child_id":"child","parent_id":"main","goal":"g"}}
			{"type":"spawn_result","source":"child","timestamp_ms":2500,"payload":{"parent_id":"main","result":"r"}}`,
			spawned + "true\n" + back + goneOn, goal + work + answer, ""},
		{"as text and as base64", `{"type":"agent.spawn","payload":"{\"child_id\":\"child\",\"goal\":\"g\"}"}
			{"type":"agent.result","timestampMs":"4000","payload":"` + base64.StdEncoding.EncodeToString([]byte(`{"child_id":"child","result":"r"}`)) + `"}`,
			spawned + "false\n" + goneOn + back, goal + work + answer, ""},
		{"in other forms of base64", `{"type":"agent.spawn","payload":"` + base64.RawURLEncoding.EncodeToString([]byte(`{"child_id":"child","goal":"g","x":"??>>~~"}`)) + `"}
			{"type":"agent.result","timestamp_ms":2500,"payload":"` + base64.RawStdEncoding.EncodeToString([]byte(`{"child_id":"child","result":"r","x":"??>>~~"}`)) + `"}`,
			spawned + "true\n" + back + goneOn, goal + work + answer, ""},
		{"beside a payload of null", `{"type":"agent.spawn","payload":null,"child_id":"child","goal":"g"}`, spawned + "false\n" + goneOn, goal + work, ""},
		{"without a payload", `{"type":"agent.result","child_id":"child","result":"r","timestamp_ms":2500}`, spawned + "true\n" + back + goneOn, work + answer, ""},
		{"twice", `{"id":"1","type":"agent.spawn","child_id":"child","goal":"g"}
			{"id":"1","type":"agent.spawn","child_id":"child","goal":"g"}`, spawned + "false\n" + goneOn, goal + work, ""},
		{"a failure", `{"type":"agent.result","child_id":"child","success":false,"error":"e","timestamp_ms":2500}`,
			spawned + "true\nresults: <step_001 \"e\"!\n" + goneOn, work, ""},
		{"an answer that is no text", `{"type":"agent.result","child_id":"child","result":{"steps": [1]},"timestamp_ms":2500}`,
			spawned + "true\nresults: <step_001 \"{\\\"steps\\\":[1]}\"\n" + goneOn, work + "answers: assistant \"{\\\"steps\\\":[1]}\"\n", ""},
		{"by correlation", `{"type":"agent.spawn","child_id":"child","goal":"g","metadata":{"correlation_id":"c"}}
			{"type":"agent.result","result":"r","metadata":{"loom.correlation_id":"c"},"timestamp_ms":2500}`, spawned + "true\n" + back + goneOn, goal + work + answer, ""},
		{"a spawn without a step", `{"id":"9","type":"agent.spawn","parent_id":"child","child_id":"main","goal":"g","timestamp_ms":2500}`,
			spawned + "true\n" + observed + "goals: user \"g\"\n" + goneOn, work + `spawns: 9 agent:spawn({"child_id":"main","goal":"g"}) of main waits=true` + "\n", ""},
		{"a result without a spawn", `{"type":"agent.result","parent_id":"child","child_id":"main","result":"r","timestamp_ms":5000}`,
			spawned + "true\n" + observed + goneOn + "answers: assistant \"r\"\n", work + "results: <main \"r\"\n", ""},
		{"a second result", `{"type":"agent.result","child_id":"child","result":"r","timestamp_ms":2500}
			{"type":"agent.result","parent_id":"main","child_id":"child","result":"r","timestamp_ms":2600}`,
			spawned + "true\n" + back + back + goneOn, work + answer + answer, ""},
		{"of strangers", `{"type":"agent.spawn","parent_id":"x","child_id":"y","goal":"g"}
			{"type":"agent.result","child_id":"y","result":"r"}`, spawned + "true\n" + observed + goneOn, work,
			fault(session.OrphanRecord, `: an event of the bus is about a child of "x", which has no folder with a history in the workspace`) +
				fault(session.OrphanRecord, ": an event of the bus names no parent, and no spawn matches it")},
		{"other events", `{"type":"tick","payload":"!"}`, spawned + "true\n" + observed + goneOn, work, ""},
		{"data that is no capture", "a,b\n1,2", spawned + "true\n" + observed + goneOn, work, ""},
		{"broken lines", `{"type":"agent.spawn","child_id":"child","goal":"g"}
			{"type":"agent.res
			{"type":"agent.result","payload":7}`, spawned + "false\n" + goneOn, goal + work,
			fault(session.Undecodable, "a line of events.jsonl: line 2: it is not JSON, or was cut off; nor can these lines be read: 3")},
		{"many broken lines", `{"type":"agent.spawn","child_id":"child","goal":"g"}` + strings.Repeat("\n{", 14), spawned + "false\n" + goneOn, goal + work,
			fault(session.Undecodable, "a line of events.jsonl: line 2: it is not JSON, or was cut off; nor can these lines be read: 3, 4, 5, 6, 7, 8, 9, 10, 11 and 4 more")},
		{"a line that is too long", `{"type":"agent.spawn","child_id":"child","goal":"g"}` + "\n" + strings.Repeat("x", 16<<20+1), spawned + "false\n" + goneOn, goal + work,
			fault(session.Undecodable, "a line of events.jsonl: line 2: it is longer than 16 MiB")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := opened(t, func(w *loomtest.Workspace) {
				steps(w)
				if tt.events != "" {
					w.File("events.jsonl", tt.events)
				}
			})
			all := sessions(t, o)
			if got := show(all["main"]); got != tt.main {
				t.Errorf("main\n%swant\n%s", got, tt.main)
			}
			if got := show(all["child"]); got != tt.child {
				t.Errorf("child\n%swant\n%s", got, tt.child)
			}
			if got := faults(o.Facts().Faults); got != tt.faults {
				t.Errorf("faults\n%swant\n%s", got, tt.faults)
			}
		})
	}
}

// Several spawns of one child, in parallel and one after another.
func TestEveryResultIsForItsSpawn(t *testing.T) {
	spawn := func(w *loomtest.Workspace, goal, correlation string) {
		w.Asked("main", "child", goal, map[string]any{".metadata": map[string]any{"correlation_id": correlation}, "timeout_ms": 1500, "tools": []string{"a"}})
		w.Spawn("main", "child", goal)
	}
	s := sessions(t, opened(t, func(w *loomtest.Workspace) {
		w.Agent("child")
		spawn(w, "g1", "c1")
		spawn(w, "g2", "c2")
		spawn(w, "g3", "c3")
		w.Returned("main", "child", "r2", map[string]any{".metadata": map[string]any{"correlation_id": "c2"}})
		w.Returned("main", "child", "r?", nil)
		w.Returned("main", "child", "r3", map[string]any{".metadata": map[string]any{"correlation_id": "c3"}})
	}))
	args := `agent:spawn({"child_id":"child"}) of child waits=`
	want := "steps: step_001 " + args + "false\nsteps: step_002 " + args + "false\nsteps: step_003 " + args + "false\n" +
		"results: <step_002 \"r2\"\nresults: <step_001 \"r?\"\nresults: <step_003 \"r3\"\n"
	if got := show(s["main"]); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	want = "goals: user \"g1\"\ngoals: user \"g2\"\ngoals: user \"g3\"\nanswers: assistant \"r2\"\nanswers: assistant \"r?\"\nanswers: assistant \"r3\"\n"
	if got := show(s["child"]); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	d := s["main"].Items[1].Calls[0].Delegation
	if d.Task != session.DigestOf("g2") || d.Agent != "child" || d.Correlation != "c2" || d.Timeout != 1500*time.Millisecond || strings.Join(d.Tools, " ") != "a" {
		t.Errorf("got %+v", d)
	}
	if r := s["main"].Items[3].Results[0]; r.Child != "child" || r.Correlation != "c2" {
		t.Errorf("got %+v", r)
	}
	if s["child"].Task != session.DigestOf("g1") || !s["child"].Delegated {
		t.Errorf("got %+v", s["child"])
	}
}

// A capture in an agent's folder is about that agent where it does not say otherwise.
func TestCapturesOfAgents(t *testing.T) {
	s := sessions(t, opened(t, func(w *loomtest.Workspace) {
		steps(w)
		w.File("main/bus.jsonl", `{"type":"agent.spawn","child_id":"child","goal":"g","timestamp_ms":999}`)
		w.File("child/bus.jsonl", `{"type":"agent.spawn","parent_id":"main","child_id":"child","goal":"g","timestamp_ms":999}`+"\n"+`{"type":"agent.result","parent_id":"main","result":"r","timestamp_ms":2500}`)
	}))
	if got, want := show(s["main"]), spawned+"true\nresults: <step_001 \"r\"\n"+goneOn; got != want {
		t.Errorf("main\n%swant\n%s", got, want)
	}
	if got, want := show(s["child"]), "goals: user \"g\"\n"+work+"answers: assistant \"r\"\n"; got != want {
		t.Errorf("child\n%swant\n%s", got, want)
	}
}

// The second form in the design records no child with the step.
func TestStepsThatNameNoChild(t *testing.T) {
	s := sessions(t, opened(t, func(w *loomtest.Workspace) {
		w.Step("main", loomtest.Step{Tool: "agent:spawn", Observation: "Spawned researcher to: g"})
		w.Agent("child")
		w.Asked("main", "child", "g", nil)
	}))
	if d := s["main"].Items[0].Calls[0].Delegation; d.Child != "child" || len(s["main"].Items) != 1 {
		t.Errorf("got %+v", d)
	}
}
