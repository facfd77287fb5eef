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

// parsePayload reads an item of the Responses API, or says why Codex passes over its line.
func parsePayload(raw []byte) (p payload, wrong string) {
	if err := serde.Unmarshal(raw, &p); err != nil {
		return p, explain(err)
	}
	if p.Type == "function_call" && p.Arguments.Kind() != '"' {
		return p, "the arguments of its call are no text"
	}
	return p, ""
}

func (p *payload) isCall() bool { return strings.HasSuffix(p.Type, "_call") }

// begin begins an item; the one that was open ends.
func (r *reader) begin(role session.Role, when time.Time, key string) {
	r.endItem()
	it := session.Item{Table: session.TableLines, Key: key, Kind: session.Message, Role: role, Time: when}
	if role == session.Assistant {
		it.Model = r.model
	}
	if !r.own {
		it.Copied, it.Home = true, r.self.Base.Thread
	}
	r.Items = append(r.Items, it)
	r.open = len(r.Items) - 1
	r.said.Reset(role, "")
}

// endItem ends the open item: all of its lines were read.
func (r *reader) endItem() {
	if r.open < 0 {
		return
	}
	it := &r.Items[r.open]
	text := strings.Join(r.text, "\n")
	it.Meaning = r.said.Digest()
	if it.Text = session.DigestOf(text); it.Role == session.Tool {
		it.Text = it.Results[0].Digest
	} else {
		it.Flags |= session.TextFlags(text)
		it.Note = it.Role == session.User && isContext(text)
		if it.Note && !strings.HasPrefix(text, "<turn_aborted>") {
			it.Flags |= session.Implicit
		}
		if strings.TrimSpace(text) == "" && len(it.Calls)+len(it.Results) == 0 && !it.HasBlock(session.MediaBlock) {
			it.Flags |= session.Blank
		}
	}
	if r.Task == 0 && r.Delegated && it.Role == session.User && !it.Note && r.own && r.ordinal >= r.self.Start {
		r.Task = it.Text
	}
	if r.body {
		it.Body = &session.Body{Text: text, Reasoning: strings.Join(r.thoughts, "\n"), Raw: r.raw}
	} else {
		it.DropTexts()
	}
	r.message = message{open: -1, said: r.said}
}

// contexts begin what Codex says as the user, and nobody typed.
var contexts = []string{"<environment_context>", "<turn_aborted>", "<subagent_notification>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md instructions", "<skill>", "<user_shell_command>"}

func isContext(text string) bool {
	return slices.ContainsFunc(contexts, func(c string) bool { return strings.HasPrefix(text, c) })
}

// addItem adds an item of the Responses API: what the assistant says in one answer is one item.
func (r *reader) addItem(p *payload, raw []byte, when time.Time, key string) {
	switch p.Type {
	case "ghost_snapshot": // which is sent to nobody
		return
	case "message":
		if role := session.ParseRole(p.Role); role != session.Assistant {
			r.begin(role, when, key)
			defer r.endItem()
			break
		}
		r.continueAnswer(when, key)
	case "function_call_output", "custom_tool_call_output", "tool_search_output":
		r.begin(session.Tool, when, key)
		defer r.endItem()
	case "reasoning", "compaction", "compaction_summary", "context_compaction",
		"function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "web_search_call", "image_generation_call":
		r.continueAnswer(when, key)
	default:
		r.begin(session.NoRole, when, key)
		defer r.endItem()
		r.Items[r.open].Kind = session.Other
		r.addFault(session.Fault{Kind: session.UnknownKind, Item: r.open, Field: p.Type, Detail: fmt.Sprintf("an item of the type %q, which sessctl does not know", p.Type)})
	}
	for _, part := range []string{p.Type, p.CallID, p.Name, p.Input, p.Encrypted, string(p.Arguments), string(p.Action), string(p.Content), string(p.Output)} {
		r.said.AddDigest(session.DigestOf(part))
	}
	for _, s := range p.Summary {
		r.said.AddDigest(session.DigestOf(s.Text))
	}
	it := &r.Items[r.open]
	it.Size += int64(len(raw))
	if r.body {
		if len(r.raw) > 0 {
			r.raw = append(r.raw, '\n')
		}
		r.raw = append(r.raw, raw...)
	}
	switch {
	case p.Type == "message":
		r.addContent(it, p)
	case strings.HasSuffix(p.Type, "_output"):
		r.addResult(it, p)
	case p.isCall():
		r.addCall(it, p)
	case it.Role == session.Assistant:
		r.addReasoning(it, p)
	}
}

// continueAnswer goes on with the answer that is open, or begins one.
func (r *reader) continueAnswer(when time.Time, key string) {
	if r.open < 0 || r.Items[r.open].Role != session.Assistant {
		r.begin(session.Assistant, when, key)
	}
}

// addText adds a text, of which an answer keeps the id.
func (r *reader) addText(text, id string) {
	r.text = append(r.text, text)
	if it := &r.Items[r.open]; it.Role == session.Assistant {
		it.Blocks = append(it.Blocks, session.Block{ID: id, Blank: strings.TrimSpace(text) == ""})
	}
}

// addContent adds the parts of a message.
func (r *reader) addContent(it *session.Item, p *payload) {
	var parts []textPart
	if serde.Unmarshal(p.Content, &parts) != nil {
		return
	}
	plain := it.Role != session.Assistant && !slices.ContainsFunc(parts, func(p textPart) bool { return !strings.HasSuffix(p.Type, "text") })
	for _, part := range parts {
		switch b := partBlock(part, 0); {
		case b.Kind != session.TextBlock:
			it.Blocks = append(it.Blocks, b)
		case plain:
			r.text = append(r.text, part.Text)
		case it.Role == session.Assistant:
			r.addText(part.Text, p.ID)
		default:
			r.text = append(r.text, part.Text)
			it.Blocks = append(it.Blocks, b)
		}
	}
}

// partBlock is the block of a part of a message, or of the result of a number.
func partBlock(p textPart, in int) session.Block {
	b := session.Block{Kind: session.UnknownBlock, Name: p.Type, In: in}
	switch {
	case strings.HasSuffix(p.Type, "text"):
		return session.Block{Blank: strings.TrimSpace(p.Text) == ""}
	case p.Type == "input_image":
		b.Kind, b.Name = session.MediaBlock, "image"
		if label, data := media.SplitDataURL(p.Image); data != "" {
			b = media.NewBlock(label, data)
			b.In = in
		}
	}
	return b
}

// addResult adds the output of a call.
func (r *reader) addResult(it *session.Item, p *payload) {
	text, parts := outputOf(p.Output)
	it.Results = []session.Result{{CallID: p.CallID, Text: text, Digest: session.DigestOf(text), Synthetic: session.IsPlaceholder(text)}}
	if strings.HasPrefix(text, session.SyntheticPrefix) {
		it.Flags |= session.Synthetic
	}
	for _, part := range parts {
		if b := partBlock(part, 1); b.Kind != session.TextBlock {
			if it.Blocks == nil {
				it.Blocks = []session.Block{{Kind: session.ResultBlock}}
			}
			it.Blocks = append(it.Blocks, b)
		}
	}
	var started struct {
		ID string `json:"agent_id"`
	}
	if at, asked := r.spawned[p.CallID]; asked && json.Unmarshal([]byte(text), &started) == nil {
		r.Items[at[0]].Calls[at[1]].Delegation.Child = started.ID
	}
}

// outputOf is the text of an output, and the parts of one that is a list.
func outputOf(raw jsontext.Value) (text string, parts []textPart) {
	var old struct {
		Content string `json:"content"`
	}
	switch raw.Kind() {
	case '"':
		_ = serde.Unmarshal(raw, &text)
	case '[':
		_ = serde.Unmarshal(raw, &parts)
		var texts []string
		for _, p := range parts {
			if strings.HasSuffix(p.Type, "text") {
				texts = append(texts, p.Text)
			}
		}
		text = strings.Join(texts, "\n")
	case '{':
		_ = serde.Unmarshal(raw, &old)
		text = old.Content
	}
	return text, parts
}

// addCall adds a call. What the provider runs itself has no output of its own.
func (r *reader) addCall(it *session.Item, p *payload) {
	c := session.Call{ID: p.CallID, Name: p.Name, Args: p.Input, Server: p.CallID == "" && p.Type != "function_call" && p.Type != "custom_tool_call"}
	switch p.Type {
	case "function_call":
		_ = serde.Unmarshal(p.Arguments, &c.Args)
		c.Form = session.FormOf(c.Args)
	case "custom_tool_call": // whose input is a text of any form
	default:
		c.Name, c.Args = strings.TrimSuffix(p.Type, "_call"), string(p.Action)+string(p.Arguments)
	}
	if c.Server {
		c.ID = p.ID
		it.Results = append(it.Results, session.Result{CallID: c.ID, Server: true})
	}
	if c.Name == "spawn_agent" {
		var asked struct {
			Message string `json:"message"`
			Agent   string `json:"agent_type"`
		}
		_ = json.Unmarshal([]byte(c.Args), &asked) // what does not parse says nothing
		c.Delegation = &session.Delegation{Agent: asked.Agent, Task: session.DigestOf(asked.Message)}
		r.spawned[c.ID] = [2]int{r.open, len(it.Calls)}
	}
	it.Blocks = append(it.Blocks, session.Block{Kind: session.CallBlock, Nth: len(it.Calls), ID: p.ID})
	it.Calls = append(it.Calls, c)
}

// addReasoning adds what the model thought, of which most is encrypted.
func (r *reader) addReasoning(it *session.Item, p *payload) {
	var texts []string
	for _, s := range p.Summary {
		texts = append(texts, s.Text)
	}
	text := strings.Join(texts, "\n")
	it.Blocks = append(it.Blocks, session.Block{Kind: session.ReasoningBlock, ID: p.ID, Text: session.DigestOf(text), Signature: session.DigestOf(p.Encrypted)})
	if text != "" {
		r.thoughts = append(r.thoughts, text)
	}
}
