package kagenttest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each dialect has the keys that its notes name, and no other dialect's.
func TestKeysOfDialects(t *testing.T) {
	tests := []struct {
		dialect Dialect
		form    string
		keys    string // of the documents; of all others only what is listed counts
		lacks   string
	}{
		{Python, "python", "id invocation_id author branch timestamp content actions long_running_tool_ids partial", "ID invocationId items"},
		{Go1, "go 1", "ID InvocationID Author Branch Timestamp Content Actions LongRunningToolIDs Partial", "id invocation_id items"},
		{Go2, "go 2", "id invocationId author timestamp content actions", "ID invocation_id branch items"},
		{OpenAI, "python", "type timestamp items", "id invocation_id content"},
	}
	for _, tt := range tests {
		t.Run(string(tt.dialect), func(t *testing.T) {
			p := Program{Conversations: []Conversation{{Turns: []Turn{{Ask: "Hello", Answer: "Hi", Work: [][]Call{{{Tool: "k8s_get_resources", Answer: "found"}}}, Writer: tt.dialect}}}}}
			db, _ := build(t, p, Forms[tt.form])
			for _, text := range rows(t, db, "SELECT data FROM event") {
				o := document(t, text, Forms[tt.form])
				for key := range strings.FieldsSeq(tt.keys) {
					if _, ok := o[key]; !ok {
						t.Errorf("no %s in %s", key, text)
					}
				}
				for key := range strings.FieldsSeq(tt.lacks) {
					if _, ok := o[key]; ok {
						t.Errorf("%s in %s", key, text)
					}
				}
			}
		})
	}
}

// The forms of a call's event and of its response, as far as the notes give them.
func TestFormsOfCalls(t *testing.T) {
	p := Program{Name: "call", Sharing: PerCall, Conversations: []Conversation{{
		Turns: []Turn{{Ask: "<x>", Work: [][]Call{{{ID: "call_1", Agent: Worker, Ask: "é & y", Answer: "z"}}}, Answer: "Reported: <x>"}},
	}}}
	tests := []struct{ form, want string }{
		{"python", `"function_call":{"id":"call_1","args":{"request":"é & y"},"name":"kagent__NS__k8s_agent","partial_args":null,"will_continue":null}`},
		{"go 1", `"Content":{"parts":[{"functionCall":{"id":"call_1","args":{"request":"é \u0026 y"},"name":"kagent__NS__k8s_agent"}}],"role":"model"}`},
		{"go 2", `{"content":{"parts":[{"functionCall":{"id":"call_1","args":{"request":"é \u0026 y"},"name":"kagent__NS__k8s_agent"}}],"role":"model"},"turnComplete":true`},
		{"go 1, quoted", `\"functionCall\":{\"id\":\"call_1\"`},
	}
	for _, tt := range tests {
		t.Run(tt.form, func(t *testing.T) {
			db, w := build(t, p, Forms[tt.form])
			call := rows(t, db, "SELECT data FROM event WHERE id = '"+w.Calls[0].CallEvent+"'")[0]
			if !strings.Contains(call, tt.want) {
				t.Errorf("no %s in %s", tt.want, call)
			}
			response := rows(t, db, "SELECT data FROM event WHERE id = '"+w.Calls[0].Responses[0]+"'")[0]
			if got := strings.ReplaceAll(response, `\`, ""); !strings.Contains(got, `"response":{"result":"z","subagent_session_id":"`+w.Calls[0].Child+`"`) {
				t.Errorf("no session in %s", response)
			}
		})
	}
}

func TestOpenAIWritesAsPythonDoes(t *testing.T) {
	db, w := build(t, Script("openai-worker"), Forms["python"])
	got := rows(t, db, "SELECT data FROM event WHERE id = '"+w.Calls[1].Events[0]+"'")[0]
	if _, said, _ := strings.Cut(got, `, "items"`); said != `: [{"content": "Look right \u2013 na\u00efvely", "role": "user"}], "type": "conversation_items"}` {
		t.Errorf("got %s", got)
	}
}

// The two shapes of tasks differ in the words of the notes.
func TestShapesOfTasks(t *testing.T) {
	tests := []struct{ form, has, lacks string }{
		{"python", `"kind":"task" "state":"completed" "kind":"message" "role":"agent" "kagent_invocation_id" "kagent_type":"function_call" "kagent_subagent_session_id"`,
			`TASK_STATE ROLE_ "adk_`},
		{"go 1", `"kind":"task" "state":"completed" "adk_invocation_id" "adk_type":"function_response"`, `TASK_STATE "kagent_invocation_id" "kagent_subagent_session_id"`},
		{"go 2", `"state":"TASK_STATE_COMPLETED" "role":"ROLE_USER" "adk_invocation_id" "artifactId"`, `"kind" ROLE_AGENT "kagent_type"`},
		{"python main", `"state":"TASK_STATE_COMPLETED" "adk_invocation_id"`, `"kind" "kagent_type"`},
	}
	for _, tt := range tests {
		t.Run(tt.form, func(t *testing.T) {
			db, w := build(t, Script("collapsed-11"), Forms[tt.form])
			text := rows(t, db, "SELECT data FROM task WHERE id = '"+w.Calls[0].ParentTask+"'")[0]
			for part := range strings.FieldsSeq(tt.has) {
				if !strings.Contains(text, part) {
					t.Errorf("no %s in %s", part, text)
				}
			}
			for part := range strings.FieldsSeq(tt.lacks) {
				if strings.Contains(text, part) {
					t.Errorf("%s in %s", part, text)
				}
			}
		})
	}
}

func TestColumnsOfGenerations(t *testing.T) {
	want := map[Generation][]string{
		V05: {
			"event id session_id user_id created_at updated_at deleted_at data", "session id name user_id created_at updated_at deleted_at agent_id",
			"task id created_at updated_at deleted_at data session_id",
		},
		Current: {
			"event id session_id user_id created_at updated_at deleted_at data", "session id name user_id created_at updated_at deleted_at agent_id source",
			"task id created_at updated_at deleted_at data session_id protocol_version user_id",
		},
	}
	want[V07] = want[V05]
	got := map[Generation][]string{}
	for _, g := range []Generation{V05, V07, Current} {
		db, _ := build(t, Program{}, Form{Generation: g, Dialect: Python, Times: GORM})
		for _, table := range []string{"event", "session", "task"} {
			columns := rows(t, db, "SELECT name FROM pragma_table_info('"+table+"')")
			got[g] = append(got[g], table+" "+strings.Join(columns, " "))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Headers are stored where the notes say, and the secret nowhere else.
func TestWhereHeadersAre(t *testing.T) {
	const headers = "SELECT author, count(*) FROM event WHERE instr(data, '" + Secret + "') > 0 GROUP BY author"
	want := map[string][]string{
		"python 0.5": nil, "python": {"system 2"}, "python 0.7": {"system 2"}, "python main": {"user 2"}, "python, no zones": {"system 2"},
		"go 1": nil, "go 2": nil, "go 1, quoted": nil, "go 2, quoted": nil,
	}
	got := map[string][]string{}
	for name := range maps.Keys(Forms) {
		db, _ := build(t, Script("stuck-task"), Forms[name])
		got[name] = rows(t, db, strings.ReplaceAll(headers, "author", "coalesce(data ->> '$.author', 'none')"))
		if tasks := rows(t, db, "SELECT id FROM task WHERE instr(data, '"+Secret+"') > 0"); len(tasks) > 0 {
			t.Errorf("%s: tasks with the secret: %v", name, tasks)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !slices.Equal(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(Forms))) {
		t.Error("a form is not among them")
	}
}
