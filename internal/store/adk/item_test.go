package adk

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// outline prints what a decoded item says, in short.
func outline(it session.Item, list []session.Fault) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s", it.Kind, it.Role)
	for _, f := range []struct{ name, value string }{
		{"agent", it.Agent()}, {"branch", it.Branch()}, {"scope", it.Scope()}, {"node", it.Node()}, {"inv", it.Invocation()}, {"model", it.Model()},
		{"text", it.Body.Text}, {"thought", it.Body.Reasoning},
	} {
		if f.value != "" {
			fmt.Fprintf(&b, " %s=%s", f.name, f.value)
		}
	}
	for _, c := range it.Calls {
		fmt.Fprintf(&b, " call(%s %s %s%s)", c.ID, c.Name, c.Args, map[bool]string{true: " waits"}[c.Waits])
	}
	for _, r := range it.Results {
		fmt.Fprintf(&b, " result(%s %s %s", r.CallID, r.Name, r.Text)
		for _, f := range []struct {
			name string
			set  bool
		}{{"error", r.IsError}, {"placeholder", r.Synthetic}, {"pending", r.Pending}} {
			if f.set {
				b.WriteString(" " + f.name)
			}
		}
		b.WriteString(")")
	}
	for _, block := range it.Blocks {
		held := ""
		if block.Bytes > 0 {
			held = fmt.Sprintf(" %s %d %v", block.Media, block.Bytes, block.Broken)
		}
		fmt.Fprintf(&b, " <%s%s%s%s>", block.Kind, held, map[bool]string{true: " " + block.Name}[block.Name != ""], map[bool]string{true: " signed"}[block.Signature != 0])
	}
	for _, f := range []struct {
		name string
		flag session.Flags
	}{{"blank", session.Blank}, {"unshown", session.Unshown}, {"synthetic", session.Synthetic}} {
		if it.Flags.Has(f.flag) {
			b.WriteString(" +" + f.name)
		}
	}
	for _, f := range list {
		fmt.Fprintf(&b, " !%d:%s", f.Kind, f.Field)
	}
	return b.String()
}

// TestDialects holds that one event reads alike in every spelling.
func TestDialects(t *testing.T) {
	const want = `message/assistant agent=a branch=p.a inv=e-1 text=hi call(adk-1 look {"Q":1} waits)`
	snake := `{"role":"model","parts":[{"text":"hi"},{"function_call":{"id":"adk-1","name":"look","args":{"Q":1}}}]}`
	camel := strings.Replace(snake, "function_call", "functionCall", 1)
	pascal := `{"Role":"model","Parts":[{"Text":"hi"},{"FunctionCall":{"ID":"adk-1","Name":"look","Args":{"Q":1}}}]}`
	columns := func(content string) row {
		return row{"invocation_id": "e-1", "author": "a", "branch": "p.a", "content": content, "long_running_tool_ids_json": `["adk-1"]`}
	}
	document := func(text string) row { return row{"id": "1", "invocation_id": "e-1", "event_data": text} }
	for _, tc := range []struct {
		name string
		gen  generation
		row  row
	}{
		{"P0", p0, columns(snake)},
		{"G1", g1, columns(camel)},
		{"G2", g2, columns(camel)},
		{"Go takes any case", g2, columns(pascal)},
		{"P1", p1, document(`{"author":"a","branch":"p.a","invocation_id":"e-1","long_running_tool_ids":["adk-1"],"content":` + snake + `}`)},
		{"PS", ps, document(`{"author":"a","branch":"p.a","invocation_id":"e-1","long_running_tool_ids":["adk-1"],"content":` + snake + `}`)},
		{"bytes for a text", g2, row{"invocation_id": "e-1", "author": "a", "branch": "p.a", "content": []byte(camel), "long_running_tool_ids_json": []byte(`["adk-1"]`)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := outline(decoded(tc.gen, tc.row)); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestParts(t *testing.T) {
	for _, tc := range []struct {
		name string
		gen  generation
		row  row
		want string
	}{
		{"a user", g2, row{"author": "user", "content": `{"role":"user","parts":[{"text":"go"}]}`}, `message/user text=go`},
		{"a user under the user's id", g2, row{"author": "u", "user_id": "u", "content": `{"role":"user","parts":[{"text":"go"}]}`}, `message/user text=go`},
		{"an agent called as the user is", g2, row{"author": "u", "user_id": "u", "content": `{"role":"model","parts":[{"text":"go"}]}`}, `message/assistant agent=u text=go`},
		{"results", g2, row{"author": "a", "content": `{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{"result":"ok"}}},{"functionResponse":{"id":"2","name":"g"}}]}`},
			`message/tool agent=a result(1 f {"result":"ok"}) result(2 g )`},
		{"a result with a text", g2, row{"author": "user", "content": `{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f"}},{"text":"and now"}]}`},
			`message/user text=and now result(1 f ) <result> <text>`},
		{"a failed tool", g2, row{"author": "a", "content": `{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{"error":"context canceled"}}}]}`},
			`message/tool agent=a result(1 f {"error":"context canceled"} error)`},
		{"an answer that tells of errors", g2, row{"author": "a", "content": `{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{"error":"none","rows":3}}}]}`},
			`message/tool agent=a result(1 f {"error":"none","rows":3})`},
		{"no error", g2, row{"author": "a", "content": `{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{"error":null}}}]}`},
			`message/tool agent=a result(1 f {"error":null})`},
		{"a result of a repair", g2, row{"author": "a", "content": `{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{"error":"[sessctl] no result was recorded"}}}]}`},
			`message/tool agent=a result(1 f [sessctl] no result was recorded error placeholder) +synthetic`},
		{"somebody else's placeholder", g2, row{"author": "a", "content": `{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{"result":"No result provided"}}}]}`},
			`message/tool agent=a result(1 f {"result":"No result provided"} placeholder)`},
		{"a confirmation is asked", g2, row{"author": "a", "actions": []byte(`{"requestedToolConfirmations":{"1":{"hint":"sure?"}}}`),
			"content": `{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{"error":"it requires confirmation"}}}]}`},
			`message/tool agent=a result(1 f {"error":"it requires confirmation"} error pending)`},
		{"the question to the person", g2, row{"author": "a", "long_running_tool_ids_json": `["2"]`,
			"content": `{"role":"model","parts":[{"functionCall":{"id":"2","name":"adk_request_confirmation","args":{}}}]}`},
			`message/assistant agent=a call(2 adk_request_confirmation {} waits) +unshown`},
		{"the person's answer", g2, row{"author": "user", "content": `{"role":"user","parts":[{"functionResponse":{"id":"2","name":"adk_request_confirmation","response":{"confirmed":true}}}]}`},
			`message/tool result(2 adk_request_confirmation {"confirmed":true}) +unshown`},
		{"thoughts", g2, row{"author": "a", "content": `{"role":"model","parts":[{"text":"hm","thought":true},{"text":"yes","thoughtSignature":"c2ln"}]}`},
			`message/assistant agent=a text=yes thought=hm <reasoning> <text signed>`},
		{"a signed call", g2, row{"author": "a", "content": `{"role":"model","parts":[{"functionCall":{"name":"f"},"thoughtSignature":"c2ln"}]}`},
			`message/assistant agent=a call( f ) <call signed>`},
		{"a signature alone", p1, row{"event_data": `{"author":"a","content":{"role":"model","parts":[{"text":"","thought_signature":"c2ln"}]}}`},
			`message/assistant agent=a <reasoning signed> +blank`},
		{"an image", g2, row{"author": "user", "content": `{"role":"user","parts":[{"text":"see"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}`},
			`message/user text=see <text> <media image/png 4 false image>`},
		{"an image of adk-python", p1, row{"event_data": `{"author":"user","content":{"role":"user","parts":[{"inline_data":{"mime_type":"image/png","data":"_-__-_8"}}]}}`},
			`message/user <media image/png 8 false image>`},
		{"a file", p0, row{"author": "user", "content": `{"role":"user","parts":[{"file_data":{"mime_type":"application/pdf","file_uri":"gs://x"}}]}`},
			`message/user <media document>`},
		{"code", g2, row{"author": "a", "content": `{"role":"model","parts":[{"executableCode":{"code":"1+1","language":"PYTHON"}},{"codeExecutionResult":{"output":"2","outcome":"OUTCOME_OK"}}]}`},
			`message/assistant agent=a text=1+12 <text> <text>`},
		{"a tool of the provider", g2, row{"author": "a", "content": `{"role":"model","parts":[{"toolCall":{"id":"1","toolType":"GOOGLE_SEARCH_WEB","args":{"q":1}}},{"toolResponse":{"id":"1","toolType":"GOOGLE_SEARCH_WEB","response":{"r":2}}}]}`},
			`message/assistant agent=a call(1 GOOGLE_SEARCH_WEB {"q":1}) result(1 GOOGLE_SEARCH_WEB {"r":2})`},
		{"an empty part beside a text", g2, row{"author": "a", "content": `{"role":"model","parts":[{"text":"yes"},{}]}`}, `message/assistant agent=a text=yes`},
		{"an unknown part", g2, row{"author": "a", "content": `{"role":"model","parts":[{"hologram":{"x":1}}]}`}, fmt.Sprintf(`message/assistant agent=a <unknown hologram> !%d:hologram`, session.UnknownPart)},
		{"an unknown role", g2, row{"author": "a", "content": `{"role":"system","parts":[{"text":"x"}]}`}, fmt.Sprintf(`message/ agent=a text=x !%d:system`, session.UnknownPart)},
		{"a call of a user", g2, row{"author": "user", "content": `{"role":"user","parts":[{"functionCall":{"id":"1","name":"f"}}]}`}, `message/user call(1 f )`},
		{"arguments that are null", g2, row{"author": "a", "content": `{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":null}}]}`}, `message/assistant agent=a call(1 f )`},
		{"a scope", g2, row{"author": "a", "isolation_scope": "adk-7", "content": `{"role":"model","parts":[{"text":"x"}]}`}, `message/assistant agent=a scope=adk-7 text=x`},
		{"a node's user message, Go", g2, row{"author": "user", "node_info_json": `{"path":"w/n@1"}`, "content": `{"role":"user","parts":[{"text":"x"}]}`}, `message/user text=x`},
		{"a node's user message, Python", p1, row{"event_data": `{"author":"user","node_info":{"path":"w/n@1"},"content":{"role":"user","parts":[{"text":"x"}]}}`}, `message/user node=w/n@1 text=x`},
		{"a node's answer", p1, row{"event_data": `{"author":"n","node_info":{"path":"w/n@1"},"content":{"role":"model","parts":[{"text":"x"}]}}`}, `message/assistant agent=n text=x`},
		{"tokens", p1, row{"event_data": `{"author":"a","branch":{"tokens": [3, 1]},"content":{"role":"model","parts":[{"text":"x"}]}}`}, `message/assistant agent=a branch={"tokens":[3,1]} text=x`},
		{"forks", ps, row{"event_data": `{"author":"a","branch":{"active_forks": {"1": [[0], 3]}},"content":{"role":"model","parts":[{"text":"x"}]}}`}, `message/assistant agent=a branch={"active_forks":{"1":[[0],3]}} text=x`},
		{"a branch that is a number", p1, row{"event_data": `{"author":"a","branch":7}`}, fmt.Sprintf(`other/ agent=a branch=7 !%d:event_data/branch`, session.Undecodable)},
		{"a model", p1, row{"event_data": `{"author":"a","model_version":"gemini-3-pro","content":{"role":"model","parts":[{"text":"x"}]}}`}, `message/assistant agent=a model=gemini-3-pro text=x`},
		{"what was spoken", p1, row{"event_data": `{"author":"user","input_transcription":{"text":"hello"}}`}, `message/user text=hello`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := outline(decoded(tc.gen, tc.row)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// TestWhatNoPromptHolds lists the events that stay in the store and reach no model.
func TestWhatNoPromptHolds(t *testing.T) {
	for _, tc := range []struct {
		name string
		gen  generation
		row  row
	}{
		{"no content", g2, row{"author": "a", "actions": []byte(`{"stateDelta":{"a":1}}`)}},
		{"null for a content", p0, row{"author": "a", "content": "null"}},
		{"no role", g2, row{"author": "a", "content": `{"parts":[{"text":"x"}]}`}},
		{"no parts", g2, row{"author": "a", "content": `{"role":"model","parts":[]}`}},
		{"empty parts", g2, row{"author": "a", "content": `{"role":"model","parts":[{},{"text":""}]}`}},
		{"thoughts alone, Python", p1, row{"event_data": `{"author":"a","content":{"role":"model","parts":[{"text":"hm","thought":true}]}}`}},
		{"partial", g2, row{"author": "a", "partial": int64(1), "content": `{"role":"model","parts":[{"text":"x"}]}`}},
		{"partial in a document", ps, row{"event_data": `{"author":"a","partial":true,"content":{"role":"model","parts":[{"text":"x"}]}}`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			it, list := decoded(tc.gen, tc.row)
			if it.Kind != session.Other || len(list) > 0 {
				t.Errorf("got %s", outline(it, list))
			}
		})
	}
	it, _ := decoded(g2, row{"author": "a", "content": `{"role":"model","parts":[{"text":"hm","thought":true}]}`})
	if it.Kind != session.Message {
		t.Error("adk-go sends a thought that stands alone")
	}
}

// TestOutlineHasNoTexts holds that what is read without bodies is the same but for
// them.
func TestOutlineHasNoTexts(t *testing.T) {
	r := row{
		"timestamp": "2026-11-20 21:40:00+00:00", "author": "a",
		"content": `{"role":"model","parts":[{"text":"hi"},{"functionCall":{"id":"1","name":"f","args":{"a":1}}},{"functionResponse":{"id":"2","name":"g","response":{"b":2}}}]}`,
	}
	full, _ := decoded(g2, r)
	bare := session.Item{Shared: &session.Shared{Table: tableEvents}, Key: "k"}
	g2.decodeItem(r.columns, &bare, false, &notes{})
	if bare.Body != nil || bare.Calls[0].Args != "" || bare.Results[0].Text != "" {
		t.Errorf("got %+v", bare)
	}
	if bare.Meaning != full.Meaning || bare.Text != full.Text || bare.Results[0].Digest != full.Results[0].Digest {
		t.Error("the digests differ")
	}
}

// TestHiddenRequests holds that what the runtime asks a person is shown to no model, in
// every generation, and neither is the answer.
func TestHiddenRequests(t *testing.T) {
	call := `{"role":"model","parts":[{"functionCall":{"id":"2","name":"%s","args":{}}}]}`
	answer := `{"role":"user","parts":[{"functionResponse":{"id":"2","name":"%s","response":{"answer":"blue"}}}]}`
	for _, g := range []generation{p0, p1, ps, g1, g2} {
		for tool, hides := range map[string]bool{"adk_request_confirmation": true, "adk_request_credential": true, "adk_request_input": true, "adk_request_other": false} {
			for author, form := range map[string]string{"a": call, "user": answer} {
				content := fmt.Sprintf(form, tool)
				r := row{"author": author, "content": content}
				if g.hasDocument() {
					r = row{"event_data": fmt.Sprintf(`{"author":%q,"content":%s}`, author, content)}
				}
				if it, list := decoded(g, r); it.Flags.Has(session.Unshown) != hides || len(list) > 0 {
					t.Errorf("%s: %s of %s: %s", g, tool, author, outline(it, list))
				}
			}
		}
	}
}
