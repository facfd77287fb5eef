package dockeragent

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// chatMessage has the Go types of docker agent's own message, so that decoding
// into it accepts and refuses what docker agent accepts and refuses. The fast
// path takes the types of the keys that it only checks from here. The names are
// docker agent's, package and type, because errors quote them.
type chatMessage struct {
	Role              string             `json:"role"`
	Content           string             `json:"content"`
	MultiContent      []chatMessagePart  `json:"multi_content"`
	ReasoningContent  string             `json:"reasoning_content"`
	ThinkingSignature string             `json:"thinking_signature"`
	ThoughtSignature  []byte             `json:"thought_signature"`
	FunctionCall      *toolsFunctionCall `json:"function_call"`
	ToolCalls         []toolsToolCall    `json:"tool_calls"`
	ToolDefinitions   []toolsTool        `json:"tool_definitions"`
	ToolCallID        string             `json:"tool_call_id"`
	IsError           bool               `json:"is_error"`
	CreatedAt         string             `json:"created_at"`
	Usage             *chatUsage         `json:"usage"`
	Model             string             `json:"model"`
	Cost              float64            `json:"cost"`
	CacheControl      bool               `json:"cache_control"`
	FinishReason      string             `json:"finish_reason"`

	// Marker is sessctl's own (compose.go). docker agent passes over a key that
	// it does not know, so every value is accepted.
	Marker json.RawMessage `json:"sessctl"`
}

type chatMessagePart struct {
	Type     string               `json:"type"`
	Text     string               `json:"text"`
	ImageURL *chatMessageImageURL `json:"image_url"`
	File     *chatMessageFile     `json:"file"`
	Document any                  `json:"document"`
}

type chatMessageImageURL struct {
	URL    string `json:"url"`
	Detail string `json:"detail"`
}

type chatMessageFile struct {
	Path     string `json:"path"`
	FileID   string `json:"file_id"`
	MimeType string `json:"mime_type"`
}

type toolsToolCall struct {
	ID       string            `json:"id"`
	Type     string            `json:"type"`
	Function toolsFunctionCall `json:"function"`
}

type toolsFunctionCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type toolsTool struct {
	Name         string               `json:"name"`
	Category     string               `json:"category"`
	Description  string               `json:"description"`
	Parameters   any                  `json:"parameters"`
	Annotations  toolsToolAnnotations `json:"annotations"`
	OutputSchema any                  `json:"outputSchema"`
}

type toolsToolAnnotations struct {
	Title           string `json:"title"`
	ReadOnlyHint    bool   `json:"readOnlyHint"`
	DestructiveHint *bool  `json:"destructiveHint"`
	IdempotentHint  bool   `json:"idempotentHint"`
	OpenWorldHint   *bool  `json:"openWorldHint"`
}

type chatUsage struct {
	InputTokens       int64 `json:"input_tokens"`
	OutputTokens      int64 `json:"output_tokens"`
	CachedInputTokens int64 `json:"cached_input_tokens"`
	CachedWriteTokens int64 `json:"cached_write_tokens"`
	ReasoningTokens   int64 `json:"reasoning_tokens"`
}

// exact fills the record as docker agent would read the message.
func (d *decoder) exact(data []byte) error {
	var m chatMessage
	if err := json.Unmarshal(data, &m); err != nil {
		return decodeError(err)
	}
	r := &d.record
	r.reset()
	r.role, r.callID = []byte(m.Role), []byte(m.ToolCallID)
	r.createdAt, r.model = []byte(m.CreatedAt), []byte(m.Model)
	r.content, r.reasoning = quote(m.Content), quote(m.ReasoningContent)
	r.signature, r.thought = quote(m.ThinkingSignature), inBase64(m.ThoughtSignature)
	r.isError, r.cached, r.cost = m.IsError, m.CacheControl, m.Cost
	r.marked = string(m.Marker) == marker
	if u := m.Usage; u != nil {
		r.hasUsage, r.tokensIn, r.tokensOut = true, u.InputTokens, u.OutputTokens
	}
	for _, p := range m.MultiContent {
		r.parts = append(r.parts, p.record())
	}
	for _, c := range m.ToolCalls {
		r.calls = append(r.calls, callRecord{
			id: []byte(c.ID), name: []byte(c.Function.Name), arguments: quote(c.Function.Arguments),
		})
	}
	return nil
}

func (p *chatMessagePart) record() partRecord {
	r := partRecord{kind: quote(p.Type), text: quote(p.Text)}
	if p.ImageURL != nil {
		r.image, r.url, r.detail = true, quote(p.ImageURL.URL), quote(p.ImageURL.Detail)
	}
	if p.File != nil {
		r.file, r.path, r.fileID, r.mimeType = true, quote(p.File.Path), quote(p.File.FileID), quote(p.File.MimeType)
	}
	if p.Document != nil {
		r.document, _ = json.Marshal(p.Document) // never fails on decoded JSON
		r.mimeType, r.data = p.document()
	}
	return r
}

// document is what the part says of its document (v1.55.0 and later).
func (p *chatMessagePart) document() (mimeType literal, data string) {
	members, _ := p.Document.(map[string]any)
	source, _ := members["source"].(map[string]any)
	kind, _ := members["mime_type"].(string)
	data, _ = source["inline_data"].(string)
	return quote(kind), data
}

// inBase64 is the form of bytes that Go writes into JSON; nil for none.
func inBase64(b []byte) []byte { return base64.StdEncoding.AppendEncode(nil, b) }

// upstreamNames turns the names of the types above into docker agent's.
var upstreamNames = strings.NewReplacer("dockeragent.chat", "chat.", "dockeragent.tools", "tools.")

// decodeError says what docker agent's log would say, and where. A type error
// can quote a number of the message; only the word "number" stays.
func decodeError(err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("%w (byte %d)", err, syntax.Offset)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		wrong.Value, _, _ = strings.Cut(wrong.Value, " ")
		wrong.Struct = strings.TrimPrefix(strings.TrimPrefix(wrong.Struct, "chat"), "tools")
		return fmt.Errorf("%s (byte %d)", upstreamNames.Replace(wrong.Error()), wrong.Offset)
	}
	return err // base64, which counts in its own bytes
}
