// Package responses reads items of OpenAI's Responses API, as runtimes store them: messages,
// reasoning, calls and their outputs, each by itself.
package responses

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
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
	Type  string `json:"type"`
	Text  string `json:"text"`
	Image string `json:"image_url"`
}

// outputs are the types of calls with those of their outputs.
var outputs = map[string]string{
	"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output", "local_shell_call": "function_call_output", "tool_search_call": "tool_search_output",
}

// hosted are the types of calls that the provider answers itself.
var hosted = []string{"web_search_call", "image_generation_call", "tool_search_call"}

// thoughts are the types of what only the provider can read.
var thoughts = []string{"reasoning", "compaction", "compaction_summary", "context_compaction"}

// OutputType is the type of the output of a call.
func (x *Item) OutputType() string { return outputs[x.Type] }

// ReadItem makes an item of the model of one, with its texts: what is of no known type is none that a
// model sees.
func (x *Item) ReadItem(it *session.Item) {
	var text, thought string
	switch {
	case x.Type == "message":
		it.Role = session.ParseRole(x.Role)
		text = addParts(it, x.Content, 0)
		if it.Flags |= session.TextFlags(text); strings.TrimSpace(text) == "" && it.Blocks == nil {
			it.Flags |= session.Blank
		}
	case slices.Contains(thoughts, x.Type):
		it.Role = session.Assistant
		for _, s := range x.Summary {
			thought = strings.TrimPrefix(thought+"\n"+s.Text, "\n")
		}
		it.Blocks = []session.Block{{Kind: session.ReasoningBlock, ID: x.ID, Text: session.DigestOf(thought), Signature: session.DigestOf(x.Encrypted)}}
	case strings.HasSuffix(x.Type, "_output"):
		it.Role = session.Tool
		x.addOutput(it)
	case outputs[x.Type] != "" || slices.Contains(hosted, x.Type):
		it.Role = session.Assistant
		x.addCall(it)
	default:
		it.Kind = session.Other
	}
	if it.Role != session.Assistant {
		it.Model = ""
	}
	var said session.Meaning
	said.Reset(it.Role, "")
	for _, part := range []string{x.Type, x.CallID, x.Name, x.Input, x.Encrypted, thought, string(x.Arguments), string(x.Action), string(x.Content), string(x.Output)} {
		said.AddDigest(session.DigestOf(part))
		it.Size += int64(len(part))
	}
	if it.Meaning, it.Text = said.Digest(), session.DigestOf(text); it.Role == session.Tool {
		it.Text = it.Results[0].Digest
	}
	it.Body = &session.Body{Text: text, Reasoning: thought}
}

// addParts adds the files of a message, or of the result with a number, and gives the texts. A
// content that is no list is a text.
func addParts(it *session.Item, value jsontext.Value, of int) (text string) {
	var parts []part
	if jsonscan.Exact.Unmarshal(value, &parts) != nil {
		_ = jsonscan.Exact.Unmarshal(value, &text) // what is neither says nothing
		return text
	}
	var blocks []session.Block
	plain := true
	for _, p := range parts {
		b := session.Block{In: of, Blank: strings.TrimSpace(p.Text) == ""}
		if strings.HasSuffix(p.Type, "text") {
			text = strings.TrimPrefix(text+"\n"+p.Text, "\n")
		} else if label, data := media.SplitDataURL(p.Image); data != "" {
			b = media.NewBlock(label, data)
			b.In = of
		} else if b = (session.Block{Kind: session.UnknownBlock, Name: p.Type, In: of}); p.Type == "input_image" {
			b.Kind, b.Name = session.MediaBlock, "image"
		}
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

// addOutput adds the output of a call: a text, or a list of parts.
func (x *Item) addOutput(it *session.Item) {
	text := addParts(it, x.Output, 1)
	if it.Blocks != nil {
		it.Blocks = slices.Insert(it.Blocks, 0, session.Block{Kind: session.ResultBlock})
	}
	it.Results = []session.Result{{CallID: x.CallID, Text: text, Digest: session.DigestOf(text), Synthetic: session.IsPlaceholder(text)}}
	if strings.HasPrefix(text, session.SyntheticPrefix) {
		it.Flags |= session.Synthetic
	}
}

// addCall adds a call. What the provider runs itself has no output of its own.
func (x *Item) addCall(it *session.Item) {
	c := session.Call{ID: x.CallID, Name: x.Name, Args: x.Input} // which is a text of any form
	switch x.Type {
	case "function_call":
		_ = jsonscan.Exact.Unmarshal(x.Arguments, &c.Args) // what is no text says nothing
		c.Form = session.FormOf(c.Args)
	case "local_shell_call", "tool_search_call", "web_search_call", "image_generation_call":
		c.Name, c.Args = strings.TrimSuffix(x.Type, "_call"), string(x.Action)+string(x.Arguments)
		if c.Server = x.CallID == ""; c.Server {
			c.ID = x.ID
			it.Results = []session.Result{{CallID: c.ID, Server: true}}
		}
	}
	it.Calls = []session.Call{c}
}
