package dockeragent

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkDecode reads a mix of messages as agents that work on code leave
// behind; one operation is the whole mix. Delegations are apart, because their
// arguments are decoded, which allocates.
func BenchmarkDecode(b *testing.B) {
	mix := codingMessages(b)
	b.Run("mix", func(b *testing.B) { benchmarkDecode(b, mix) })
	b.Run("delegations", func(b *testing.B) { benchmarkDecode(b, [][]byte{[]byte(delegating)}) })
}

func benchmarkDecode(b *testing.B, messages [][]byte) {
	var d decoder
	var m message
	decodeAll := func() {
		for _, data := range messages {
			if err := d.decodeMessage(data, "root", &m); err != nil {
				b.Fatal(err)
			}
		}
	}
	decodeAll() // the decoder's space grows
	b.SetBytes(total(messages))
	b.ReportAllocs()
	for b.Loop() {
		decodeAll()
	}
}

// BenchmarkEncodingJSON is the same mix with the standard library, as docker
// agent itself reads it.
func BenchmarkEncodingJSON(b *testing.B) {
	mix := codingMessages(b)
	b.SetBytes(total(mix))
	b.ReportAllocs()
	for b.Loop() {
		for _, data := range mix {
			var m chatMessage
			if err := json.Unmarshal(data, &m); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func total(messages [][]byte) (n int64) {
	for _, data := range messages {
		n += int64(len(data))
	}
	return n
}

// codingMessages have a median of about 900 bytes and a tail to 200 KB. Their
// texts are cut out of this package's source, which is as full of escapes as
// the files that such agents read and write.
func codingMessages(b testing.TB) [][]byte {
	b.Helper()
	source := packageSource(b)
	random := rand.New(rand.NewPCG(1, 2))
	text := func(n int) string {
		if n >= len(source) {
			return source
		}
		start := random.IntN(len(source) - n)
		return strings.ToValidUTF8(source[start:start+n], "") // the cut may lie within a character
	}
	var messages [][]byte
	for i := range 3000 {
		size := min(max(int(600*math.Exp(1.25*random.NormFloat64())), 8), 200_000)
		if i == 0 {
			size = 200_000
		}
		var w written
		switch p := random.IntN(100); {
		case p < 10:
			w = written{Role: "user", Content: text(size)}
		case p < 20:
			w = written{Role: "assistant", Content: text(size), Usage: someUsage, Model: "anthropic/claude", Cost: 0.0123}
		case p < 60:
			w = written{Role: "tool", Content: text(size), ToolCallID: "toolu_01AbCdEfGhIjKlMnOp"}
		default:
			input := map[string]string{"path": "internal/store/scanner.go"}
			if p >= 90 {
				input["content"] = text(size)
			}
			arguments, _ := json.Marshal(input)
			tool := random.IntN(len(writtenTools))
			w = written{
				Role: "assistant", Content: text(size / 4), Usage: someUsage, Model: "anthropic/claude",
				Calls:       []toolsToolCall{{"toolu_01AbCdEfGhIjKlMnOp", "function", toolsFunctionCall{writtenTools[tool].Name, string(arguments)}}},
				Definitions: writtenTools[tool : tool+1],
			}
		}
		w.CreatedAt = "2026-03-01T12:34:56+01:00"
		messages = append(messages, w.encode())
	}
	return messages
}

func packageSource(b testing.TB) string {
	b.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		b.Fatal(err)
	}
	var source []byte
	for len(source) < 200_000 {
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") { // denser in quotes than most source
				continue
			}
			data, err := os.ReadFile(f)
			if err != nil {
				b.Fatal(err)
			}
			source = append(source, data...)
		}
	}
	return string(source)
}

// written is a message as docker agent writes it: with the keys that say
// something, in its order.
type written struct {
	Role        string          `json:"role"`
	Content     string          `json:"content"`
	Calls       []toolsToolCall `json:"tool_calls,omitempty"`
	Definitions []writtenTool   `json:"tool_definitions,omitempty"`
	ToolCallID  string          `json:"tool_call_id,omitempty"`
	CreatedAt   string          `json:"created_at,omitempty"`
	Usage       *chatUsage      `json:"usage,omitempty"`
	Model       string          `json:"model,omitempty"`
	Cost        float64         `json:"cost,omitempty"`
}

type writtenTool struct {
	Name         string          `json:"name"`
	Category     string          `json:"category"`
	Description  string          `json:"description,omitempty"`
	Parameters   json.RawMessage `json:"parameters"`
	Annotations  map[string]any  `json:"annotations"`
	OutputSchema json.RawMessage `json:"outputSchema"`
}

func (w *written) encode() []byte {
	data, err := json.Marshal(w)
	if err != nil {
		panic(err)
	}
	return data
}

var someUsage = &chatUsage{InputTokens: 12345, OutputTokens: 678, CachedInputTokens: 90}

var writtenTools = []writtenTool{
	{
		Name: "read_file", Category: "filesystem",
		Description:  "Read the complete contents of a file. Handles several text encodings and reports <nothing> else.",
		Parameters:   json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"The file to read"}},"required":["path"],"additionalProperties":false}`),
		Annotations:  map[string]any{"readOnlyHint": true, "title": "Read File"},
		OutputSchema: json.RawMessage(`{"type":"string"}`),
	},
	{
		Name: "write_file", Category: "filesystem",
		Description: "Create a new file, or replace an existing one with new content.",
		Parameters:  json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"The file to write"},"content":{"type":"string","description":"What to write to the file"}},"required":["path","content"],"additionalProperties":false}`),
		Annotations: map[string]any{"title": "Write File", "destructiveHint": true},
	},
	{
		Name: "shell", Category: "shell",
		Description: "Runs a command in the user's default shell.",
		Parameters:  json.RawMessage(`{"type":"object","properties":{"cmd":{"type":"string","description":"The command"},"cwd":{"type":"string","description":"The directory to run it in"},"timeout":{"type":"integer","description":"Seconds until it is stopped","minimum":1,"maximum":3600}},"required":["cmd","cwd"]}`),
		Annotations: map[string]any{"title": "Run Shell Command"},
	},
	{
		Name: "mcp__github__search_pull_requests_by_author", Category: "mcp",
		Description: "Search pull requests.",
		Parameters:  json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"page":{"type":"number","default":1}}}`),
	},
}
