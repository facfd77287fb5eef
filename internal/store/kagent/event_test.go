package kagent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
)

// storing is a statement that stores an event of session s.
func storing(id, data string) string {
	return fmt.Sprintf("insert into event(id, user_id, session_id, created_at, data) values('%s', 'u', 's', '2026-08-03 09:00:%02d+00:00', '%s')",
		id, len(id), strings.ReplaceAll(data, "'", "''"))
}

const ofSession = "insert into session(id, user_id, agent_id, created_at) values('s', 'u', 'kagent__NS__a', '2026-08-03 09:00:00+00:00')"

// told is what an item says, in a line.
func told(it *session.Item) string {
	line := fmt.Sprintf("%s %s", it.Kind, it.Role)
	for _, part := range []struct{ name, value string }{
		{"by", it.Agent()}, {"in", it.Invocation()}, {"says", it.Body.Text}, {"thinks", it.Body.Reasoning},
	} {
		if part.value != "" {
			line += fmt.Sprintf(" %s %q", part.name, part.value)
		}
	}
	for _, c := range it.Calls {
		line += fmt.Sprintf(" calls %s %s%s", c.ID, c.Name, c.Args)
		if d := c.Delegation; d != nil {
			line += fmt.Sprintf(" of %q, child %q, run %q, likely %v", d.Agent, d.Child, d.Run, d.Likely)
		}
	}
	for _, b := range it.Blocks {
		if b.Kind == session.MediaBlock {
			line += fmt.Sprintf(" holds %s %q of %d bytes in %d", b.Name, b.Media, b.Bytes, b.In)
		}
	}
	for _, r := range it.Results {
		line += fmt.Sprintf(" answers %s %s", r.CallID, r.Text)
		for _, is := range []struct {
			name  string
			value bool
		}{{"error", r.IsError}, {"pending", r.Pending}} {
			if is.value {
				line += " " + is.name
			}
		}
	}
	return line
}

// eventCases are events in every dialect, with what is read of them.
var eventCases = []struct{ name, data, want string }{
	{
		"a call of adk-python",
		`{"id":"e","invocation_id":"i","author":"kagent__NS__a","branch":null,"timestamp":1785747600.5,"content":{"role":"model","parts":[{"text":null,"function_call":{"id":"c","name":"kagent__NS__b","args":{"request":"go"}}}]}}`,
		`message assistant by "kagent__NS__a" in "i" calls c kagent__NS__b{"request":"go"} of "kagent__NS__b", child "", run "", likely false`,
	},
	{
		"a call of adk-go before 2.2",
		`{"ID":"e","InvocationID":"i","Author":"a","Timestamp":"2026-08-03T09:00:00Z","Content":{"role":"model","parts":[{"functionCall":{"id":"c","name":"t","args":{}}}]},"Actions":{"StateDelta":{}},"LongRunningToolIDs":["c"]}`,
		`message assistant by "a" in "i" calls c t{}`,
	},
	{
		"a result of adk-go 2.2",
		`{"id":"e","invocationId":"i","author":"a","timestamp":"2026-08-03T09:00:00Z","content":{"role":"user","parts":[{"functionResponse":{"id":"c","name":"t","response":{"error":"no"}}}]}}`,
		`message tool by "a" in "i" answers c {"error":"no"} error`,
	},
	{
		"JSON in a JSON string",
		` "{\"invocation_id\":\"i\",\"author\":\"user\",\"content\":{\"role\":\"user\",\"parts\":[{\"text\":\"h\\u00e9\"}]}}"`,
		`message user in "i" says "hé"`,
	},
	{
		"a worker's error without its session",
		`{"invocation_id":"i","author":"a","content":{"role":"user","parts":[{"function_response":{"id":"c","name":"kagent__NS__b","response":{"error":"unreachable","subagent":"kagent__NS__b"}}}]}}`,
		`message tool by "a" in "i" answers c {"error":"unreachable","subagent":"kagent__NS__b"} error`,
	},
	{
		"a worker's answer as a bare string",
		`{"invocation_id":"i","author":"a","content":{"role":"user","parts":[{"function_response":{"id":"c","name":"kagent__NS__b","response":"failed"}}]}}`,
		`message tool by "a" in "i" answers c "failed"`,
	},
	{
		"a worker that waits for approval",
		`{"invocation_id":"i","author":"a","content":{"role":"user","parts":[{"function_response":{"id":"c","name":"kagent__NS__b","response":{"status":"pending","waiting_for":"subagent_approval","subagent_session_id":"w"}}}]}}`,
		`message tool by "a" in "i" answers c {"status":"pending","waiting_for":"subagent_approval","subagent_session_id":"w"} pending`,
	},
	{
		"the headers of a request",
		`{"invocation_id":"header_update","author":"system","content":null,"actions":{"state_delta":{"headers":{"authorization":"Bearer x"}}}}`,
		`other  in "header_update"`,
	},
	{
		"a request of the OpenAI Agents SDK",
		`{"type":"conversation_items","timestamp":1.5,"items":[{"role":"user","content":"hello"}]}`,
		`message user says "hello"`,
	},
	{
		"several turns of the OpenAI Agents SDK",
		`{"type":"conversation_items","items":[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}]},{"type":"function_call","id":"fc_1","call_id":"c","name":"t","arguments":"{\"a\":1}"},{"type":"function_call_output","call_id":"c","output":"done"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}]}`,
		`message assistant says "ok" thinks "hm" calls c t{"a":1} answers c done`,
	},
	{
		"a result of the OpenAI Agents SDK",
		`{"type":"conversation_items","items":[{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"done"}]}]}`,
		`message tool answers c done`,
	},
	{"nothing of the OpenAI Agents SDK", `{"type":"conversation_items","items":[]}`, `other `},
	{
		"a message of A2A before 1.0",
		`{"kind":"message","messageId":"m","role":"agent","contextId":"s","metadata":{"kagent_invocation_id":"i","kagent_author":"a"},"parts":[{"kind":"text","text":"one"},{"kind":"text","text":"two"}]}`,
		`message assistant by "a" in "i" says "one\ntwo"`,
	},
	{
		"a call in a message of A2A 1.0",
		`{"messageId":"m","role":"ROLE_AGENT","metadata":{"adk_invocation_id":"i"},"parts":[{"data":{"id":"c","name":"t","args":{"a":1}},"metadata":{"adk_type":"function_call"}}]}`,
		`message assistant in "i" calls c t{"a":1}`,
	},
	{
		"a result in a message of A2A",
		`{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"data","data":{"id":"c","name":"t","response":{"result":"x"}},"metadata":{"kagent_type":"function_response"}}]}`,
		`message tool answers c {"result":"x"}`,
	},
	{
		"an image of adk-python, in the URL alphabet",
		`{"invocation_id":"i","author":"user","content":{"role":"user","parts":[{"inline_data":{"mime_type":"image/png","data":"iVBORw0KGgo_"}}]}}`,
		`message user in "i" holds image "image/png" of 12 bytes in 0`,
	},
	{
		"an image and a file of the OpenAI Agents SDK",
		`{"type":"conversation_items","items":[{"role":"user","content":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"data:image/gif;base64,R0lGODlh"},{"type":"input_file","file_data":"data:application/pdf;base64,JVBERi0x"},{"type":"input_image","image_url":"https://x/y"}]}]}`,
		`message user says "see" holds image "image/gif" of 8 bytes in 0 holds document "application/pdf" of 8 bytes in 0 holds image "" of 0 bytes in 0`,
	},
	{
		"an image in a result of the OpenAI Agents SDK",
		`{"type":"conversation_items","items":[{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"data:image/gif;base64,R0lGODlh"}]}]}`,
		`message tool holds image "image/gif" of 8 bytes in 1 answers c `,
	},
	{
		"files in a message of A2A before 1.0",
		`{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"file","file":{"mimeType":"image/gif","bytes":"R0lGODlh"}},{"kind":"file","file":{"uri":"https://x"}}]}`,
		`message user holds image "image/gif" of 8 bytes in 0 holds document "" of 0 bytes in 0`,
	},
	{
		"files in a message of A2A 1.0",
		`{"messageId":"m","role":"ROLE_USER","parts":[{"raw":"JVBERi0x","mediaType":"application/pdf"},{"url":"https://x/y.png","mediaType":"image/png"}]}`,
		`message user holds document "application/pdf" of 8 bytes in 0 holds image "" of 0 bytes in 0`,
	},
	{"no JSON", `{"invocation_id":"i",`, `other `},
	{"no object", `[]`, `other `},
}

func TestEvents(t *testing.T) {
	for _, c := range eventCases {
		t.Run(c.name, func(t *testing.T) {
			s := filterChildren(t, changed(t, ofSession, storing("e", c.data)))
			if got := told(&s.Items[0]); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestLinks tells by whom a call's child is named.
func TestLinks(t *testing.T) {
	call := `{"invocation_id":"i","author":"a","content":{"role":"model","parts":[{"function_call":{"id":"c","name":"kagent__NS__b","args":{"request":"go"}}}]}}`
	answer := func(response string) string {
		return `{"invocation_id":"i","author":"a","content":{"role":"user","parts":[{"function_response":{"id":"c","name":"kagent__NS__b","response":` + response + `}}]}}`
	}
	asking := `{"invocation_id":"i","author":"a","content":{"role":"model","parts":[{"function_call":{"id":"q","name":"adk_request_confirmation",` +
		`"args":{"originalFunctionCall":{"id":"c"},"toolConfirmation":{"payload":{"task_id":"t1","context_id":"w"}}}}}]}}`
	requested := `{"invocation_id":"i","author":"a","content":{"role":"user","parts":[{"function_response":{"id":"c","name":"kagent__NS__b",` +
		`"response":{"status":"pending","waiting_for":"subagent_approval"}}}]},"actions":{"requested_tool_confirmations":{"c":{"payload":{"task_id":"t1","context_id":"w"}}}}}`
	task := `insert into task(id, session_id, user_id, data) values('p', 's', 'u', '{"status":{"state":"completed"},"history":[{"role":"agent","parts":[` +
		`{"kind":"data","data":{"id":"c","name":"kagent__NS__b","args":{}},"metadata":{"kagent_type":"function_call","kagent_subagent_session_id":"w"}}]}]}')`
	worker := "insert into session(id, user_id, agent_id, created_at) values('w', 'u', 'kagent__NS__b', '2026-08-03 09:00:01+00:00')"
	for _, c := range []struct {
		name       string
		statements []string
		want       string
	}{
		{"by nobody", []string{storing("e", call), storing("ee", answer(`{"result":"x"}`))}, `child "", run "", likely false`},
		{"by the result", []string{storing("e", call), storing("ee", answer(`{"result":"x","subagent_session_id":"w"}`))}, `child "w", run "", likely false`},
		{"by an error", []string{storing("e", call), storing("ee", answer(`{"error":"x","subagent_session_id":"w"}`))}, `child "w", run "", likely false`},
		{"by a request for approval", []string{storing("e", call), storing("ee", asking)}, `child "w", run "t1", likely true`},
		{"by a request alone", []string{storing("e", call), storing("ee", requested)}, `child "w", run "t1", likely true`},
		{
			"by the request, then by the result",
			[]string{storing("e", call), storing("ee", requested), storing("eee", answer(`{"result":"x","subagent_session_id":"w"}`))},
			`child "w", run "t1", likely false`,
		},
		{"by a stamp in a task", []string{storing("e", call), task}, `child "w", run "", likely true`},
		{"a child that is not stored", []string{storing("e", call), storing("ee", answer(`{"subagent_session_id":"elsewhere"}`))}, `child "elsewhere", run "", likely false`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, trees := read(t, changed(t, append(c.statements, ofSession, worker)...))
			tree, s := sessionOf(trees, "s", "u")
			if got := told(&s.Items[0]); !strings.HasSuffix(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if together := tree.Session("w") != nil; together != strings.Contains(c.want, `"w"`) {
				t.Errorf("one tree: %v", together)
			}
		})
	}
}

// TestTwoAnswers holds that of two answers to one call the first one waits.
func TestTwoAnswers(t *testing.T) {
	answer := func(invocation, response string) string {
		return `{"invocation_id":"` + invocation + `","author":"a","content":{"role":"user","parts":[{"function_response":{"id":"c","name":"kagent__NS__b","response":` + response + `}}]}}`
	}
	s := filterChildren(t, changed(
		t, ofSession,
		storing("e", `{"invocation_id":"i","author":"a","content":{"role":"model","parts":[{"function_call":{"id":"c","name":"kagent__NS__b","args":{"request":"go"}}}]}}`),
		storing("ee", answer("i", `{"status":"pending","waiting_for":"subagent_approval","subagent":"kagent__NS__b","subagent_session_id":"w"}`)),
		storing("eee", answer("i", `{"result":"done","subagent_session_id":"w"}`)),
	))
	if !s.Items[1].Results[0].Pending || s.Items[2].Results[0].Pending {
		t.Error("the answer that waits is not the first one")
	}
	if s.Items[2].Results[0].Answer != session.DigestOf("done") {
		t.Error("the worker's own words are not known")
	}
}

// TestRawIsWhatIsStored but for headers.
func TestRawIsWhatIsStored(t *testing.T) {
	const plain = ` { "invocation_id" : "i", "author":"user","content":{"role":"user","parts":[{"text":"the headers of a table"}]}}`
	const secret = `{"invocation_id":"i","author":"user","content":{"role":"user","parts":[{"text":"x"}]},"actions":{"stateDelta":{"a":1,"headers":{"Authorization":"Bearer x","b":["y"]}}}}`
	quoted, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	s := filterChildren(t, changed(t, ofSession, storing("e", plain), storing("ee", secret), storing("eee", string(quoted)), storing("eeee", `{"headers":{"authorization":"Bearer x"`)))
	shown := strings.Replace(secret, `{"Authorization":"Bearer x","b":["y"]}`, `{"Authorization":"[withheld by sessctl]","b":"[withheld by sessctl]"}`, 1)
	again, err := json.Marshal(shown)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{plain, shown, string(again), `"[withheld by sessctl]"`} {
		if diff := cmp.Diff(want, string(s.Items[i].Body.Raw)); diff != "" {
			t.Error(diff)
		}
	}
}
