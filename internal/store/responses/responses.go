// Package responses reads items of OpenAI's Responses API, as runtimes store them: messages,
// reasoning, calls and their outputs, each by itself.
package responses

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/media"
)

// Item is an item as it is stored.
type Item struct {
	Type      string         `json:"type"`
	Role      string         `json:"role"`
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	CallID    string         `json:"call_id"`
	Arguments jsontext.Value `json:"arguments"`
	Input     string         `json:"input"`
	Action    jsontext.Value `json:"action"`
	Operation jsontext.Value `json:"operation"`
	Content   jsontext.Value `json:"content"`
	Output    jsontext.Value `json:"output"`
	Summary   []part         `json:"summary"`
	Encrypted string         `json:"encrypted_content"`
	Meta      struct {
		Turn string `json:"turn_id"`
	} `json:"internal_chat_message_metadata_passthrough"` // of Codex
}

// part is a part of a message, of reasoning or of an output.
type part struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
	Image   string `json:"image_url"`
	File    string `json:"file_data"`
	Audio   struct {
		Data   string `json:"data"`
		Format string `json:"format"`
	} `json:"input_audio"`
}

// The types that are told apart.
const (
	TypeMessage = "message"
	TypeCall    = "function_call"

	typeReasoning = "reasoning"
	typeSearch    = "tool_search_call"
)

// outputs are the types of calls with those of their outputs (_TOOL_CALL_TO_OUTPUT_TYPE of the
// OpenAI Agents SDK). A program is none here: what it calls names it, and it may end without one.
var outputs = map[string]string{
	TypeCall: "function_call_output", "custom_tool_call": "custom_tool_call_output", "shell_call": "shell_call_output", "local_shell_call": "local_shell_call_output",
	"apply_patch_call": "apply_patch_call_output", "computer_call": "computer_call_output", typeSearch: "tool_search_output",
}

// hosted are the types of calls that the provider answers itself.
var hosted = []string{"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call"}

// single are the types of other items that have no half.
var single = []string{
	"mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "program", "program_output", "item_reference",
	"compaction", "compaction_summary", "context_compaction", "tool_search_output",
}

// outputForms are outputs that say that there is none, with a text in the place of %s. Nobody can make up
// a screenshot, or what a search found.
var outputForms = map[string]string{
	TypeCall: `"output":%s`, "custom_tool_call": `"output":%s`, "local_shell_call": `"output":%s`, "apply_patch_call": `"status":"failed","output":%s`,
	"shell_call": `"output":[{"stdout":"","stderr":%s,"outcome":{"type":"exit","exit_code":1}}]`,
}

// ComposeOutput is an output for a call of a type, "" where nobody can make one up.
func ComposeOutput(call, id, text string) string {
	if outputForms[call] == "" {
		return ""
	}
	return `{"type":"` + outputs[call] + `","call_id":` + string(docedit.QuoteText(id)) + `,` + fmt.Sprintf(outputForms[call], docedit.QuoteText(text)) + `}`
}

func (x *Item) isOutput() bool {
	return slices.Contains(slices.Collect(maps.Values(outputs)), x.Type) && (x.CallID != "" || x.Type != outputs[typeSearch])
}

// ReadItem makes an item of the model of one, with its texts: what is of no known type is none that a
// model sees.
func (x *Item) ReadItem(it *session.Item) {
	var text, thought string
	it.Role = session.Assistant
	switch {
	case x.Type == TypeMessage:
		it.Role = session.ParseRole(x.Role)
		text = addParts(it, x.Content, 0)
		if it.Flags |= session.TextFlags(text); strings.TrimSpace(text) == "" && !it.HasBlock(session.MediaBlock) {
			it.Flags |= session.Blank
		}
	case x.Type == typeReasoning:
		for _, p := range append(x.Summary, partsOf(x.Content)...) {
			thought = strings.TrimPrefix(thought+"\n"+p.Text, "\n")
		}
		it.Blocks = []session.Block{{Kind: session.ReasoningBlock, ID: x.ID, Text: session.DigestOf(thought), Signature: session.DigestOf(x.Encrypted), Empty: thought == ""}}
	case x.isOutput():
		it.Role = session.Tool
		x.addOutput(it)
	case outputs[x.Type] != "" || slices.Contains(hosted, x.Type):
		x.addCall(it)
	case !slices.Contains(single, x.Type):
		it.Role, it.Kind = session.NoRole, session.Other
	}
	if it.Role != session.Assistant && it.Model() != "" {
		it.Own().Model = ""
	}
	var said session.Meaning
	said.Reset(it.Role, "")
	for _, part := range []string{x.Type, x.CallID, x.Name, x.Input, x.Encrypted, thought, string(x.Arguments), string(x.Action), string(x.Operation), string(x.Content), string(x.Output)} {
		said.AddDigest(session.DigestOf(part))
		it.Size += int64(len(part))
	}
	if it.Meaning, it.Text = said.Digest(), session.DigestOf(text); it.Role == session.Tool {
		it.Text = it.Results[0].Digest
	}
	it.Body = &session.Body{Text: text, Reasoning: thought}
}

// textOf is a string as it is, and any other value as JSON.
func textOf(value jsontext.Value) string {
	if value.Kind() != jsontext.KindString {
		return string(value)
	}
	text, _ := jsontext.AppendUnquote(nil, value)
	return string(text)
}

// partsOf are the parts of a list, of which any other value has none.
func partsOf(value jsontext.Value) (parts []part) {
	if value.Kind() == jsontext.KindBeginArray && jsonscan.Exact.Unmarshal(value, &parts) != nil {
		return nil
	}
	return parts
}

// addParts adds the files of a message, or of the result with a number, and gives the texts. A
// content may be a text.
func addParts(it *session.Item, value jsontext.Value, of int) (text string) {
	if value.Kind() == jsontext.KindString {
		return textOf(value)
	}
	var blocks []session.Block
	plain := true
	for _, p := range partsOf(value) {
		b := session.Block{Blank: strings.TrimSpace(p.Text+p.Refusal) == ""}
		switch kind := p.Type[strings.LastIndexByte(p.Type, '_')+1:]; kind {
		case "text", "refusal":
			text = strings.TrimPrefix(text+"\n"+p.Text+p.Refusal, "\n")
		case "image", "file", "audio", "screenshot":
			b = p.mediaBlock(kind)
		default:
			b = session.Block{Kind: session.UnknownBlock, Name: p.Type}
		}
		b.In = of
		plain = plain && b.Kind == session.TextBlock && (of > 0 || !b.Blank)
		if of == 0 || b.Kind != session.TextBlock {
			blocks = append(blocks, b)
		}
	}
	if !plain {
		it.Blocks = blocks
	}
	return text
}

// mediaBlock is a part with a file, which may be an address.
func (p *part) mediaBlock(kind string) session.Block {
	label, data := map[string]string{"file": "application/octet-stream", "audio": "audio/" + p.Audio.Format}[kind], p.Image+p.File+p.Audio.Data
	if inline, inside := media.SplitDataURL(data); inside != "" {
		label, data = inline, inside
	}
	if data == "" || strings.Contains(data, "://") {
		return session.Block{Kind: session.MediaBlock, Name: session.MediaName(label)}
	}
	return media.NewBlock(label, data)
}

// addOutput adds the output of a call: a text, a list of parts, or what a shell printed.
func (x *Item) addOutput(it *session.Item) {
	text := textOf(x.Output)
	var printed []struct {
		Errors string `json:"stderr"`
	}
	switch list := x.Output.Kind() == jsontext.KindBeginArray; {
	case list && x.Type != outputs["shell_call"]:
		text = addParts(it, x.Output, 1)
	case list && jsonscan.Exact.Unmarshal(x.Output, &printed) == nil && len(printed) == 1 && strings.HasPrefix(printed[0].Errors, session.SyntheticPrefix):
		text = printed[0].Errors // as ComposeOutput has it
	}
	if it.Blocks != nil {
		it.Blocks = slices.Insert(it.Blocks, 0, session.Block{Kind: session.ResultBlock})
	}
	own := strings.HasPrefix(text, session.SyntheticPrefix)
	it.Results = []session.Result{{CallID: x.CallID, Name: x.Name, Text: text, Digest: session.DigestOf(text), Synthetic: own || session.IsPlaceholder(text), Null: x.Output == nil}}
	if own {
		it.Flags |= session.Synthetic
	}
}

// addCall adds a call. What the provider runs itself has no output of its own.
func (x *Item) addCall(it *session.Item) {
	c := session.Call{
		ID: x.CallID, Name: cmp.Or(x.Name, strings.TrimSuffix(x.Type, "_call")),
		Args: cmp.Or(textOf(x.Arguments), x.Input, string(x.Action), string(x.Operation)),
	}
	it.Blocks = []session.Block{{Kind: session.CallBlock, ID: x.ID}}
	if x.Type == TypeCall {
		c.Form = session.FormOf(c.Args)
	} else if it.Blocks[0].Name = x.Type; c.ID == "" {
		c.ID, c.Server = x.ID, true
		it.Results = []session.Result{{CallID: c.ID, Server: true}}
	}
	it.Calls = []session.Call{c}
}
