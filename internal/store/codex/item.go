package codex

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/media"
)

// contexts begin what Codex says as the user, and nobody typed.
var contexts = []string{"<environment_context>", "<turn_aborted>", "<subagent_notification>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md instructions", "<skill>", "<user_shell_command>"}

// addItem adds an item of the Responses API.
func (r *reader) addItem(p *payload, raw []byte, when time.Time, key string) {
	it := session.Item{Table: session.TableLines, Key: key, Role: session.Assistant, Time: when, Model: r.model, Size: int64(len(raw))}
	var text, thoughts string
	switch p.Type {
	case "ghost_snapshot": // which is sent to nobody
		return
	case "message":
		if it.Role = session.ParseRole(p.Role); it.Role != session.Assistant {
			it.Model = ""
		}
		text = addParts(&it, p.Content, 0)
		it.Flags |= session.TextFlags(text)
		if strings.TrimSpace(text) == "" && it.Blocks == nil {
			it.Flags |= session.Blank
		}
		if it.Note = it.Role == session.User && slices.ContainsFunc(contexts, func(c string) bool { return strings.HasPrefix(text, c) }); it.Note {
			it.Flags |= session.Implicit
		}
	case "reasoning", "compaction", "compaction_summary", "context_compaction":
		for _, s := range p.Summary {
			thoughts = strings.TrimPrefix(thoughts+"\n"+s.Text, "\n")
		}
		it.Blocks = []session.Block{{Kind: session.ReasoningBlock, ID: p.ID, Text: session.DigestOf(thoughts), Signature: session.DigestOf(p.Encrypted)}}
	case "function_call_output", "custom_tool_call_output", "tool_search_output":
		it.Role, it.Model = session.Tool, ""
		r.addResult(&it, p)
	case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "web_search_call", "image_generation_call":
		r.addCall(&it, p)
	default:
		it.Kind, it.Role = session.Other, session.NoRole
	}
	var said session.Meaning
	said.Reset(it.Role, "")
	for _, part := range []string{p.Type, p.CallID, p.Name, p.Input, p.Encrypted, thoughts, string(p.Arguments), string(p.Action), string(p.Content), string(p.Output)} {
		said.AddDigest(session.DigestOf(part))
	}
	if it.Meaning, it.Text = said.Digest(), session.DigestOf(text); it.Role == session.Tool {
		it.Text = it.Results[0].Digest
	}
	if r.Task == 0 && r.Delegated && it.Role == session.User && !it.Note && r.own && r.ordinal >= r.self.Start {
		r.Task = it.Text
	}
	if r.body {
		it.Body = &session.Body{Text: text, Reasoning: thoughts, Raw: slices.Clone(raw)}
	} else {
		it.DropTexts()
	}
	if r.Items = append(r.Items, it); it.Kind == session.Other {
		r.addFault(session.Fault{Kind: session.UnknownKind, Item: len(r.Items) - 1, Field: p.Type, Detail: fmt.Sprintf("an item of the type %.40q, which sessctl does not know", p.Type)})
	}
}

// addParts adds the files of a message, or of the result with a number, and gives the texts. A
// content that is no list is a text.
func addParts(it *session.Item, value jsontext.Value, of int) (text string) {
	var parts []part
	if serde.Unmarshal(value, &parts) != nil {
		_ = serde.Unmarshal(value, &text) // what is neither says nothing
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
		plain = plain && b.Kind == session.TextBlock
		blocks = append(blocks, b)
	}
	if !plain || of == 0 && slices.ContainsFunc(blocks, func(b session.Block) bool { return b.Blank }) {
		it.Blocks = append(it.Blocks, blocks...)
	}
	return text
}

// addResult adds the output of a call: a text, a list of parts, or up to 2025 an object.
func (r *reader) addResult(it *session.Item, p *payload) {
	var old struct {
		Content string `json:"content"`
	}
	text := addParts(it, p.Output, 1)
	if p.Output.Kind() == '{' && serde.Unmarshal(p.Output, &old) == nil {
		text = old.Content
	}
	if it.Blocks != nil {
		it.Blocks = append([]session.Block{{Kind: session.ResultBlock}}, slices.DeleteFunc(it.Blocks, func(b session.Block) bool { return b.Kind == session.TextBlock })...)
	}
	it.Results = []session.Result{{CallID: p.CallID, Text: text, Digest: session.DigestOf(text), Synthetic: session.IsPlaceholder(text)}}
	if strings.HasPrefix(text, session.SyntheticPrefix) {
		it.Flags |= session.Synthetic
	}
	var started struct {
		ID string `json:"agent_id"`
	}
	if json.Unmarshal([]byte(text), &started) == nil {
		it.Results[0].Child = started.ID
	}
}

// linkChildren lets each call that starts a sub-agent name the session that its result does.
func linkChildren(s *session.Session) {
	asked := map[string]*session.Call{}
	for i := range s.Items {
		it := &s.Items[i]
		if len(it.Calls) > 0 && it.Calls[0].Delegation != nil {
			d := *it.Calls[0].Delegation // other trees share it
			d.Child, it.Calls[0].Delegation = "", &d
			asked[it.Calls[0].ID] = &it.Calls[0]
		} else if len(it.Results) > 0 && asked[it.Results[0].CallID] != nil {
			asked[it.Results[0].CallID].Delegation.Child = it.Results[0].Child
		}
	}
}

// addCall adds a call. What the provider runs itself has no output of its own.
func (r *reader) addCall(it *session.Item, p *payload) {
	c := session.Call{ID: p.CallID, Name: p.Name, Args: p.Input}
	switch p.Type {
	case "function_call":
		_ = serde.Unmarshal(p.Arguments, &c.Args) // it is a text
		c.Form = session.FormOf(c.Args)
	case "custom_tool_call": // whose input is a text of any form
	default:
		c.Name, c.Args = strings.TrimSuffix(p.Type, "_call"), string(p.Action)+string(p.Arguments)
		if c.Server = p.CallID == ""; c.Server {
			c.ID = p.ID
			it.Results = []session.Result{{CallID: c.ID, Server: true}}
		}
	}
	if c.Name == "spawn_agent" {
		var asked struct {
			Message string `json:"message"`
			Agent   string `json:"agent_type"`
		}
		_ = json.Unmarshal([]byte(c.Args), &asked) // what does not parse says nothing
		c.Delegation = &session.Delegation{Agent: asked.Agent, Task: session.DigestOf(asked.Message)}
	}
	if it.Calls = []session.Call{c}; r.made != nil {
		r.made[c.ID] = *p
	}
}
