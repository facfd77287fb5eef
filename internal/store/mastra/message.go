package mastra

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/media"
	"github.com/sessctl/sessctl/internal/store/table"
)

// message is what is read of a row, in the form of format 2.
type message struct {
	place       table.Place
	id, role    string
	began, rank int64
	first       bool // it is of format 1: an AI SDK message
	parts       []part
	pieces      []piece
	meta        metadata
	wrong       string // why it is not read
	odd         string // the role in whose place it has the only one that calls have
	whole       bool   // it is JSON of a form that is not known
	cut         bool   // it is sent as words
}

// piece is what is sent of a row as one message: some parts, or the result that one of them has,
// -1 for none. Numbers tell the order, and leave room for results that come.
type piece struct{ nth, from, to, result int }

// part is an element of parts; of format 1 the members of a call are its own.
type part struct {
	invocation
	Type      string `json:"type"`
	Text      string `json:"text"`
	Reasoning string `json:"reasoning"`
	Signature string `json:"signature"`
	Details   []struct {
		Text      string `json:"text"`
		Signature string `json:"signature"`
		Data      string `json:"data"`
	} `json:"details"`
	Tool    *invocation    `json:"toolInvocation"`
	Server  bool           `json:"providerExecuted"`
	Data    jsontext.Value `json:"data"`
	Image   jsontext.Value `json:"image"`
	MIME    string         `json:"mimeType"`
	Created jsontext.Value `json:"createdAt"` // since 1.7x
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
	Provider struct {
		Mastra struct {
			Output *struct {
				Value jsontext.Value `json:"value"`
			} `json:"modelOutput"`
		} `json:"mastra"`
	} `json:"providerMetadata"`
}

// invocation is a call with its result.
type invocation struct {
	State    string         `json:"state"`
	ID       string         `json:"toolCallId"`
	Name     string         `json:"toolName"`
	Args     jsontext.Value `json:"args"`
	Result   jsontext.Value `json:"result"`
	Wrong    string         `json:"errorText"`
	Approval struct {
		Reason string `json:"reason"`
	} `json:"approval"`
}

// metadata is what is read of content.metadata, and wait a call that a run waits for.
type (
	metadata struct {
		Model    string          `json:"modelId"`
		Provider string          `json:"provider"`
		Pending  map[string]wait `json:"pendingToolApprovals"`
		Paused   map[string]wait `json:"suspendedTools"`
	}
	wait struct {
		Call string `json:"toolCallId"`
		Run  string `json:"runId"`
	}
)

// asked is the result of a call of an agent: with the calls that this made, since 1.12.
type asked struct {
	Text  string `json:"text"`
	Child string `json:"subAgentThreadId"`
	Made  []struct {
		Name string `json:"toolName"`
		ID   string `json:"toolCallId"`
	} `json:"subAgentToolResults"`
}

const childMember = "subAgentThreadId"

// The types of parts that are sent, and the states of calls with a result.
const (
	typeText      = "text"
	typeReasoning = "reasoning"
	typeTool      = "tool-invocation"
	typeFile      = "file"
	typeImage     = "image" // of format 1
	typeError     = "error"

	stateResult = "result"
	stateError  = "output-error"
	stateDenied = "output-denied"

	roleAssistant = "assistant"
	agentPrefix   = "agent-"
)

// readContent decodes the content of a row. What is no JSON is the text of a message of format 1, unless
// it begins as a document does: Mastra takes it for words, and it is cut off.
func (m *message) readContent(content []byte) {
	var doc struct {
		Format int            `json:"format"`
		Parts  *[]part        `json:"parts"`
		Meta   jsontext.Value `json:"metadata"`
	}
	text := bytes.TrimSpace(content)
	begins := func(with string) bool { return bytes.HasPrefix(text, []byte(with)) }
	document := begins(`{"format":`) || begins(`{"parts":`) || begins(`[{"type":`)
	switch whole := jsonscan.IsUsualJSON(text) || jsonedit.IsWhole(text) || string(text) == "null"; {
	case !whole && document:
		m.cut, m.wrong = true, "it is cut off, and what is left of it is sent to the model as words"
	case !whole:
		m.first, m.parts = true, []part{{Type: typeText, Text: string(content)}}
	case begins(`"`):
		m.first, m.parts = true, []part{{Type: typeText, Text: textOf(text)}}
	case begins("["):
		m.first, m.wrong = true, wrongIn(jsonscan.Exact.Unmarshal(text, &m.parts))
		for i := range m.parts {
			if m.parts[i].Type == "tool-result" {
				m.parts[i].State = stateResult
			}
		}
	case !begins("{"):
		m.wrong = "it is no message, and Mastra answers no prompt of the thread"
	default:
		m.wrong = wrongIn(jsonscan.Exact.Unmarshal(text, &doc))
	}
	switch known := doc.Parts != nil && (doc.Format == 2 || doc.Format == 0); {
	case m.wrong != "" || m.first:
	case !known && !document && m.role == "user": // somebody said JSON
		m.first, m.parts = true, []part{{Type: typeText, Text: string(content)}}
	case !known:
		m.wrong, m.whole = fmt.Sprintf("it is of format %d, or has no list of parts", doc.Format), true
	default:
		m.parts = *doc.Parts
		_ = jsonscan.Exact.Unmarshal(doc.Meta, &m.meta) // what is not Mastra's tells nothing
	}
	if int64(len(m.parts)) > packing.Last()/2-1 {
		m.wrong = "it has more parts than sessctl can tell apart"
	}
	if m.whole = m.whole || m.wrong != "" && jsonedit.IsWhole(text) && document; m.wrong != "" {
		m.parts = []part{{Text: string(content)}}
	}
	if calls := func(p part) bool { return p.Type == typeTool || p.Type == "tool-call" }; !m.isRoleKnown() && slices.ContainsFunc(m.parts, calls) {
		m.odd, m.role = m.role, roleAssistant
	}
	m.findPieces()
}

// isRoleKnown reports whether Mastra loads a row of this role. What the user says while a run goes on
// is a signal.
func (m *message) isRoleKnown() bool {
	return slices.Contains([]string{roleAssistant, "user", "system", "signal"}, m.role) || m.first && m.role == "tool"
}

// reportRole is the fault of a role that nobody knows.
func reportRole(role string) session.Fault {
	return session.Fault{Kind: session.Undecodable, Field: "role", Unloads: true, Detail: fmt.Sprintf("nobody knows the role %.40q, and Mastra answers no prompt of the thread", role)}
}

func wrongIn(err error) string {
	if err == nil {
		return ""
	}
	return jsonscan.DescribeError(err, kindTitle)
}

// toolInvocation is the call that a part is, or of format 1 a call or a result, nil for another one.
func (p *part) toolInvocation() *invocation {
	switch p.Type {
	case typeTool:
		return p.Tool
	case "tool-call", "tool-result":
		return &p.invocation
	}
	return nil
}

func (c *invocation) hasEnded() bool {
	return c.State == stateResult || c.State == stateError || c.State == stateDenied
}

// saysSomething reports whether a part is sent, or stands in the place of an answer.
func (p *part) saysSomething() bool {
	return slices.Contains([]string{typeReasoning, typeFile, typeImage, typeError}, p.Type) || p.Type == typeText && p.Text != "" || p.toolInvocation() != nil
}

// findPieces finds the steps of a turn, which a mark parts, or before there were marks what is said
// after a call; and their results. What says nothing belongs to the step before.
func (m *message) findPieces() {
	m.pieces = []piece{{to: len(m.parts), result: -1}}
	if m.role != roleAssistant || m.first {
		return
	}
	called, said := false, false
	for i := range m.parts {
		p, last := &m.parts[i], &m.pieces[len(m.pieces)-1]
		if said && (p.Type == "step-start" || called && p.toolInvocation() == nil && p.saysSomething()) {
			last.to, called, said = i, false, false
			m.pieces = append(m.pieces, piece{2 * i, i, len(m.parts), -1})
		}
		called, said = called || p.toolInvocation() != nil, said || p.saysSomething()
	}
	if last := len(m.pieces) - 1; !said && last > 0 {
		m.pieces = m.pieces[:last]
		m.pieces[last-1].to = len(m.parts)
	}
	for _, s := range m.pieces {
		for k := s.from; k < s.to; k++ {
			if c := m.parts[k].toolInvocation(); c != nil && c.hasEnded() && !m.parts[k].Server {
				m.pieces = append(m.pieces, piece{s.from + k + 1, k, k + 1, k})
			}
		}
	}
	slices.SortFunc(m.pieces, func(a, b piece) int { return a.nth - b.nth })
}

// childThreads are the threads that the results of a message name.
func (m *message) childThreads() (ids []string) {
	for i := range m.parts {
		if c := m.parts[i].toolInvocation(); c != nil {
			if id := c.parseAsked().Child; id != "" {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// parseAsked parses what the result of a call of an agent says.
func (c *invocation) parseAsked() (a asked) {
	if strings.HasPrefix(c.Name, agentPrefix) && c.State == stateResult {
		_ = jsonscan.Exact.Unmarshal(c.Result, &a) // what is no object names nobody
	}
	return a
}

// decodeRow decodes an event.
func (r *reader) decodeRow(row eventlog.Row, it *session.Item, body bool) (faults []session.Fault) {
	e := row.Value(eventlog.ColumnEvent).(event)
	stamp := times.Read(row.Value(fieldTime))
	if it.Time = stamp.Time; e.nth == 0 {
		faults = append(eventlog.BadTimes(row.Value, &times, fieldTime), eventlog.BadUnicode(row, "content")...)
		if at := e.foreignOwner(r, row); at != nil {
			faults = append(faults, *at)
		}
		if e.odd != "" {
			f := reportRole(e.odd)
			f.Default, f.Remedy = new(roleAssistant), "make it a message of the assistant, which alone makes calls"
			faults = append(faults, f)
		}
	}
	m := e.readEvent(it, r)
	faults = append(faults, m.faults...)
	it.Meaning = m.said.Digest()
	faults = append(faults, eventlog.NulFaults(it, m.text, "content")...)
	if r.observed[e.id] {
		it.Flags |= session.Compacted
	}
	if body {
		it.Body = &session.Body{Text: m.text, Reasoning: m.reasoning, Raw: row.Record(r.columns)}
	}
	return faults
}

// reading is an event while it is being read.
type reading struct {
	*session.Item
	*message
	text, reasoning string
	said            session.Meaning
	faults          []session.Fault
}

// readEvent reads an event.
func (e event) readEvent(it *session.Item, r *reader) *reading {
	m := &reading{Item: it, message: e.message}
	m.said.Reset(session.NoRole, e.role)
	switch {
	case e.wrong != "":
		it.Kind = session.Other
		m.said.AddDigest(session.DigestOf(e.parts[0].Text))
		m.faults = []session.Fault{{Kind: session.Undecodable, Field: "content", Detail: e.wrong, Whole: e.whole, Passed: e.cut, Unloads: !e.whole && !e.cut}}
	case e.result >= 0:
		m.Role = session.Tool
		m.addResult(&e.parts[e.result])
		m.Text = m.Results[0].Digest
	default:
		m.readStep(e.parts[e.from:e.to], r)
	}
	return m
}

func (m *reading) addResult(p *part) {
	c := p.toolInvocation()
	res := session.Result{CallID: c.ID, Name: c.Name, Text: c.answerText(p), IsError: c.State == stateError, Server: p.Server}
	res.Digest, res.Synthetic = session.DigestOf(res.Text), session.IsPlaceholder(res.Text)
	res.IsError = res.IsError || res.Synthetic // of older forms, which say so in words only
	if a := c.parseAsked(); a.Child != "" {
		res.Child, res.Answer = a.Child, session.DigestOf(a.Text)
	}
	m.said.AddDigest(session.DigestOf(c.ID + "\x00" + c.State + "\x00" + res.Text + "\x00" + res.Child))
	m.Results, m.Size = append(m.Results, res), m.Size+int64(len(res.Text))
}

// answerText is what the model is told of a call.
func (c *invocation) answerText(p *part) string {
	switch output := p.Provider.Mastra.Output; {
	case c.State == stateError:
		return c.Wrong
	case c.State == stateDenied:
		return c.Approval.Reason
	case output != nil:
		return textOf(output.Value)
	}
	return textOf(c.Result)
}

// textOf is a string as it is, and any other value as JSON.
func textOf(value jsontext.Value) string {
	if value.Kind() != jsontext.KindString {
		return string(value)
	}
	text, _ := jsontext.AppendUnquote(nil, value)
	return string(text)
}

// readStep reads what is one message.
func (m *reading) readStep(parts []part, r *reader) {
	switch m.Role = session.ParseRole(m.role); {
	case m.role == "signal":
		m.Role = session.User
	case m.Role == session.System:
		m.Flags |= session.Skipped
	case !m.isRoleKnown():
		m.Role, m.Kind = session.NoRole, session.Other
		m.faults = append(m.faults, reportRole(m.role))
	case m.Role == session.Assistant:
		m.Shared.Provider, m.Shared.Model = m.meta.Provider, strings.Trim(m.meta.Provider+"/"+m.meta.Model, "/")
	}
	texts := 0
	for i := range parts {
		m.addPart(&parts[i], r)
		if parts[i].Type == typeText {
			texts++
		}
	}
	m.Text = session.DigestOf(m.text)
	m.Size += int64(len(m.text) + len(m.reasoning))
	m.Flags |= session.TextFlags(m.text)
	if len(m.Calls)+len(m.Results) == 0 && strings.TrimSpace(m.text) == "" && !m.HasBlock(session.MediaBlock) {
		if m.Flags |= session.Blank; len(parts) > texts && m.text+m.reasoning == "" && texts == 0 {
			m.Flags |= session.Skipped
		}
	}
	if m.Role == session.Tool && len(m.Results) == 1 {
		m.Text = m.Results[0].Digest
	}
}

// addPart adds what one part says. Of calls in a message of the user none is sent.
func (m *reading) addPart(p *part, r *reader) {
	m.said.AddDigest(session.DigestOf(p.Type + "\x00" + p.Text + p.Reasoning))
	block := func(b session.Block) { m.Blocks = append(m.Blocks, b) }
	c := p.toolInvocation()
	switch {
	case p.Type == typeText && p.Text != "":
		b := session.Block{Kind: session.TextBlock, Blank: strings.TrimSpace(p.Text) == ""}
		if block(b); strings.TrimSpace(m.text) == "" {
			m.text = p.Text
		} else if !b.Blank { // which a repair may empty
			m.text += "\n" + p.Text
		}
	case p.Type == typeReasoning:
		text, signature := p.Reasoning+p.Text, p.Signature
		for _, d := range p.Details {
			if signature += d.Signature + d.Data; p.Reasoning == "" {
				text += d.Text
			}
		}
		m.reasoning += text
		block(session.Block{Kind: session.ReasoningBlock, Text: session.DigestOf(text), Signature: session.DigestOf(signature), Empty: text == ""})
	case p.Type == typeFile || p.Type == typeImage:
		m.said.AddDigest(session.DigestOf(string(p.Data) + string(p.Image)))
		m.addMedia(p)
	case p.Type == typeError:
		m.Shared.Refusal = session.RefusalOf(0, p.Error.Message)
	case c != nil && m.Role == session.Assistant:
		m.addCall(c, p.Server, r)
	}
	if c != nil && c.hasEnded() && (p.Server && m.Role == session.Assistant || m.Role == session.Tool) {
		block(session.Block{Kind: session.ResultBlock, Nth: len(m.Results)})
		m.addResult(p)
	}
}

// addMedia adds a file: base64, a data URL, or a link.
func (m *reading) addMedia(p *part) {
	label, data := p.MIME, textOf(p.Data)+textOf(p.Image)
	if inline, within := media.SplitDataURL(data); within != "" {
		label, data = inline, within
	} else if strings.Contains(data, "://") || data == "" {
		m.Blocks = append(m.Blocks, session.Block{Kind: session.MediaBlock, Name: session.MediaName(label)})
		return
	}
	m.Blocks = append(m.Blocks, media.NewBlock(label, data))
	m.Size += int64(len(data))
}

// addCall adds a call.
func (m *reading) addCall(t *invocation, server bool, r *reader) {
	args, key := string(t.Args), callKey{m.Key, len(m.Calls)}
	c := session.Call{ID: t.ID, Name: t.Name, Args: args, Form: session.FormOf(args), Server: server}
	if agent, is := strings.CutPrefix(t.Name, agentPrefix); is {
		var given struct {
			Prompt string `json:"prompt"`
		}
		_ = jsonscan.Exact.Unmarshal(t.Args, &given) // what cannot be read tells nothing
		got := t.parseAsked()
		c.Delegation = &session.Delegation{Agent: agent, Task: session.DigestOf(given.Prompt), Child: got.Child, Blocking: true, Apart: true}
		if r != nil && got.Child != "" {
			r.proofs.Store(key, proofOf(got))
		}
	}
	if !m.first && !t.hasEnded() && r != nil {
		run, asked := m.waitingRun(t.ID)
		if c.Asked = asked && r.waiting[run]; !asked {
			r.open.Store(key, true)
		}
	}
	m.said.AddDigest(session.DigestOf(c.ID + "\x00" + c.Name + "\x00" + args))
	m.Blocks = append(m.Blocks, session.Block{Kind: session.CallBlock, Nth: len(m.Calls)})
	m.Calls, m.Size = append(m.Calls, c), m.Size+int64(len(args))
}

// waitingRun is the run that waits for a call, as far as its message says.
func (m *message) waitingRun(call string) (run string, asked bool) {
	for _, list := range []map[string]wait{m.meta.Pending, m.meta.Paused} {
		for _, w := range list {
			if w.Call == call {
				run, asked = w.Run, true
			}
		}
	}
	return run, asked
}

// saidBy is what of a row an event says. Others are events of their own.
func saidBy(name string, value any) any {
	e, is := value.(event)
	if !is || name != eventlog.ColumnEvent {
		return value
	}
	return int64(e.readEvent(&session.Item{Shared: &session.Shared{}}, nil).said.Digest()) //nolint:gosec // all bits count
}
