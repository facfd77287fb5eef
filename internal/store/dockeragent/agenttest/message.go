package agenttest

import (
	"encoding/json"
	"fmt"
)

// The roles of a message.
const (
	roleSystem    = "system"
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
)

// Message is what session_items.message_json holds. The order of the fields is
// the order of the keys, and encoding/json encodes it as the runtime does.
type Message struct {
	Role              string           `json:"role"`
	Content           string           `json:"content"`
	MultiContent      []Part           `json:"multi_content,omitempty"`
	ReasoningContent  string           `json:"reasoning_content,omitempty"`
	ThinkingSignature string           `json:"thinking_signature,omitempty"`
	ThoughtSignature  []byte           `json:"thought_signature,omitempty"`
	FunctionCall      *FunctionCall    `json:"function_call,omitempty"`
	ToolCalls         []ToolCall       `json:"tool_calls,omitempty"`
	ToolDefinitions   []ToolDefinition `json:"tool_definitions,omitempty"`
	ToolCallID        string           `json:"tool_call_id,omitempty"`
	IsError           bool             `json:"is_error,omitempty"`
	CreatedAt         string           `json:"created_at,omitempty"` // RFC 3339; absent in a row that was still streaming
	Usage             *Usage           `json:"usage,omitempty"`
	Model             string           `json:"model,omitempty"`
	Cost              float64          `json:"cost,omitempty"` // dollars
	CacheControl      bool             `json:"cache_control,omitempty"`
}

// Part is one element of multi_content.
type Part struct {
	Type     string    `json:"type,omitempty"` // text, image_url, file or (v1.55.0) document
	Text     string    `json:"text,omitempty"`
	ImageURL *ImageURL `json:"image_url,omitempty"`
	File     *File     `json:"file,omitempty"`
	Document *Document `json:"document,omitempty"`
}

// ImageURL is an image of a message.
type ImageURL struct {
	URL    string `json:"url,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// File is an attachment of a message.
type File struct {
	Path     string `json:"path,omitempty"`
	FileID   string `json:"file_id,omitempty"`
	MimeType string `json:"mime_type,omitempty"`
}

// Document is an attachment whose content is stored with the message.
type Document struct {
	Name     string         `json:"name"`
	MimeType string         `json:"mime_type"`
	Size     int64          `json:"size,omitempty"`
	Source   DocumentSource `json:"source"`
}

// DocumentSource is the content of a document, in one of three forms.
type DocumentSource struct {
	InlineText string `json:"inline_text,omitempty"`
	InlineData []byte `json:"inline_data,omitempty"`
	URL        string `json:"url,omitempty"`
}

// ToolCall is one call of an assistant message.
type ToolCall struct {
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type"`
	Function FunctionCall `json:"function"`
}

// FunctionCall is the tool that a call names, and the arguments as the model
// wrote them.
type FunctionCall struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
}

// ToolDefinition is what an assistant message keeps of a tool that it calls.
type ToolDefinition struct {
	Name         string          `json:"name"`
	Category     string          `json:"category"`
	Description  string          `json:"description,omitempty"`
	Parameters   json.RawMessage `json:"parameters"` // absent is null
	Annotations  Annotations     `json:"annotations"`
	OutputSchema json.RawMessage `json:"outputSchema"`
}

// Annotations are a tool's hints.
type Annotations struct {
	ReadOnlyHint bool   `json:"readOnlyHint,omitempty"`
	Title        string `json:"title,omitempty"`
}

// Usage counts the tokens of one answer.
type Usage struct {
	InputTokens       int64 `json:"input_tokens"`
	OutputTokens      int64 `json:"output_tokens"`
	CachedInputTokens int64 `json:"cached_input_tokens"`
	CachedWriteTokens int64 `json:"cached_write_tokens"`
	ReasoningTokens   int64 `json:"reasoning_tokens,omitempty"`
}

// prompt is the size of the whole request, cached or not.
func (u *Usage) prompt() int64 { return u.InputTokens + u.CachedInputTokens + u.CachedWriteTokens }

// encode gives the stored bytes of a message, or of anything else that the
// runtime stores as JSON.
func encode(v any) []byte {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("agenttest: %v", err)) // only an invalid json.RawMessage of the caller
	}
	return encoded
}

// reloaded is the message as the runtime encodes it after it loaded it: the
// schemas of the tool definitions went through a map, which sorts their keys.
func reloaded(stored []byte) ([]byte, error) {
	var m Message
	if err := json.Unmarshal(stored, &m); err != nil {
		return nil, err
	}
	for i := range m.ToolDefinitions {
		d := &m.ToolDefinitions[i]
		for _, schema := range []*json.RawMessage{&d.Parameters, &d.OutputSchema} {
			var decoded any
			if *schema == nil {
				continue
			}
			if err := json.Unmarshal(*schema, &decoded); err != nil {
				return nil, err
			}
			*schema = encode(decoded)
		}
	}
	return encode(m), nil
}
