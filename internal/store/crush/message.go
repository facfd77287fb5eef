package crush

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/media"
)

// part is an element of parts: its type, and what of the members of all types is read.
// MIMEType and Data of an attachment are the same names as those of a result.
type part struct {
	kind string

	Text string `json:"text"`

	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
	Thought   string `json:"thought_signature"`
	Responses *struct {
		ID        string `json:"item_id"`
		Encrypted string `json:"encrypted_content"`
	} `json:"responses_data"`

	ID     string `json:"id"`
	Name   string `json:"name"`
	Input  string `json:"input"`
	Server bool   `json:"provider_executed"`

	CallID  string `json:"tool_call_id"`
	Content string `json:"content"`
	Data    string `json:"data"`
	MIME    string `json:"mime_type"`
	IsError bool   `json:"is_error"`

	Command string `json:"command"`
	Output  string `json:"output"`
	Exit    int    `json:"exit_code"`

	Reason  string `json:"reason"`
	Message string `json:"message"`
	Details string `json:"details"`
}

// The types of parts.
const (
	typeText      = "text"
	typeReasoning = "reasoning"
	typeCall      = "tool_call"
	typeResult    = "tool_result"
	typeFinish    = "finish"
	typeImage     = "image_url"
	typeBinary    = "binary"
	typeShell     = "shell_command"
)

// parseParts reads parts as Crush does, which loads no message of a session in which one has
// parts that fail; whole says that they are JSON of a form that is not known.
func parseParts(doc []byte) (parts []part, wrong string, whole bool) {
	var list []struct {
		Type string         `json:"type"`
		Data jsontext.Value `json:"data"`
	}
	if err := jsonscan.Go.Unmarshal(doc, &list); err != nil {
		return nil, jsonscan.DescribeError(err, kindTitle), jsonedit.IsWhole(doc)
	}
	for _, raw := range list {
		var p part
		switch raw.Type {
		case typeText, typeReasoning, typeCall, typeResult, typeFinish, typeImage, typeBinary, typeShell:
		default:
			return parts, fmt.Sprintf("it has a part of the unknown type %.40q", raw.Type), true
		}
		if err := jsonscan.Go.Unmarshal(raw.Data, &p); err != nil {
			return parts, "a part of type " + raw.Type + " is not in the form that Crush stores: " + jsonscan.DescribeError(err, kindTitle), jsonedit.IsWhole(doc)
		}
		p.kind = raw.Type
		parts = append(parts, p)
	}
	return parts, "", false
}

// decodeItem decodes a message.
func (r *reader) decodeItem(row eventlog.Row, it *session.Item, body bool) (faults []session.Fault) {
	it.Time = eventlog.Seconds.Read(row.Value("created_at")).Time
	faults = eventlog.BadTimes(row.Value, &eventlog.Seconds, "created_at", "finished_at")
	it.Shared.Model, it.Shared.Provider = column.Text(row.Value("model")), column.Text(row.Value("provider"))
	role := column.View(row.Value("role"))
	if it.Role = session.ParseRole(role); it.Role == session.NoRole {
		it.Kind = session.Other
		faults = append(faults, session.Fault{Kind: session.UnknownKind, Field: strings.Clone(role), Detail: fmt.Sprintf("the message is of the unknown role %.40q, which Crush sends to no model", role)})
	}
	parts, wrong, whole := parseParts(column.Bytes(row.Value("parts")))
	if wrong != "" {
		it.Kind = session.Other
		faults = append(faults, session.Fault{Kind: session.Undecodable, Field: "parts", Detail: wrong, Whole: whole, Unloads: true})
	}
	faults = append(faults, eventlog.BadUnicode(row, "parts")...)
	m := message{Item: it, id: column.View(row.Value("id")), children: r.children}
	m.readParts(parts, wrong != "")
	faults = append(faults, eventlog.NulFaults(it, m.text, "parts")...)
	if summary, _ := column.Bool(row.Value("is_summary_message")); summary && it.Kind == session.Message {
		it.Kind = session.Summary // finish says which one counts
	}
	if body {
		it.Body = &session.Body{Text: m.text, Reasoning: m.reasoning, Raw: row.Record(r.Columns(tableMessages))}
	}
	return faults
}

// message is a message while it is being read.
type message struct {
	*session.Item
	id              string
	children        map[string][]string
	text, reasoning string
	texts           int // parts with text: only the first is sent
	finished, plain bool
}

// readParts makes an item of the parts. Of several texts, and of several thoughts, Crush sends
// the first.
func (m *message) readParts(parts []part, broken bool) {
	var said session.Meaning
	said.Reset(m.Role, "")
	m.plain = true
	for i := range parts {
		m.addPart(&parts[i])
		p := &parts[i]
		said.AddTexts(p.kind, p.Text, p.Thinking, p.ID, p.Name, p.Input, p.CallID, p.Content, p.Data, p.MIME, p.Command, p.Output)
	}
	if broken {
		said.AddDigest(session.DigestOf("broken"))
	}
	m.Meaning = said.Digest()
	m.Text = session.DigestOf(m.text)
	m.Size += int64(len(m.text) + len(m.reasoning))
	if m.Role == session.Tool && len(m.Results) == 1 {
		m.Text = m.Results[0].Digest
	}
	if m.plain {
		m.Blocks = nil
	}
	m.setFlags(len(parts))
}

// setFlags says what the parts make of the message. Crush passes over answers without text,
// reasoning and calls, results in no message of a tool, and messages of the system.
func (m *message) setFlags(parts int) {
	if m.Role != session.Tool {
		m.Flags |= session.TextFlags(m.text)
	}
	says := len(m.Calls)+len(m.Results) > 0 || m.HasBlock(session.MediaBlock)
	if m.Kind != session.Message {
		return
	}
	if strings.TrimSpace(m.text) == "" && !says {
		m.Flags |= session.Blank
	}
	if m.Role == session.Assistant && !m.finished {
		m.Flags |= session.Unfinished
	}
	if parts == 0 || m.Role == session.System || m.Role == session.Tool && len(m.Results) == 0 ||
		m.Role == session.Assistant && m.text == "" && m.reasoning == "" && len(m.Calls) == 0 {
		m.Flags |= session.Skipped
	}
}

// addPart adds what one part says.
func (m *message) addPart(p *part) {
	block := func(b session.Block) { m.Blocks = append(m.Blocks, b) }
	switch p.kind {
	case typeText:
		if m.texts++; m.texts == 1 {
			m.text = joinTexts(p.Text, m.text)
			if p.Text != "" { // which Crush sends as no part
				block(session.Block{Kind: session.TextBlock, Blank: strings.TrimSpace(p.Text) == ""})
			}
		}
	case typeShell:
		m.text = joinTexts(m.text, fmt.Sprintf("$ %s\n%s\n(exit code %d)", p.Command, p.Output, p.Exit))
	case typeReasoning:
		m.addReasoning(p)
	case typeCall:
		block(session.Block{Kind: session.CallBlock, Nth: len(m.Calls)})
		m.Calls = append(m.Calls, m.readCall(p))
		m.Size += int64(len(p.Input))
	case typeResult:
		block(session.Block{Kind: session.ResultBlock, Nth: len(m.Results)})
		m.Results = append(m.Results, session.Result{
			CallID: p.CallID, Name: p.Name, Text: p.Content, Digest: session.DigestOf(p.Content), IsError: p.IsError,
			Synthetic: session.IsPlaceholder(p.Content),
		})
		if strings.HasPrefix(p.Content, session.SyntheticPrefix) {
			m.Flags |= session.Synthetic
		}
		m.Size += int64(len(p.Content) + len(p.Data))
		if p.Data != "" && !p.IsError { // of an error, its text is sent
			m.addMedia(p)
		}
	case typeImage, typeBinary:
		m.addMedia(p)
	case typeFinish:
		if m.finished = true; p.Reason == "error" {
			m.Shared.Refusal = session.RefusalOf(titles[strings.ToLower(p.Message)], cmp.Or(p.Details, p.Message))
		}
	}
}

// joinTexts joins what a message says and the commands that a person ran, as Crush sends both.
func joinTexts(said, ran string) string {
	if said == "" || ran == "" {
		return said + ran
	}
	return said + "\n\n" + ran
}

// titles are the states of HTTP that Crush stores as the message of an error (fantasy,
// ErrorTitleForStatusCode), of refusals of what was sent.
var titles = map[string]int{"bad request": 400, "unprocessable entity": 422}

// addMedia adds an attachment.
func (m *message) addMedia(p *part) {
	b := session.Block{Kind: session.MediaBlock, Name: session.MediaName(p.MIME)}
	if p.Data != "" {
		b = media.NewBlock(p.MIME, p.Data)
	}
	if p.kind == typeResult {
		b.In = len(m.Results)
	}
	m.Blocks = append(m.Blocks, b)
	m.Size, m.plain = m.Size+int64(len(p.Data)), false
}

// addReasoning adds the first thoughts; others are not sent.
func (m *message) addReasoning(p *part) {
	if m.HasBlock(session.ReasoningBlock) || p.Thinking == "" {
		return
	}
	b := session.Block{Kind: session.ReasoningBlock, Text: session.DigestOf(p.Thinking), Signature: session.DigestOf(p.Signature + p.Thought)}
	if p.Responses != nil {
		b.ID = p.Responses.ID
	}
	m.Blocks, m.plain, m.reasoning = append(m.Blocks, b), false, p.Thinking
}

// readCall reads a call. Arguments that are empty are sent so, and no provider takes them for
// an object.
func (m *message) readCall(p *part) session.Call {
	c := session.Call{ID: p.ID, Name: p.Name, Args: p.Input, Form: eventlog.FormOf(p.Input), Server: p.Server}
	if p.Input == "" {
		c.Form = session.ArgsBroken
	}
	if p.Name != "agent" && p.Name != "agentic_fetch" {
		return c
	}
	c.Delegation = &session.Delegation{Blocking: true}
	if p.Name == "agent" { // the other one's first message is made of more than its prompt
		var asked struct {
			Prompt string `json:"prompt"`
		}
		if jsonscan.Go.Unmarshal([]byte(p.Input), &asked) == nil {
			c.Delegation.Task = session.DigestOf(asked.Prompt)
		}
	}
	for _, id := range m.children[m.id] {
		if id == m.id+between+p.ID {
			c.Delegation.Child = id
		}
	}
	return c
}
