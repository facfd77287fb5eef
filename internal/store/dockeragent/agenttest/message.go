package agenttest

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"

	"github.com/sessctl/sessctl/internal/store/builder"
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
	Type     string    `json:"type,omitempty"` // text, image_url or (v1.55.0) document
	Text     string    `json:"text,omitempty"`
	ImageURL *ImageURL `json:"image_url,omitempty"`
	Document *Document `json:"document,omitempty"`
}

// ImageURL is an image of a message.
type ImageURL struct {
	URL    string `json:"url,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// Document is an attachment whose content is stored with the message.
type Document struct {
	Name     string         `json:"name"`
	MimeType string         `json:"mime_type"`
	Size     int64          `json:"size,omitempty"`
	Source   DocumentSource `json:"source"`
}

// DocumentSource is the content of a document, in the one of its forms that is written here.
type DocumentSource struct {
	InlineData []byte `json:"inline_data,omitempty"`
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

// promptSize is the size of the whole request, cached or not.
func (u *Usage) promptSize() int64 { return u.InputTokens + u.CachedInputTokens + u.CachedWriteTokens }

// encodeJSON gives the stored bytes of a message, or of anything else that the
// runtime stores as JSON.
func encodeJSON(v any) []byte {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("agenttest: %v", err)) // only an invalid json.RawMessage of the caller
	}
	return encoded
}

// reloadMessage is the message as the runtime encodes it after it loaded it: the
// schemas of the tool definitions went through a map, which sorts their keys.
func reloadMessage(stored []byte) (*Message, error) {
	m := &Message{}
	if err := json.Unmarshal(stored, m); err != nil {
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
			*schema = encodeJSON(decoded)
		}
	}
	return m, nil
}

// TextPart is a text of multi_content.
func TextPart(text string) Part { return Part{Type: "text", Text: text} }

// ImagePart is an image of this size, as it is stored up to v1.54: in a URL.
func ImagePart(width, height int) Part {
	url := "data:image/png;base64," + base64.StdEncoding.EncodeToString(encodePicture(width, height))
	return Part{Type: "image_url", ImageURL: &ImageURL{URL: url, Detail: "auto"}}
}

// ImageDocument is an image of this size, as it is stored since v1.55.0.
func ImageDocument(name string, width, height int) Part {
	data := encodePicture(width, height)
	return DocumentPart(Document{Name: name, MimeType: "image/png", Size: int64(len(data)), Source: DocumentSource{InlineData: data}})
}

// DocumentPart is an attachment of any type (v1.55.0).
func DocumentPart(d Document) Part { return Part{Type: "document", Document: &d} }

// encodePicture encodes a PNG image without colours.
func encodePicture(width, height int) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		panic("agenttest: " + err.Error()) // only a size that no PNG has
	}
	return b.Bytes()
}

// The tools of the runtime that change who speaks.
const (
	transferTask   = "transfer_task"
	handoffTool    = "handoff"
	runSkill       = "run_skill"
	backgroundTool = "run_background_agent"
)

// CallTool is a call of any tool; args is the JSON text of the arguments.
func CallTool(id, tool, args string) ToolCall {
	return ToolCall{ID: id, Type: "function", Function: FunctionCall{Name: tool, Arguments: args}}
}

// Transfer is a call that delegates a task to another agent.
func Transfer(id, agent, task, expectedOutput string) ToolCall {
	return CallTool(id, transferTask, string(encodeJSON(map[string]string{
		"agent": agent, "task": task, "expected_output": expectedOutput,
	})))
}

// RunSkill is a call that runs a skill in a child, under the caller's own name.
func RunSkill(id, skill, task string) ToolCall {
	return CallTool(id, runSkill, string(encodeJSON(map[string]string{"name": skill, "task": task})))
}

// RunBackground is a call that delegates a task without waiting for it.
func RunBackground(id, agent, task, expectedOutput string) ToolCall {
	call := Transfer(id, agent, task, expectedOutput)
	call.Function.Name = backgroundTool
	return call
}

// HandOff is a call after which another agent speaks in the same session.
func HandOff(id, agent string) ToolCall {
	return CallTool(id, handoffTool, string(encodeJSON(map[string]string{"agent": agent})))
}

//go:embed tools.json
var tools []byte

// definitions are the tools whose definition is worth more than a name.
var definitions = builder.FromJSON[map[string]ToolDefinition](tools)

// Define lists the definitions of the called tools, one for each call.
func Define(calls []ToolCall) []ToolDefinition {
	var list []ToolDefinition
	for _, call := range calls {
		d, ok := definitions[call.Function.Name]
		if !ok {
			d = ToolDefinition{Name: call.Function.Name, Parameters: json.RawMessage("{}")}
		}
		list = append(list, d)
	}
	return list
}

// The texts that the runtime puts around a delegation or a handoff
// (docker-agent.md 3.1 and 2.3).
const (
	childTitle   = "Transferred task"
	skillTitle   = "Skill: "
	childStart   = "Please proceed."
	noOutput     = "(no output)"
	callFailed   = "Error calling tool: "
	inBackground = "The task runs in the background."
	modelDefault = "test/mock"
)

// taskText is the system message that a child starts with.
func taskText(task, expectedOutput string) string {
	text := "You are a member of a team of agents. Your goal is to complete the following task:" +
		"\n\n<task>\n" + task + "\n</task>"
	if expectedOutput != "" {
		text += "\n\n<expected_output>\n" + expectedOutput + "\n</expected_output>"
	}
	return text
}

// handoffText is the result of a handoff; upstream goes on about the tools.
func handoffText(from string) string {
	return "The agent " + from + " handed off the conversation to you."
}
