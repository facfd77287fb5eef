package dockeragent

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/session"
)

// callingTool and delegating are messages as docker agent stores them.
const (
	callingTool = `{"role":"assistant","content":"grand text","reasoning_content":"hmm","tool_calls":[{"id":"g1","type":"function","function":{"name":"shell","arguments":"{\"cmd\":\"pwd\"}"}},{"id":"g2","type":"function","function":{"name":"read_file","arguments":"{}"}}],"tool_definitions":[{"name":"shell","category":"","description":"Runs \u003ccmd\u003e.","parameters":{"type":"object","properties":{"cmd":{"type":"string"},"n":{"type":"integer","minimum":-1.5e3}}},"annotations":{"readOnlyHint":true,"destructiveHint":null,"title":"Shell"},"outputSchema":null},{"name":"read_file","category":"","parameters":{},"annotations":{},"outputSchema":null}],"created_at":"2026-11-20T21:36:45Z","usage":{"input_tokens":10,"output_tokens":5,"cached_input_tokens":0,"cached_write_tokens":0},"model":"test/mock","cost":0.0125}`
	delegating  = `{"role":"assistant","content":"I'll delegate.","tool_calls":[{"id":"r1","type":"function","function":{"name":"transfer_task","arguments":"{\"agent\":\"worker\",\"expected_output\":\"text\",\"task\":\"do it\"}"}}],"created_at":"2026-11-20T21:36:45Z","model":"test/mock"}`
)

var samples = []string{
	callingTool, delegating,
	`{"role":"user","content":"please \"delegate\"\n\tnow","created_at":"2026-11-20T21:36:45Z"}`,
	`{"role":"system","content":"You are a member of a team of agents.\n\n\u003ctask\u003e\ndo it\n\u003c/task\u003e\n\n\u003cexpected_output\u003e\ntext\n\u003c/expected_output\u003e","created_at":"2026-11-20T21:36:45Z"}`,
	`{"role":"tool","content":"No result provided","tool_call_id":"w1","is_error":true,"created_at":"2026-11-20T21:36:45+05:30"}`,
	`{"role":"assistant","content":"","reasoning_content":"` + "größer\u3000" + `\u2028"}`,
	`{"role":"user","content":" ","multi_content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:,x","detail":"low"}},{"type":"file","file":{"path":"p","file_id":"i","mime_type":"m"}}]}`,
	`{"role":"user","content":"\b\f","multi_content":[{"type":"document","document":{"name":"n","size":1e3}}],"later":[{"a":null}]}`,
	`{"role":"assistant","content":"x","thinking_signature":"s","thought_signature":"QUJD","function_call":{"name":"f","arguments":"{}"},"cache_control":false,"finish_reason":"stop"}`,
	`{"role":"tool","content":"[sessctl] no result","tool_call_id":"w1","is_error":true,"sessctl":{"synthetic":true}}`,
	`{"role":"tool","content":"aborted","tool_call_id":"w1","created_at":"2026-11-20T21:36:45Z","sessctl":{"synthetic":true}}`,
	`{"role":"tool","content":"aborted","sessctl":{"synthetic": true},"Sessctl":[1e999]}`,
}

func FuzzMessage(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { agree(t, data) })
}

// Both paths agree with encoding/json and with each other on messages that are
// put together and taken apart at random.
func TestPathsAgree(t *testing.T) {
	campaign.ShowsNoRace(t)
	random := rand.New(rand.NewPCG(3, 4))
	var fast, exact, refused int
	for range 60_000 {
		data := []byte(samples[random.IntN(len(samples))])
		if random.IntN(2) == 0 {
			data = generate(random)
		}
		for range random.IntN(3) {
			data = mutate(random, data)
		}
		switch agree(t, data) {
		case "fast":
			fast++
		case "exact":
			exact++
		default:
			refused++
		}
		if t.Failed() {
			return
		}
	}
	if min(fast, exact, refused) < 5000 {
		t.Errorf("the messages are one-sided: fast %d, exact %d, refused %d", fast, exact, refused)
	}
}

// The databases that docker agent itself wrote, where the checkout has them.
func TestCorpus(t *testing.T) {
	paths, _ := filepath.Glob("../../../../shared/corpus/docker-agent/*/*.db")
	if len(paths) == 0 {
		t.Skip("no corpus beside the checkout")
	}
	for _, path := range paths {
		for _, data := range storedMessages(t, path) {
			if !new(decoder).decodeFast([]byte(data)) {
				t.Errorf("left to the exact path: %s", data)
			}
			agree(t, []byte(data))
		}
	}
}

// storedMessages reads a copy, because opening a database can change it.
func storedMessages(t *testing.T, path string) []string {
	t.Helper()
	target := filepath.Join(t.TempDir(), "copy.db")
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = os.WriteFile(target+suffix, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", target)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var all string
	err = db.QueryRow(`select json_group_array(message_json) from session_items where message_json is not null`).Scan(&all)
	if err != nil {
		t.Fatal(err)
	}
	var messages []string
	if err := json.Unmarshal([]byte(all), &messages); err != nil {
		t.Fatal(err)
	}
	return messages
}

// agree holds the decoder against encoding/json, and the fast path against the
// exact one. It says which way the message went, "" for one that is refused.
func agree(t *testing.T, data []byte) string {
	t.Helper()
	var upstream chatMessage
	verdict := json.Unmarshal(data, &upstream)
	var d decoder
	var got message
	if err := d.decodeMessage(data, "root", &got); (err == nil) != (verdict == nil) {
		t.Fatalf("%q\ndecode:        %v\nencoding/json: %v", data, err, verdict)
	}
	if verdict != nil {
		return ""
	}
	if diff := unlike(&got, expected(&upstream)); diff != "" {
		t.Fatalf("%q\n%s", data, diff)
	}
	if !d.decodeFast(data) {
		return "exact"
	}
	var slow decoder
	want := message{record: &slow.record}
	if err := slow.decodeExact(data); err != nil {
		t.Fatal(err)
	}
	slow.describeMessage("root", &want)
	if diff := unlike(&got, &want); diff != "" || got.meaning != want.meaning {
		t.Fatalf("%q\nfast against exact: %s", data, diff)
	}
	if got.size != want.size || !slices.Equal(got.blocks, want.blocks) {
		t.Fatalf("%q\nfast:  %d bytes, %+v\nexact: %d bytes, %+v", data, got.size, got.blocks, want.size, want.blocks)
	}
	return "fast"
}

// expected works a message out from what encoding/json found, in the plainest
// way. It leaves the meaning out.
func expected(u *chatMessage) *message {
	m := &message{
		record: &record{
			role: []byte(u.Role), callID: []byte(u.ToolCallID), isError: u.IsError, model: []byte(u.Model), hasUsage: u.Usage != nil, cost: u.Cost,
			marked: string(u.Marker) == marker,
		},
		role: session.ParseRole(u.Role), text: quoteText(u.Content).digest(),
		hasText: strings.TrimSpace(u.Content) != "",
	}
	for _, p := range u.MultiContent {
		m.hasText = m.hasText || p.Type == "text" && strings.TrimSpace(p.Text) != ""
		m.hasMedia = m.hasMedia || p.Type != "text"
	}
	if m.role != session.Tool {
		m.flags = session.TextFlags(u.Content)
		if n := len(u.MultiContent); n > 0 {
			m.flags = session.TextFlags(u.MultiContent[n-1].Text) &^ session.BlankText
		}
	}
	for _, c := range u.ToolCalls {
		m.calls = append(m.calls, call{
			[]byte(c.ID), []byte(c.Function.Name), session.FormOf(c.Function.Arguments), session.DelegationFor(c.Function.Name, c.Function.Arguments),
		})
	}
	if m.role == session.Tool {
		prefixed := strings.HasPrefix(u.Content, session.SyntheticPrefix)
		m.placeholder = prefixed || !m.marked && session.IsPlaceholder(u.Content) && len(quoteText(u.Content)) <= maxPlaceholder
	}
	if _, rest, ok := strings.Cut(u.Content, "<task>\n"); ok && m.role == session.System {
		if end := strings.LastIndex(rest, "\n</task>"); end >= 0 {
			m.task = session.DigestOf(rest[:end])
		}
	}
	if u.CreatedAt != "" {
		at, err := time.Parse(time.RFC3339, u.CreatedAt)
		m.time, m.hasTime, m.badTime = at, err == nil, err != nil
	}
	return m
}

func unlike(got, want *message) string {
	if g, w := say(got), say(want); g != w {
		return fmt.Sprintf("got  %s\nwant %s", g, w)
	}
	if got.text != want.text || got.task != want.task {
		return "the digests differ"
	}
	for i, c := range got.calls {
		if !reflect.DeepEqual(c.delegation, want.calls[i].delegation) {
			return fmt.Sprintf("delegation %d differs", i)
		}
	}
	return ""
}

var (
	keys = []string{"role", "content", "multi_content", "reasoning_content", "thinking_signature", "thought_signature",
		"function_call", "tool_calls", "tool_definitions", "tool_call_id", "is_error", "created_at", "usage", "model", "cost",
		"cache_control", "finish_reason", "sessctl", "SESSCTL", "type", "text", "image_url", "url", "file", "path", "document", "id", "function", "name",
		"arguments", "parameters", "annotations", "outputSchema", "readOnlyHint", "destructiveHint", "input_tokens", "output_tokens",
		"Role", "CONTENT", "readonlyhint", "later", "", `\u0069d`, "is_\u017frror", "\xff"}
	scalars = []string{`null`, `true`, `false`, `0`, `-0`, `1`, `12`, `1.5`, `-1e3`, `1e999`, `1E-999`, `123456789012345678`,
		`1234567890123456789012`, `""`, `" "`, `"x"`, `"user"`, `"assistant"`, `"tool"`, `"system"`, `"text"`, `"QUJD"`, `"QQ="`,
		`"2026-11-20T21:36:45Z"`, `"transfer_task"`, `"{\"agent\":\"w\",\"task\":\"t\"}"`, `"\u003ctask\u003e\nx\n\u003c/task\u003e"`,
		`"aborted"`, `[]`, `{}`, `[null]`, `[{}]`, `[1,2]`, marker, `{"synthetic":true }`}
	fragments = []string{`\u000a`, `\u0008`, `\u000b`, `\u001f`, `\u003c`, `\u003C`, `\/`, `\b`, `\"`, `\\`, `\ud800`, `\ud83d\ude00`, `\ufffd`, `\x`, `\u12`,
		"\xff", "\xc3", "\xed\xa0\x80", "\u2028", "\ufffd", "é", "<", "&", "\x00", "\x1f", "\x7f", " ", "\n", "\ufeff", `"`, `,`, `:`, `{`, `}`, `[`, `]`,
		`e5`, `.5`, `01`, `-`, `,"role":"tool"`, `,"Usage":{"input_tokens":3}`, `,"content":"a"`, `"later":{"a":[1]},`}
)

func pick(random *rand.Rand, from []string) string { return from[random.IntN(len(from))] }

// generate writes an object with known keys, values that often fit, and now and
// then a key that is repeated, unknown or in another case.
func generate(random *rand.Rand) []byte {
	return appendObject(nil, random, reflect.TypeFor[chatMessage](), 0)
}

func appendObject(b []byte, random *rand.Rand, t reflect.Type, depth int) []byte {
	b = append(b, '{')
	for i := range random.IntN(6) {
		if i > 0 {
			b = append(b, ',')
		}
		if random.IntN(12) == 0 {
			b = fmt.Appendf(b, `"%s":%s`, pick(random, keys), pick(random, scalars))
			continue
		}
		f := t.Field(random.IntN(t.NumField()))
		b = fmt.Appendf(b, `"%s":`, f.Tag.Get("json"))
		b = appendValue(b, random, f.Type, depth+1)
	}
	return append(b, '}')
}

func appendValue(b []byte, random *rand.Rand, t reflect.Type, depth int) []byte {
	switch odd := random.IntN(40) == 0 || depth > 6; {
	case odd || t.Kind() == reflect.Interface || t == reflect.TypeFor[json.RawMessage]():
		return append(b, pick(random, scalars)...)
	case t.Kind() == reflect.Pointer:
		return appendValue(b, random, t.Elem(), depth)
	case t.Kind() == reflect.Struct:
		return appendObject(b, random, t, depth)
	case t == reflect.TypeFor[[]byte]():
		return append(b, `"QUJD"`...)
	case t.Kind() == reflect.Slice:
		b = append(b, '[')
		for i := range random.IntN(3) {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, random, t.Elem(), depth+1)
		}
		return append(b, ']')
	case t.Kind() == reflect.Bool:
		return fmt.Append(b, random.IntN(2) == 0)
	case t.Kind() == reflect.String:
		if random.IntN(2) == 0 {
			return append(b, pick(random, scalars[13:28])...) // the strings
		}
		return fmt.Appendf(b, `"%s%s"`, strings.Repeat("a", random.IntN(20)), pick(random, fragments))
	}
	return fmt.Append(b, random.IntN(1000)-10)
}

// mutate changes a message in one place.
func mutate(random *rand.Rand, data []byte) []byte {
	if len(data) == 0 {
		return data
	}
	at := random.IntN(len(data))
	end := min(at+1+random.IntN(12), len(data))
	var middle string
	switch random.IntN(6) {
	case 0: // one byte becomes another
		end, middle = at+1, string([]byte{byte(random.IntN(256))})
	case 1: // a piece goes
	case 2: // a piece comes twice
		middle = string(data[at:end]) + string(data[at:end])
	case 3:
		end, middle = at, pick(random, fragments)
	case 4: // another value
		if colon := bytes.IndexByte(data[at:], ':'); colon >= 0 {
			at += colon + 1
			end = at + max(bytes.IndexAny(data[at:], ",}]"), 0)
			middle = pick(random, scalars)
		}
	case 5: // another key
		if quote := bytes.Index(data[at:], []byte(`,"`)); quote >= 0 {
			at += quote + 2
			end = at + max(bytes.IndexByte(data[at:], '"'), 0)
			middle = pick(random, keys)
		}
	}
	return append(append(append([]byte{}, data[:at]...), middle...), data[end:]...)
}
