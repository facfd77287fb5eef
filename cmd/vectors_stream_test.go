package cmd_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// record is a line of a canonical stream.
type record = map[string]any

// stream writes messages of the vector into a canonical stream.
func (v *vector) stream(t *testing.T, messages []json.RawMessage) string {
	t.Helper()
	writer := map[string]string{"alive": "live", "dead": "dead"}[v.Context.Writer]
	lines := []record{
		{"type": "header", "format": "sessctl.canonical/1", "writer": writer},
		{"type": "session", "id": "P", "thinking": strings.Contains(v.Name, "while thinking")},
	}
	for _, message := range messages {
		var m wireMessage
		if err := json.Unmarshal(message, &m); err != nil {
			t.Fatal(err)
		}
		items := map[string]func(*wireMessage) []record{
			"neutral": neutralItems, "anthropic": anthropicItems, "bedrock": bedrockItems, "gemini": geminiItems,
			"openai-chat": chatItems, "openai-responses": v.responsesItems,
		}[v.Encoding]
		for _, it := range items(&m) {
			it["type"], it["session"], it["kind"] = "item", "P", "message"
			lines = append(lines, it)
		}
	}
	var text strings.Builder
	for _, line := range lines {
		data, err := json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "%s\n", data)
	}
	path := filepath.Join(t.TempDir(), "stream.ndjson")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wireMessage has the members of all encodings.
type wireMessage struct {
	Role, Text string
	Calls      []struct{ ID, Name, Args string }
	Results    []struct {
		ID, Text                  string
		Error, Synthetic, Pending bool
	}

	Content   json.RawMessage // a text or a list of blocks
	ToolCalls []struct {
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
	ToolCallID string  `json:"tool_call_id"`
	Reasoning  *string `json:"reasoning_content"`

	Parts []struct {
		Text         string
		FunctionCall *struct {
			ID, Name string
			Args     json.RawMessage
		}
		FunctionResponse *struct {
			ID, Name string
			Response json.RawMessage
		}
		Signature string `json:"thoughtSignature"`
	}

	Type, ID, Name, Arguments, Output string
	CallID                            string `json:"call_id"`
}

type wireBlock struct {
	Type, Text string
	ID, Name   string
	Input      json.RawMessage
	ToolUseID  string `json:"tool_use_id"`
	Content    json.RawMessage

	ToolUse *struct {
		ToolUseID, Name string
		Input           json.RawMessage
	}
	ToolResult *struct {
		ToolUseID, Status string
		Content           []struct{ Text string }
	}
}

func neutralItems(m *wireMessage) []record {
	it := record{"role": m.Role, "text": m.Text}
	var calls, results []record
	for _, c := range m.Calls {
		calls = append(calls, record{"id": c.ID, "name": c.Name, "args": c.Args})
	}
	for _, r := range m.Results {
		results = append(results, record{"call": r.ID, "text": r.Text, "error": r.Error, "synthetic": r.Synthetic, "pending": r.Pending})
	}
	it["calls"], it["results"] = calls, results
	return []record{it}
}

// blocks are the blocks of a content, and its text if it is one.
func (m *wireMessage) blocks() (text string, blocks []wireBlock) {
	if json.Unmarshal(m.Content, &text) != nil {
		_ = json.Unmarshal(m.Content, &blocks)
	}
	return text, blocks
}

// anthropicItems keeps results where the message has them: in the user's, or
// wherever a crash left them.
func anthropicItems(m *wireMessage) []record {
	text, blocks := m.blocks()
	it := record{"role": m.Role, "text": text}
	var calls, results []record
	for _, b := range blocks {
		switch b.Type {
		case "text":
			it["text"] = b.Text
		case "tool_use":
			calls = append(calls, record{"id": b.ID, "name": b.Name, "args": string(b.Input)})
		case "tool_result":
			var said string
			_ = json.Unmarshal(b.Content, &said)
			results = append(results, record{"call": b.ToolUseID, "text": said})
		}
	}
	it["calls"], it["results"] = calls, results
	return []record{it}
}

func bedrockItems(m *wireMessage) []record {
	_, blocks := m.blocks()
	it := record{"role": m.Role}
	var calls, results []record
	for _, b := range blocks {
		switch {
		case b.ToolUse != nil:
			calls = append(calls, record{"id": b.ToolUse.ToolUseID, "name": b.ToolUse.Name, "args": string(b.ToolUse.Input)})
		case b.ToolResult != nil:
			said := ""
			for _, c := range b.ToolResult.Content {
				said += c.Text
			}
			results = append(results, record{"call": b.ToolResult.ToolUseID, "text": said, "error": b.ToolResult.Status == "error"})
		default:
			it["text"] = b.Text
		}
	}
	it["calls"], it["results"] = calls, results
	return []record{it}
}

func geminiItems(m *wireMessage) []record {
	it := record{"role": strings.Replace(m.Role, "model", "assistant", 1)}
	var calls, results []record
	for _, p := range m.Parts {
		switch {
		case p.FunctionCall != nil:
			calls = append(calls, record{
				"id": p.FunctionCall.ID, "name": p.FunctionCall.Name, "args": string(p.FunctionCall.Args), "signature": p.Signature,
			})
		case p.FunctionResponse != nil:
			results = append(results, record{"call": p.FunctionResponse.ID, "name": p.FunctionResponse.Name, "text": string(p.FunctionResponse.Response)})
			it["role"] = "tool"
		default:
			it["text"] = p.Text
		}
	}
	it["calls"], it["results"] = calls, results
	return []record{it}
}

func chatItems(m *wireMessage) []record {
	text, _ := m.blocks()
	if m.Role == "tool" {
		return []record{{"role": "tool", "results": []record{{"call": m.ToolCallID, "text": text}}}}
	}
	it := record{"role": m.Role, "text": text}
	if m.Reasoning != nil {
		it["reasoning"] = *m.Reasoning
	}
	var calls []record
	for _, c := range m.ToolCalls {
		calls = append(calls, record{"id": c.ID, "name": c.Function.Name, "args": c.Function.Arguments})
	}
	it["calls"] = calls
	return []record{it}
}

// responsesItems makes an item of everything: that API has no messages around
// calls.
func (v *vector) responsesItems(m *wireMessage) []record {
	switch m.Type {
	case "reasoning":
		return []record{{"role": "assistant", "blocks": []record{{"type": "reasoning", "id": m.ID}}}}
	case "function_call":
		block := record{"type": "call", "nth": 0}
		if m.ID != "" {
			block["id"] = m.ID
			block["with"] = v.Context.Made
		}
		return []record{{"role": "assistant", "calls": []record{{"id": m.CallID, "name": m.Name, "args": m.Arguments}}, "blocks": []record{block}}}
	case "function_call_output":
		return []record{{"role": "tool", "results": []record{{"call": m.CallID, "text": m.Output}}}}
	}
	text, _ := m.blocks()
	return []record{{"role": m.Role, "text": text}}
}
