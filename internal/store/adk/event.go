package adk

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// event is what is read of an event, whichever generation holds it: the members of
// its document, or columns (2). What is not named is of no use here.
type event struct {
	ID                  string         `json:"id"`
	InvocationID        string         `json:"invocationId"`
	Author              string         `json:"author"`
	Branch              label          `json:"branch"`
	IsolationScope      string         `json:"isolationScope"`
	Timestamp           jsontext.Value `json:"timestamp"`
	Content             *content       `json:"content"`
	Actions             actions        `json:"actions"`
	LongRunningToolIDs  []string       `json:"longRunningToolIds"`
	NodeInfo            node           `json:"nodeInfo"`
	Partial             bool           `json:"partial"`
	ModelVersion        string         `json:"modelVersion"`
	InputTranscription  transcription  `json:"inputTranscription"`
	OutputTranscription transcription  `json:"outputTranscription"`
	// What makes an event of adk-js a summary, as JSON.
	IsCompacted      jsontext.Value `json:"isCompacted"`
	StartTime        jsontext.Value `json:"startTime"`
	EndTime          jsontext.Value `json:"endTime"`
	CompactedContent jsontext.Value `json:"compactedContent"`
}

type node struct {
	Path string `json:"path"`
}

type transcription struct {
	Text string `json:"text"`
}

// content is a Content of the genai libraries.
type content struct {
	Role  string        `json:"role"`
	Parts []messagePart `json:"parts"`
}

// messagePart is one of its parts: a text, a call, a result or a medium, with what qualifies it.
type messagePart struct {
	Text                *string           `json:"text"`
	Thought             bool              `json:"thought"`
	ThoughtSignature    string            `json:"thoughtSignature"`
	FunctionCall        *functionCall     `json:"functionCall"`
	FunctionResponse    *functionResponse `json:"functionResponse"`
	ToolCall            *serverTool       `json:"toolCall"` // of a tool that the provider ran
	ToolResponse        *serverTool       `json:"toolResponse"`
	InlineData          *medium           `json:"inlineData"`
	FileData            *medium           `json:"fileData"`
	ExecutableCode      *code             `json:"executableCode"`
	CodeExecutionResult *code             `json:"codeExecutionResult"`
	Qualifiers

	Rest map[string]jsontext.Value `json:",embed"`
}

// Qualifiers say more about a part that says something (genai v1.77.0, types.go).
// They are named so that they are not taken for an unknown part.
type Qualifiers struct {
	VideoMetadata      jsontext.Value `json:"videoMetadata"`
	MediaResolution    jsontext.Value `json:"mediaResolution"`
	PartMetadata       jsontext.Value `json:"partMetadata"`
	AudioTranscription jsontext.Value `json:"audioTranscription"`
	MediaProcessing    jsontext.Value `json:"mediaProcessing"`
	SpeechMetadata     jsontext.Value `json:"speechMetadata"`
}

type functionCall struct {
	ID   string         `json:"id"`
	Name string         `json:"name"`
	Args jsontext.Value `json:"args"`
}

type functionResponse struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Response jsontext.Value `json:"response"`
}

type serverTool struct {
	ID       string         `json:"id"`
	ToolType string         `json:"toolType"`
	Args     jsontext.Value `json:"args"`
	Response jsontext.Value `json:"response"`
}

type medium struct {
	MimeType string `json:"mimeType"`
	Data     string `json:"data"` // in base64
	FileURI  string `json:"fileUri"`
}

type code struct {
	Code   string `json:"code"`
	Output string `json:"output"`
}

// actions are what an event did besides saying something.
type actions struct {
	RewindBeforeInvocationID   string                    `json:"rewindBeforeInvocationId"`
	Compaction                 *compaction               `json:"compaction"`
	RequestedToolConfirmations map[string]jsontext.Value `json:"requestedToolConfirmations"`
	RequestedAuthConfigs       map[string]jsontext.Value `json:"requestedAuthConfigs"`
}

// compaction is a summary of a span of time, both ends included (3.6).
type compaction struct {
	StartTimestamp   jsontext.Value  `json:"startTimestamp"`
	EndTimestamp     jsontext.Value  `json:"endTimestamp"`
	CompactedContent content         `json:"compactedContent"`
	ExcludedEvents   []excludedEvent `json:"excludedEvents"`
}

// excludedEvent is a hole in the span that the summary does not cover: only branches
// of adk-go write these.
type excludedEvent struct {
	InvocationID string         `json:"invocationId"`
	Timestamp    jsontext.Value `json:"timestamp"`
}

// label is a branch: a path, or the compact JSON of {"tokens":…} or
// {"active_forks":…}, which google/adk-python#3889 stores (4).
type label struct {
	text  string
	wrong bool // it is something else
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *label) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	switch v.Kind() {
	case jsontext.KindString:
		*l = label{text: unquote(v)}
	case jsontext.KindNull:
		*l = label{}
	default:
		*l = labelOf(v)
	}
	return nil
}

// labelOf is the label that a JSON value is, where it is no string.
func labelOf(v jsontext.Value) label {
	var form struct {
		Tokens      []int64        `json:"tokens"`
		ActiveForks jsontext.Value `json:"active_forks"`
	}
	if v.Kind() != jsontext.KindBeginObject || json.Unmarshal(v, &form, pythonJSON) != nil || form.Tokens == nil && form.ActiveForks.Kind() != jsontext.KindBeginObject {
		return label{wrong: true}
	}
	v = v.Clone()
	if v.Compact(pythonJSON) != nil {
		return label{wrong: true}
	}
	return label{text: string(v)}
}
