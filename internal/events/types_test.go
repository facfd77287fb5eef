package events_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/events"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/session"
)

const definition = `"tool_definition":{"name":"shell","category":"","parameters":{"name":"inner"},"annotations":{},"outputSchema":null}`

// What the model needs of each type of event, in the forms of all versions.
func TestTypes(t *testing.T) {
	transfer := session.DelegationFor("transfer_task", `{"agent":"worker","task":"do it"}`)
	for _, tc := range []struct {
		name, line string
		want       recording.Event // without Line and Name
	}{
		{"user_message", `"message":"hi","session_id":"S","session_position":5`,
			recording.Event{Kind: recording.UserMessage, Session: "S", Text: "hi", Position: 5}},
		{"user_message without ids, before v1.20.0", `"message":"hi"`,
			recording.Event{Kind: recording.UserMessage, Text: "hi", Position: -1}},
		{"user_message in parts", `"message":"","multi_content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"x"}},7,` +
			`{"type":"text","text":"b"}],"session_id":"S","session_position":-1`,
			recording.Event{Kind: recording.UserMessage, Session: "S", Text: "a\nb", Position: -1}},
		{"stream_started", `"session_id":"S","agent_name":"root"`,
			recording.Event{Kind: recording.StreamStarted, Session: "S", Agent: "root"}},
		{"stream_stopped", `"session_id":"S","agent_name":"root","reason":"normal"`,
			recording.Event{Kind: recording.StreamStopped, Session: "S", Agent: "root"}},
		{"agent_choice until v1.32.0", `"content":"a \u00e9\n","agent_name":"root"`,
			recording.Event{Kind: recording.Choice, Agent: "root", Text: "a é\n"}},
		{"agent_choice", `"content":"a","session_id":"S","agent_name":"root"`,
			recording.Event{Kind: recording.Choice, Session: "S", Agent: "root", Text: "a"}},
		{"agent_choice_reasoning", `"content":"hm","session_id":"S","agent_name":"root"`,
			recording.Event{Kind: recording.Reasoning, Session: "S", Agent: "root", Text: "hm"}},
		{"partial_tool_call with its name", `"tool_call":{"id":"r1","type":"function","function":{"name":"transfer_task"}},` + definition,
			recording.Event{Kind: recording.PartialCall, Call: session.Call{ID: "r1", Name: "transfer_task"}}},
		{"partial_tool_call in the middle", `"tool_call":{"id":"r1","type":"function","function":{"name":"transfer_task","arguments":"{\"agent\":\"wor"}}`,
			recording.Event{Kind: recording.PartialCall, Call: session.Call{
				ID: "r1", Name: "transfer_task", Args: `{"agent":"wor`, Form: session.ArgsBroken,
			}}},
		{"partial_tool_call that is whole", `"tool_call":{"id":"r1","type":"function","function":{"name":"transfer_task",` +
			`"arguments":"{\"agent\":\"worker\",\"task\":\"do it\"}"}},` + definition,
			recording.Event{Kind: recording.PartialCall, Call: session.Call{
				ID: "r1", Name: "transfer_task", Args: `{"agent":"worker","task":"do it"}`, Delegation: transfer,
			}}},
		{"partial_tool_call piece from v1.34.0", `"tool_call":{"id":"r1","type":"function","function":{"arguments":"wor"}}`,
			recording.Event{Kind: recording.PartialCall, Call: session.Call{ID: "r1", Args: "wor", Form: session.ArgsBroken}}},
		{"tool_call", `"tool_call":{"id":"r1","type":"function","function":{"name":"transfer_task",` +
			`"arguments":"{\"agent\":\"worker\",\"task\":\"do it\"}"}},` + definition + `,"agent_name":"root"`,
			recording.Event{Kind: recording.CallStarted, Agent: "root", Call: session.Call{
				ID: "r1", Name: "transfer_task", Args: `{"agent":"worker","task":"do it"}`, Delegation: transfer,
			}}},
		{"tool_call with broken arguments", `"tool_call":{"id":"r1","type":"function","function":{"name":"transfer_task","arguments":"{"}}`,
			recording.Event{Kind: recording.CallStarted, Call: session.Call{
				ID: "r1", Name: "transfer_task", Args: "{", Form: session.ArgsBroken, Delegation: session.DelegationFor("transfer_task", "{"),
			}}},
		{"tool_call_confirmation", `"tool_call":{"id":"w1","type":"function","function":{"name":"shell","arguments":"[]"}},` + definition,
			recording.Event{Kind: recording.CallStarted, Call: session.Call{ID: "w1", Name: "shell", Args: "[]", Form: session.ArgsValue}}},
		{"hook_blocked", `"tool_call":{"id":"w1","type":"function","function":{"name":"shell","arguments":"{}"}},"message":"no"`,
			recording.Event{Kind: recording.CallStarted, Call: session.Call{ID: "w1", Name: "shell", Args: "{}"}}},
		{"tool_call_response until v1.33", `"tool_call":{"id":"w1","type":"function","function":{"name":"shell","arguments":"{}"}},` + definition +
			`,"response":"boom","result":{"output":"boom","isError":true},"agent_name":"root"`,
			recording.Event{Kind: recording.CallAnswered, Agent: "root", Text: "boom", IsError: true, Call: session.Call{ID: "w1", Name: "shell", Args: "{}"}}},
		{"tool_call_response from v1.34.0", `"tool_call_id":"w1",` + definition + `,"response":"ok","result":{"output":"ok"},"agent_name":"root"`,
			recording.Event{Kind: recording.CallAnswered, Agent: "root", Text: "ok", Call: session.Call{ID: "w1", Name: "shell"}}},
		{"tool_call_response without a result", `"tool_call_id":"w1","response":"ok","isError":true`,
			recording.Event{Kind: recording.CallAnswered, Text: "ok", IsError: true, Call: session.Call{ID: "w1"}}},
		{"message_added", `"session_id":"S","agent_name":"root"`,
			recording.Event{Kind: recording.MessageAdded, Session: "S", Agent: "root"}},
		{"token_usage", `"session_id":"S","usage":{"input_tokens":1,"cost":0.5,"last_message":{"input_tokens":1,"Cost":0.5,"Model":"test/mock"}}`,
			recording.Event{Kind: recording.TokenUsage, Session: "S", Model: "test/mock"}},
		{"token_usage of no message", `"session_id":"S","usage":null`, recording.Event{Kind: recording.TokenUsage, Session: "S"}},
		{"session_title", `"session_id":"S","title":"T"`, recording.Event{Kind: recording.TitleSet, Session: "S", Text: "T"}},
		{"session_summary", `"session_id":"S","summary":"so far","agent_name":"root"`,
			recording.Event{Kind: recording.Summarized, Session: "S", Agent: "root", Text: "so far"}},
		{"session_summary from v1.41.0", `"session_id":"S","summary":"so far","first_kept_entry":3`,
			recording.Event{Kind: recording.Summarized, Session: "S", Text: "so far", KeptFrom: 3}},
		{"agent_switching", `"switching":true,"from_agent":"root","to_agent":"worker","agent_name":"worker"`,
			recording.Event{Kind: recording.Switched, Agent: "worker", Start: true, From: "root", To: "worker"}},
		{"agent_switching back", `"switching":false,"from_agent":"worker","to_agent":"root","agent_name":"root"`,
			recording.Event{Kind: recording.Switched, Agent: "root", From: "worker", To: "root"}},
		{"error", `"error":"boom 400","code":"model_error","session_id":"S"`, recording.Event{Kind: recording.Failed, Session: "S", Text: "boom 400"}},
		{"session_compaction", `"session_id":"S","status":"started"`, recording.Event{Session: "S"}},
		{"tool_call_output", `"tool_call_id":"w1","output":"piece"`, recording.Event{}},
		{"agent_info", `"agent_name":"root","model":"test/mock","description":""`, recording.Event{Agent: "root"}},
		{"max_iterations_reached", `"max_iterations":3`, recording.Event{}},
		{"of_the_future", `"session_id":"S","agent_name":"root","text":"x"`, recording.Event{Session: "S", Agent: "root"}},
		{"agent_choice whose members have odd types", `"content":7,"session_id":null,"agent_name":{"content":"x"},"timestamp":[]`,
			recording.Event{Kind: recording.Choice}},
		{"agent_choice with doubled members", `"content":"a","content":"b","agent_name":"x","agent_name":"y"`,
			recording.Event{Kind: recording.Choice, Agent: "y", Text: "b"}},
		{"agent_choice with an escaped name", `"c\u006fntent":"a"`, recording.Event{Kind: recording.Choice, Text: "a"}},
		{"agent_choice that is not UTF-8", `"content":"a` + "\xff" + `b"`, recording.Event{Kind: recording.Choice, Text: "a\uFFFDb"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.want.Name, _, _ = strings.Cut(tc.name, " ")
			tc.want.Line = 1
			line := `{"type":"` + tc.want.Name + `",` + tc.line + "}"
			list, skipped := readAll(t, strings.NewReader(line))
			if len(list) != 1 || len(skipped) > 0 {
				t.Fatalf("%d events, skipped %v", len(list), skipped)
			}
			if diff := cmp.Diff(tc.want, list[0]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTimes(t *testing.T) {
	for _, tc := range []struct {
		timestamp string
		want      time.Time
	}{
		{`"2026-11-20T21:36:45.346973962Z"`, time.Date(2026, 11, 20, 21, 36, 45, 346973962, time.UTC)},
		{`"2026-11-20T21:36:45+01:00"`, time.Date(2026, 11, 20, 20, 36, 45, 0, time.UTC)},
		{`"0001-01-01T00:00:00Z"`, time.Time{}},
		{`"yesterday"`, time.Time{}},
		{`7`, time.Time{}},
	} {
		list, _ := readAll(t, strings.NewReader(`{"timestamp":`+tc.timestamp+`,"type":"error"}`))
		if len(list) != 1 || !list[0].Time.Equal(tc.want) {
			t.Errorf("%s: got %v, want %v", tc.timestamp, list, tc.want)
		}
	}
}

func TestSubSession(t *testing.T) {
	const head = `{"type":"sub_session_completed","parent_session_id":"P","agent_name":"worker","sub_session":`
	list, skipped := readAll(t, strings.NewReader(head+`{"id":"C","title":"Transferred task","messages":[{"sub_session":{"id":"G"}}]}}`))
	if len(list) != 1 || len(skipped) > 0 || list[0].Child == nil {
		t.Fatalf("%+v, skipped %v", list, skipped)
	}
	if e := list[0]; e.Kind != recording.ChildCompleted || e.Session != "P" || e.Child.Root().ID != "C" || len(e.Child.Sessions) != 2 {
		t.Errorf("%+v", e)
	}
	shallow := events.NewReader(strings.NewReader(head + `{"id":"C","messages":[{"sub_session":{"id":"G"}}]}}`))
	shallow.Shallow = true
	var e recording.Event
	if err := shallow.Next(&e); err != nil || len(e.Child.Sessions) != 1 || e.Child.Root().ID != "C" || e.Child.Root().Items != nil {
		t.Errorf("shallow: %+v, %v", e, err)
	}
	for _, broken := range []string{`null`, `{"title":"x"}`, `{"id":"C","messages":7}`, `[]`} {
		list, skipped := readAll(t, strings.NewReader(head+broken+"}"))
		if len(list) != 1 || list[0].Child != nil || list[0].Kind != recording.ChildCompleted {
			t.Errorf("%s: %+v", broken, list)
		}
		if len(skipped) != 1 || !strings.HasPrefix(skipped[0].Why, "its sub-session cannot be read: ") {
			t.Errorf("%s: skipped %v", broken, skipped)
		}
	}
}
