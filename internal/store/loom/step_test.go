package loom_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/loom/loomtest"
)

func TestSteps(t *testing.T) {
	tests := []struct {
		name, text, want string
		faults           string
	}{
		{"as Loom makes it", `{"id":"step_001","tool_name":"web:search","minimal_args":{ "query": "x" },"observation":"Found 2","success":true,"timestamp_ms":1,"outcome_ref":null,"error":null,"metadata":{"n":1}}`,
			"steps: step_001 web:search({\"query\":\"x\"})\nobservations: <step_001 \"Found 2\"\n", ""},
		{"the least", `{"id":"step_001","tool_name":"a"}`, "steps: step_001 a()\nobservations: <step_001 \"\"\n", ""},
		{"behind white space", strings.Repeat(" \n", 100) + `{"id":"step_001","tool_name":"a"}`, "steps: step_001 a()\nobservations: <step_001 \"\"\n", ""},
		{"nulls", `{"id":"step_001","tool_name":"a","minimal_args":null,"observation":null,"success":null,"timestamp_ms":null}`, "steps: step_001 a()\nobservations: <step_001 \"\"\n", ""},
		{"a failure has its error", `{"id":"step_001","tool_name":"a","observation":"o","success":false,"error":"e"}`, "steps: step_001 a()\nobservations: <step_001 \"e\"!\n", ""},
		{"a failure without one", `{"id":"step_001","tool_name":"a","observation":"o","success":false}`, "steps: step_001 a()\nobservations: <step_001 \"o\"!\n", ""},
		{"arguments that are no object", `{"id":"step_001","tool_name":"a","minimal_args":[1]}`, "steps: step_001 a([1])\nobservations: <step_001 \"\"\n", ""},
		{"another id than the file's", `{"id":"step_009","tool_name":"a"}`, "steps: step_009 a()\nobservations: <step_009 \"\"\n",
			fault(session.CopiesDiffer, `id: the file is step_001.json, and the step in it says "step_009"; sessctl uses the id from the step and the place from the file name`)},
		{"a bad time", `{"id":"step_001","tool_name":"a","timestamp_ms":"yesterday"}`, "steps: step_001 a()\nobservations: <step_001 \"\"\n",
			fault(session.BadTime, `timestamp_ms: "yesterday" is not a number of milliseconds since 1970`)},
		{"a time before 1970", `{"id":"step_001","tool_name":"a","timestamp_ms":-5}`, "steps: step_001 a()\nobservations: <step_001 \"\"\n",
			fault(session.BadTime, `timestamp_ms: -5 is not a number of milliseconds since 1970`)},
		{"half a pair of surrogates", `{"id":"step_001","tool_name":"a","observation":"\ud83d"}`, "steps: step_001 a()\nobservations: <step_001 \"\ufffd\"\n",
			fault(session.BadUnicode, "step_001.json: it holds text that is not valid Unicode")},
		{"a doubled name", `{"id":"x","id":"step_001","tool_name":"a"}`, "steps: step_001 a()\nobservations: <step_001 \"\"\n",
			fault(session.Undecodable, "step_001.json: a name occurs twice in it; the last value is used")},
		{"cut off", `{"id":"step_001","tool_na`, "steps:\n", fault(session.Undecodable, "step_001.json: it is not JSON, or was cut off")},
		{"empty", ``, "steps:\n", fault(session.Undecodable, "step_001.json: it is not a JSON object")},
		{"no object", `[]`, "steps:\n", fault(session.Undecodable, "step_001.json: it is not a JSON object")},
		{"no tool", `{"id":"step_001"}`, "steps:\n", fault(session.Undecodable, "step_001.json: it lacks id or tool_name")},
		{"a number for a text", `{"id":"step_001","tool_name":"a","observation":7}`, "steps:\n",
			fault(session.Undecodable, "step_001.json: a member holds a value of the wrong type")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := sessions(t, opened(t, func(w *loomtest.Workspace) {
				w.Step("other", loomtest.Step{})
				w.File("main/history/step_001.json", tt.text)
			}))["main"]
			if got := show(s); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
			if got := faults(s.Faults); got != tt.faults {
				t.Errorf("faults\n%swant\n%s", got, tt.faults)
			}
		})
	}
}

// What a history says of itself: places, times and holes.
func TestHistories(t *testing.T) {
	tests := []struct {
		name   string
		files  []string
		want   string // the numbers of the calls in their order
		faults string
	}{
		{"by number, not by name", []string{"step_10.json", "step_9.json", "step_1000.json", "step_11.json"}, "9 10 11 1000",
			fault(session.StoreDamaged, "history: the history of main lacks 988 steps, the first of them step_012: what these steps did is lost")},
		{"one is missing", []string{"step_001.json", "step_003.json"}, "001 003",
			fault(session.StoreDamaged, "history: the history of main lacks step_002: what these steps did is lost")},
		{"the first ones are not", []string{"step_005.json", "step_006.json"}, "005 006", ""},
		{"what is no step", []string{"step_000.json", "step_001.json", "step_001.compact", "step_.json", "step_2.json.bak", "notes.json", "step_0000000001.json"}, "000 001", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := sessions(t, opened(t, func(w *loomtest.Workspace) {
				for _, name := range tt.files {
					id := strings.TrimSuffix(name, ".json")
					w.File("main/history/"+name, `{"id":"`+id+`","tool_name":"a"}`)
				}
			}))["main"]
			var got []string
			for i := range s.Items {
				for _, c := range s.Items[i].Calls {
					got = append(got, strings.TrimPrefix(c.ID, "step_"))
				}
			}
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("steps %s, want %s", text, tt.want)
			}
			if got := faults(s.Faults); got != tt.faults {
				t.Errorf("faults\n%swant\n%s", got, tt.faults)
			}
		})
	}
}

func TestPositionsCollideWhereNumbersDo(t *testing.T) {
	s := sessions(t, opened(t, func(w *loomtest.Workspace) {
		w.Asked("boss", "main", "goal", nil)
		for _, name := range []string{"step_0", "step_7", "step_007", "step_8"} {
			w.File("main/history/"+name+".json", `{"id":"`+name+`","tool_name":"a","timestamp_ms":`+"1764950500000"+`}`)
		}
	}))["main"]
	var collide []string
	for i := 1; i < len(s.Items); i++ {
		if s.Items[i].Position == s.Items[i-1].Position {
			collide = append(collide, s.Items[i].Calls[0].ID)
		}
	}
	if got := strings.Join(collide, " "); got != "step_7" || len(s.Items) != 9 {
		t.Errorf("%q collide among %d items", got, len(s.Items))
	}
}

func TestSessions(t *testing.T) {
	all := sessions(t, opened(t, func(w *loomtest.Workspace) {
		w.Step("main", loomtest.Step{At: 1_764_950_400_123})
		w.Step("main", loomtest.Step{At: 1_764_950_500_000})
		w.Agent("idle")
		w.Link("main", "mirror")
		w.File("notes/readme.txt", "no agent")
	}))
	if len(all) != 3 {
		t.Fatalf("%d sessions", len(all))
	}
	s := all["main"]
	if s.Agent != "main" || s.Workspace != "main" || s.Delegated || s.Parent != "" || s.Task != 0 {
		t.Errorf("got %+v", s)
	}
	if want := time.UnixMilli(1_764_950_400_123); !s.Created.Equal(want) || !s.Updated.Equal(time.UnixMilli(1_764_950_500_000)) {
		t.Errorf("created %v, updated %v", s.Created, s.Updated)
	}
	if all["mirror"].Workspace != "main" || len(all["mirror"].Items) != 4 || len(all["idle"].Items) != 0 {
		t.Errorf("mirror %+v, idle %+v", all["mirror"], all["idle"])
	}
}
