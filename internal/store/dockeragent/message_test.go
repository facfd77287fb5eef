package dockeragent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

// say prints what a message says, zero values left out, and no digests.
func say(m *message) string {
	var b strings.Builder
	add := func(ok bool, format string, args ...any) {
		if ok {
			fmt.Fprintf(&b, " "+format, args...)
		}
	}
	add(true, "%s", m.role)
	add(m.role == session.NoRole && len(m.record.role) > 0, "role=%q", m.record.role)
	add(m.hasText, "text")
	add(m.hasMedia, "media")
	add(m.flags.Has(session.BlankText), "blank")
	add(m.flags.Has(session.TrailingSpace), "trailing")
	add(m.task != 0, "task")
	for _, c := range m.calls {
		add(true, "call=%s:%s", c.id, c.name)
		add(c.form == session.ArgsValue, "value")
		add(c.form == session.ArgsBroken, "broken")
		if to := c.delegation; to != nil {
			add(true, "to=%s", to.Agent)
			add(to.Blocking, "blocking")
		}
	}
	add(len(m.callID) > 0, "answers=%s", m.callID)
	add(m.isError, "error")
	add(m.placeholder, "placeholder")
	add(m.marked, "synthetic")
	add(m.hasTime, "at=%s", m.time.Format(time.RFC3339Nano))
	add(m.badTime, "badtime")
	add(len(m.model) > 0, "model=%s", m.model)
	add(m.hasUsage, "usage")
	add(m.cost != 0, "cost=%g", m.cost)
	return strings.TrimSpace(b.String())
}

func decoded(t *testing.T, data string) *message {
	t.Helper()
	var d decoder
	var m message
	if err := d.decodeMessage([]byte(data), "root", &m); err != nil {
		t.Fatalf("%s\n%v", data, err)
	}
	return &m
}

func TestDecode(t *testing.T) {
	const fast, exact = true, false
	tests := []struct {
		name string
		data string
		path bool
		want string
	}{
		{"user", `{"role":"user","content":"hi","created_at":"2026-11-20T21:36:45+01:00"}`, fast,
			`user text at=2026-11-20T21:36:45+01:00`},
		{"streaming placeholder", `{"role":"assistant","content":"","reasoning_content":"hmm"}`, fast, `assistant`},
		{"assistant with calls", callingTool, fast,
			`assistant text call=g1:shell call=g2:read_file at=2026-11-20T21:36:45Z model=test/mock usage cost=0.0125`},
		{"keys in another order", `{"created_at":"2026-11-20T21:36:45Z","tool_call_id":"c1","is_error":true,"content":"aborted","role":"tool"}`, fast,
			`tool text answers=c1 error placeholder at=2026-11-20T21:36:45Z`},
		{"result of a repair", `{"role":"tool","content":"[sessctl] lost","tool_call_id":"c1","sessctl":{"synthetic":true}}`, fast,
			`tool text answers=c1 placeholder synthetic`},
		{"real result that a repair put back", `{"role":"tool","content":"aborted","tool_call_id":"c1","sessctl":{"synthetic":true}}`, fast,
			`tool text answers=c1 synthetic`},
		{"marker of something else", `{"role":"tool","content":"aborted","sessctl":{"synthetic":[1]}}`, fast, `tool text placeholder`},
		{"marker in another case", `{"role":"tool","content":"aborted","SESSCTL":{"synthetic":true}}`, exact, `tool text synthetic`},
		{"white space between tokens", " {\n\t\"role\" : \"user\" ,\r\n \"content\" : \"hi\" } ", fast, `user text`},
		{"empty object", `{}`, fast, ``},
		{"null", `null`, exact, ``},
		{"unknown role", `{"role":"critic","content":"no"}`, fast, `role="critic" text`},
		{"developer is system", `{"role":"developer","content":"do"}`, fast, `system text`},
		{"false is no error", `{"role":"tool","content":"","tool_call_id":"c1","is_error":false}`, fast, `tool answers=c1`},

		{"white space only", `{"role":"user","content":" \n\t\r\f\u000b\u2028\u2029` + "\u0085\u00a0\u3000" + `"}`, fast, `user blank trailing`},
		{"text behind white space", `{"role":"user","content":"\n\n  x"}`, fast, `user text`},
		{"an escaped backslash is text", `{"role":"user","content":"\\n"}`, fast, `user text`},

		{"text part", `{"role":"user","content":"","multi_content":[{"type":"text","text":"look"}]}`, fast, `user text`},
		{"image part", `{"role":"user","content":"","multi_content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":"auto"}}]}`, fast, `user media`},
		{"file part", `{"role":"user","content":"","multi_content":[{"type":"file","file":{"path":"a/b","file_id":"f","mime_type":"text/plain"}}]}`, fast, `user media`},
		{"document part", `{"role":"user","content":"","multi_content":[{"type":"document","document":{"name":"x","data":[1,2]}}]}`, exact, `user media`},
		{"no parts", `{"role":"user","content":"","multi_content":[]}`, fast, `user`},

		{"thought signature", `{"role":"assistant","content":"x","thought_signature":"` + strings.Repeat("QUJD", 700) + `QQ=="}`, fast, `assistant text`},
		{"minor keys", `{"role":"assistant","content":"x","thinking_signature":"s","function_call":{"name":"f","arguments":"{}"},"cache_control":true,"finish_reason":"stop"}`, fast, `assistant text`},
		{"later keys", `{"role":"user","content":"x","origin":{"a":[1.5e3,{"b":null}],"\u0061":2},"n":-0}`, exact, `user text`},
		{"later keys without escapes", `{"role":"user","content":"x","origin":{"a":[1.5e3,{"b":null}]},"n":-0}`, fast, `user text`},
		{"nulls", `{"role":"user","content":null,"tool_calls":null,"usage":null,"cost":null}`, exact, `user`},

		{"bad time", `{"role":"user","content":"x","created_at":"yesterday"}`, fast, `user text badtime`},
		{"empty time", `{"role":"user","content":"x","created_at":""}`, fast, `user text`},
		{"fraction of a second", `{"role":"user","content":"x","created_at":"2026-01-02T03:04:05.5Z"}`, fast, `user text at=2026-01-02T03:04:05.5Z`},

		{"transfer", delegating, fast,
			`assistant text call=r1:transfer_task to=worker blocking at=2026-11-20T21:36:45Z model=test/mock`},
		{"background agent", `{"role":"assistant","content":"","tool_calls":[{"id":"b1","type":"function","function":{"name":"run_background_agent","arguments":"{\"agent\":\"\u003cw\u003e\"}"}}]}`, fast,
			`assistant call=b1:run_background_agent to=<w>`},
		{"white space at the end", `{"role":"assistant","content":"x\n"}`, fast, `assistant text trailing`},
		{"a backslash and an n at the end", `{"role":"assistant","content":"x\\n"}`, fast, `assistant text`},
		{"a backslash and a line end", `{"role":"assistant","content":"x\\\n"}`, fast, `assistant text trailing`},
		{"wide white space at the end", `{"role":"assistant","content":"x` + "\u3000" + `"}`, fast, `assistant text trailing`},
		{"line separator at the end", `{"role":"assistant","content":"x\u2028"}`, fast, `assistant text trailing`},
		{"white space of a result", `{"role":"tool","content":" \n","tool_call_id":"a"}`, fast, `tool answers=a`},
		{"last part ends in white space", `{"role":"user","content":" ","multi_content":[{"type":"text","text":"a"},{"type":"text","text":"b "}]}`, fast, `user text trailing`},
		{"parts without text", `{"role":"user","content":"","multi_content":[{"type":"text","text":" "}]}`, fast, `user trailing`},
		{"part of an unknown type", `{"role":"user","content":"","multi_content":[{"type":"hologram"}]}`, fast, `user media`},
		{"no arguments", calling(``), fast, `assistant call=c:f`},
		{"arguments of an object", calling(`{\"a\":[1,\"\\\"\u003c\"],\"b\":null}\n`), fast, `assistant call=c:f`},
		{"arguments of a list", calling(` [{}]`), fast, `assistant call=c:f value`},
		{"arguments of a text", calling(`\"{}\"`), fast, `assistant call=c:f value`},
		{"arguments that break off", calling(`{\"a\":\"x`), fast, `assistant call=c:f broken`},
		{"two objects as arguments", calling(`{}{}`), fast, `assistant call=c:f broken`},
		{"arguments of white space", calling(` `), fast, `assistant call=c:f broken`},
		{"arguments with an unescaped line end", calling(`{\"a\":\"\n\"}`), fast, `assistant call=c:f broken`},
		{"arguments with a huge number", calling(`{\"a\":1e999}`), fast, `assistant call=c:f`},
		{"arguments with an escaped key", calling(`{\"\\u0061\":1}`), fast, `assistant call=c:f`},

		{"transfer with broken arguments", `{"role":"assistant","content":"","tool_calls":[{"id":"r1","type":"function","function":{"name":"transfer_task","arguments":"{"}}]}`, fast,
			`assistant call=r1:transfer_task broken to= blocking`},

		{"raw <", `{"role":"user","content":"a<b"}`, exact, `user text`},
		{"raw < in a name", `{"role":"user","content":"a","model":"a<b"}`, fast, `user text model=a<b`},
		{"escaped name", `{"role":"user","content":"a","model":"a\u003cb"}`, exact, `user text model=a<b`},
		{"\\b in digits", `{"role":"user","content":"\u0008"}`, exact, `user text`},
		{"invalid UTF-8", "{\"role\":\"user\",\"content\":\"a\xff\"}", exact, `user text`},
		{"escaped key", `{"role":"user","\u0063ontent":"x"}`, exact, `user text`},
		{"key in another case", `{"Role":"user","CONTENT":"x"}`, exact, `user text`},
		{"key with a Kelvin sign", `{"role":"tool","tool_call_id":"a","toK":1}`, fast, `tool answers=a`},
		{"key that folds through the long s", `{"role":"tool","iſ_error":true}`, exact, `tool error`},
		{"repeated key", `{"role":"user","role":"tool","content":"x"}`, exact, `tool text`},
		{"repeated key that is only checked", `{"role":"user","content":"x","finish_reason":"stop","finish_reason":null}`, fast, `user text`},
		{"large whole number", `{"role":"assistant","content":"","usage":{"input_tokens":9223372036854775807}}`, exact, `assistant usage`},
		{"deep nesting", `{"role":"user","x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, exact, `user`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := say(decoded(t, tt.data)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if got := new(decoder).decodeFast([]byte(tt.data)); got != tt.path {
				t.Errorf("fast path: %v, want %v", got, tt.path)
			}
			agree(t, []byte(tt.data))
		})
	}
}

// calling is a message with one call, whose arguments are a JSON string without
// its quotes.
func calling(arguments string) string {
	return `{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"` + arguments + `"}}]}`
}

func TestTextIsTheSameInEveryEncoding(t *testing.T) {
	tests := map[string][]string{
		"a <b> & \u2028": {`a \u003cb\u003e \u0026 \u2028`, `a <b> & ` + "\u2028", `\u0061 \u003Cb> \u0026 \u2028`},
		"\b\f\x01\x7f/":  {`\b\f\u0001` + "\x7f/", `\u0008\u000c\u0001\u007f\/`, `\u0008\u000C\u0001` + "\x7f/"},
		"\ufffd é 😀":     {"\ufffd é 😀", `\ufffd \u00e9 \ud83d\ude00`, "\xff é \U0001F600", `\ud800 é 😀`},
		"\n\t\r\"\\":     {`\n\t\r\"\\`, `\u000a\u0009\u000d\u0022\u005c`},
		"":               {``},
	}
	for text, forms := range tests {
		for _, form := range forms {
			child := decoded(t, `{"role":"assistant","content":"`+form+`"}`)
			if want := quoteText(text).digest(); child.text != want {
				t.Errorf("content %q is not %q", form, text)
			}
			parent := decoded(t, `{"tool_call_id":"c","content":"`+form+`","role":"tool"}`)
			if parent.text != child.text {
				t.Errorf("content %q: the child's text is not the parent's result", form)
			}
		}
	}
}

func TestMeaning(t *testing.T) {
	base := `{"role":"assistant","content":"a","reasoning_content":"b","tool_calls":[{"id":"c","type":"function","function":{"name":"d","arguments":"{\"e\":1}"}}]}`
	same := []string{
		base,
		`{"reasoning_content":"\u0062","content":"a","tool_calls":[{"function":{"arguments":"{\u0022e\u0022:1}","name":"d"},"id":"c"}],"role":"assistant"}`,
		strings.TrimSuffix(base, "}") + `,"created_at":"2026-11-20T21:36:45Z","model":"m","usage":{"input_tokens":1},"is_error":false,"tool_definitions":[],"multi_content":[]}`,
	}
	other := []string{
		`{}`,
		strings.Replace(base, "assistant", "tool", 1),
		strings.Replace(base, "assistant", "helper", 1),
		strings.Replace(base, "assistant", "critic", 1),
		strings.Replace(base, `"a"`, `"A"`, 1),
		strings.Replace(base, `"b"`, `"B"`, 1),
		strings.Replace(base, `"c"`, `"C"`, 1),
		strings.Replace(base, `"d"`, `"D"`, 1),
		strings.Replace(base, `:1`, `: 1`, 1),
		strings.Replace(base, `"content":"a","reasoning_content":"b"`, `"content":"b","reasoning_content":"a"`, 1),
		strings.Replace(base, `}]`, `},{}]`, 1),
		strings.TrimSuffix(base, "}") + `,"tool_call_id":"x"}`,
		strings.TrimSuffix(base, "}") + `,"is_error":true}`,
		strings.TrimSuffix(base, "}") + `,"multi_content":[{}]}`,
		strings.TrimSuffix(base, "}") + `,"multi_content":[{"type":"text","text":"a"}]}`,
		strings.TrimSuffix(base, "}") + `,"multi_content":[{"image_url":{}}]}`,
		strings.TrimSuffix(base, "}") + `,"multi_content":[{"image_url":{"url":"a"}}]}`,
		strings.TrimSuffix(base, "}") + `,"multi_content":[{"image_url":{"detail":"a"}}]}`,
		strings.TrimSuffix(base, "}") + `,"multi_content":[{"file":{"path":"a"}}]}`,
		strings.TrimSuffix(base, "}") + `,"multi_content":[{"file":{"file_id":"a"}}]}`,
		strings.TrimSuffix(base, "}") + `,"multi_content":[{"document":{"data":"a"}}]}`,
		strings.TrimSuffix(base, "}") + `,"multi_content":[{"document":{"data":"b"}}]}`,
	}
	want := decoded(t, base).meaning
	for _, data := range same {
		if decoded(t, data).meaning != want {
			t.Errorf("%s\nmeans something else", data)
		}
	}
	seen := map[session.Digest]string{want: base}
	for _, data := range other {
		m := decoded(t, data).meaning
		if twin, ok := seen[m]; ok {
			t.Errorf("%s\nmeans the same as\n%s", data, twin)
		}
		seen[m] = data
	}
	var d decoder
	var m message
	if err := d.decodeMessage([]byte(base), "worker", &m); err != nil || m.meaning == want {
		t.Errorf("another agent means the same (%v)", err)
	}
	a := decoded(t, `{"multi_content":[{"document":{"b":1,"a":[2]}}]}`).meaning
	if b := decoded(t, `{"multi_content":[{"document":{ "a":[2], "b":1.0 }}]}`).meaning; a != b {
		t.Error("a document means something else with its keys in another order")
	}
}

func TestTask(t *testing.T) {
	const start = "You are a member of a team of agents. Your goal is to complete the following task:\n\n"
	tests := []struct {
		name, role, content string
		want                string
	}{
		{"with an expected output", "system", start + "<task>\ndo it\n</task>\n\n<expected_output>\ntext\n</expected_output>", "do it"},
		{"several lines", "system", start + "<task>\n1. \"read\"\n2. a < b\n</task>", "1. \"read\"\n2. a < b"},
		{"quotes a task", "system", start + "<task>\nsay <task>\nx\n</task> twice\n</task>", "say <task>\nx\n</task> twice"},
		{"only looks escaped", "system", `\u003ctask\u003e\nx\n\u003c/task\u003e`, ""},
		{"empty", "system", "<task>\n\n</task>", ""},
		{"not closed", "system", "<task>\nx", ""},
		{"skill", "system", "Use the skill.", ""},
		{"user", "user", start + "<task>\ndo it\n</task>", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := written{Role: tt.role, Content: tt.content}
			if got := decoded(t, string(w.encode())).task; got != session.DigestOf(tt.want) {
				t.Errorf("the task is not %q", tt.want)
			}
		})
	}
	call := decoded(t, delegating).calls[0].delegation
	child := written{Role: "system", Content: start + "<task>\ndo it\n</task>"}
	if got := decoded(t, string(child.encode())).task; got != call.Task {
		t.Error("the child's task is not the call's")
	}
}

func TestPlaceholder(t *testing.T) {
	long := strings.Repeat("x", 1000)
	tests := map[string]bool{
		"aborted":                                 true,
		"was aborted":                             false,
		"Error: \"No result provided\"":           false,
		"No result provided":                      true,
		"[sessctl] the call was <never> answered": true,
		"[sessctl] " + long:                       true,
		"Tool call interrupted by user\n":         true,
		"Tool call interrupted by user" + long:    false,
		"> Tool execution aborted & <the rest>\n": true,
		"output of " + `{"cmd":"pwd"}`:            false,
		"":                                        false,
		strings.Repeat("y", 370) + "Tool execution aborted": true,
		strings.Repeat("y", 380) + "Tool execution aborted": false,
	}
	for text, want := range tests {
		if session.IsPlaceholder(text) != want {
			t.Fatalf("IsPlaceholder(%.40q) is not %v", text, want)
		}
		w := written{Role: "tool", Content: text, ToolCallID: "c"}
		if got := decoded(t, string(w.encode())).placeholder; got != want {
			t.Errorf("result %.40q: placeholder %v, want %v", text, got, want)
		}
		w.Role = "user"
		if decoded(t, string(w.encode())).placeholder {
			t.Errorf("%.40q of a user is a placeholder", text)
		}
	}
}

func TestErrors(t *testing.T) {
	tests := []struct{ data, want string }{
		{``, `unexpected end of JSON input (byte 0)`},
		{`{"role":"user","content":"secret`, `unexpected end of JSON input (byte 32)`},
		{`{"role":"user"} {}`, `invalid character '{' after top-level value (byte 17)`},
		{"{\"role\":\"user\",\"content\":\"a\nb\"}", `invalid character '\n' in string literal (byte 28)`},
		{`[1]`, `json: cannot unmarshal array into Go value of type chat.Message (byte 1)`},
		{`{"content":["secret"]}`, `json: cannot unmarshal array into Go struct field Message.content of type string (byte 12)`},
		{`{"usage":{"input_tokens":1234.5}}`, `json: cannot unmarshal number into Go struct field Usage.usage.input_tokens of type int64 (byte 31)`},
		{`{"usage":7}`, `json: cannot unmarshal number into Go struct field Message.usage of type chat.Usage (byte 10)`},
		{`{"tool_calls":{}}`, `json: cannot unmarshal object into Go struct field Message.tool_calls of type []tools.ToolCall (byte 15)`},
		{`{"tool_definitions":[{"parameters":{"maximum":1e999}}]}`, `json: cannot unmarshal number into Go struct field Tool.tool_definitions.parameters of type float64 (byte 52)`},
		{`{"thought_signature":"not base64!"}`, `illegal base64 data at input byte 3`},
	}
	for _, tt := range tests {
		var d decoder
		m := *decoded(t, callingTool)
		err := d.decodeMessage([]byte(tt.data), "root", &m)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s\ngot  %v\nwant %s", tt.data, err, tt.want)
		}
		if got := say(&m); got != "" || m.meaning != 0 {
			t.Errorf("%s\nleft %s", tt.data, got)
		}
	}
}

// A decoder is used for many messages: nothing of one may show in the next.
func TestDecoderIsReusable(t *testing.T) {
	messages := []string{callingTool, `{}`, delegating, `{"role":"tool","content":"a<b","tool_call_id":"x"}`, `{"role":`, callingTool,
		`{"role":"user","content":"","multi_content":[{"type":"text","text":"look"}]}`, `{"role":"user","content":"x"}`}
	var d decoder
	var m message
	for _, data := range messages {
		var fresh message
		want := new(decoder).decodeMessage([]byte(data), "root", &fresh)
		got := d.decodeMessage([]byte(data), "root", &m)
		if (got == nil) != (want == nil) || say(&m) != say(&fresh) || m.meaning != fresh.meaning || m.text != fresh.text {
			t.Errorf("%s\ngot  %s\nwant %s", data, say(&m), say(&fresh))
		}
	}
}

func TestFastPathDoesNotAllocate(t *testing.T) {
	var d decoder
	var m message
	messages := codingMessages(t)
	for _, data := range messages {
		if !d.decodeFast(data) {
			t.Fatalf("left to the exact path: %.300s", data)
		}
	}
	decodeAll := func() {
		for _, data := range messages {
			if err := d.decodeMessage(data, "root", &m); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := testing.AllocsPerRun(1, decodeAll); n > 0 {
		t.Errorf("%v allocations for %d messages", n, len(messages))
	}
}
