package goose

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/media"
)

// part is an element of content_json: its type, and what of the members of all types is
// read. What is nil is missing.
type part struct {
	Type      string   `json:"type"`
	Text      *string  `json:"text"`
	Thinking  *string  `json:"thinking"`
	Signature string   `json:"signature"`
	Data      *string  `json:"data"`
	Message   *string  `json:"message"` // of an error
	MIME      string   `json:"mimeType"`
	ID        *string  `json:"id"`
	Call      *outcome `json:"toolCall"`
	Result    *outcome `json:"toolResult"`
}

// outcome is a value or an error.
type outcome struct {
	Status string         `json:"status"`
	Value  jsontext.Value `json:"value"`
	Error  string         `json:"error"`
}

// called is the value of a call, and answered that of a result, which older builds stored
// as the list of its content alone.
type (
	called struct {
		Name string         `json:"name"`
		Args jsontext.Value `json:"arguments"`
	}
	answered struct {
		Content []content `json:"content"`
		IsError bool      `json:"isError"`
		Meta    struct {
			Child string `json:"subagent_session_id"`
		} `json:"_meta"`
	}
	content struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		Data        string `json:"data"`
		MIME        string `json:"mimeType"`
		Annotations struct {
			Audience []string `json:"audience"`
		} `json:"annotations"`
	}
)

// The types of parts that reach a model.
const (
	typeText     = "text"
	typeImage    = "image"
	typeDocument = "document" // (source, 2026)
	typeThinking = "thinking"
	typeRedacted = "redactedThinking"
	typeCall     = "toolRequest"
	typeResult   = "toolResponse"
)

// typeError is the type of a part with the error of a request (source, 2026).
const typeError = "error"

// unsent are the types of parts for people only.
var unsent = []string{"toolConfirmationRequest", "actionRequired", "frontendToolRequest", "systemNotification", typeError}

// missingMember is the member that a part of its type has to have and has not.
func (p *part) missingMember() string {
	switch {
	case p.Type == typeText && p.Text == nil:
		return "text"
	case p.Type == typeThinking && p.Thinking == nil:
		return "thinking"
	case (p.Type == typeRedacted || p.Type == typeImage || p.Type == typeDocument) && p.Data == nil:
		return "data"
	case p.Type == typeError && p.Message == nil:
		return "message"
	case (p.Type == typeCall || p.Type == typeResult) && p.ID == nil:
		return "id"
	case p.Type == typeCall && p.Call == nil:
		return "toolCall"
	case p.Type == typeResult && p.Result == nil:
		return "toolResult"
	}
	return ""
}

// parseParts reads content_json as goose does, which loads no session in which one fails; whole
// says that it is JSON of a form that is not known.
func parseParts(doc []byte) (parts []part, wrong string, whole bool) {
	if err := jsonscan.Exact.Unmarshal(doc, &parts); err != nil {
		return nil, jsonscan.DescribeError(err, kindTitle), jsonedit.IsWhole(doc)
	}
	if parts == nil {
		return nil, "it is not a list", true
	}
	for i := range parts {
		p := &parts[i]
		switch p.Type {
		case typeText, typeImage, typeDocument, typeThinking, typeRedacted, typeCall, typeResult:
		default:
			if !slices.Contains(unsent, p.Type) {
				return parts[:i], fmt.Sprintf("it has a part of the unknown type %.40q", p.Type), true
			}
		}
		if name := p.missingMember(); name != "" {
			return parts[:i], fmt.Sprintf("a part of type %s has no %q", p.Type, name), true
		}
	}
	return parts, "", false
}

// metadata says who sees a message. What is missing, or cannot be read, is true.
type metadata struct {
	User      *bool `json:"userVisible"`
	Agent     *bool `json:"agentVisible"`
	Context   bool  `json:"turnContext"` // goose wrote it: the time and the folder
	Inference struct {
		Provider string `json:"provider"`
		Model    string `json:"requestedModel"`
	} `json:"inference"`
}

// visibilityFlags are those of a message. What a compaction wrote is sent and not shown, like the
// context of a turn: finish tells whether there was one. Each member is one flag, so that a
// repair that changes one knows what is read then.
func (m *metadata) visibilityFlags() (f session.Flags) {
	archived := m.Agent != nil && !*m.Agent
	if archived {
		f |= session.Archived
	}
	if m.User != nil && !*m.User {
		f |= session.Implicit
		if !m.Context && !archived {
			f |= session.SummaryTurn
		}
	}
	return f
}

// decodeItem decodes a message.
func (r *reader) decodeItem(row eventlog.Row, it *session.Item, body bool) (faults []session.Fault) {
	faults = readTime(row, it)
	var seen metadata
	_ = jsonscan.Exact.Unmarshal(column.Bytes(row.Value("metadata_json")), &seen) // goose goes on without
	doc := column.Bytes(row.Value("content_json"))
	parts, wrong, whole := parseParts(markBytes(doc))
	if wrong != "" {
		it.Kind = session.Other
		faults = append(faults, session.Fault{Kind: session.Undecodable, Field: "content_json", Detail: wrong, Whole: whole, Unloads: true})
	}
	if wrong == "" {
		for _, f := range eventlog.BadUnicode(row, texts...) {
			f.Unloads = true
			faults = append(faults, f)
		}
	}
	role := column.View(row.Value("role"))
	if it.Role = session.ParseRole(role); it.Role != session.User && it.Role != session.Assistant {
		it.Role, it.Kind = session.NoRole, session.Other
		faults = append(faults, session.Fault{Kind: session.UnknownPart, Field: strings.Clone(role), Detail: fmt.Sprintf("the message is of the unknown role %.40q: goose passes over it without a word", role)})
	}
	if it.Role == session.Assistant {
		it.Shared.Provider = seen.Inference.Provider
		it.Shared.Model = strings.Trim(seen.Inference.Provider+"/"+seen.Inference.Model, "/")
	}
	if len(parts) > 0 && !slices.ContainsFunc(parts, func(p part) bool { return p.Type != typeResult }) && it.Role == session.User {
		it.Role = session.Tool
	}
	it.Flags |= seen.visibilityFlags()
	if it.Role == session.Assistant && it.Model() == "" { // no model said it
		it.Shared.Refusal = parseRefusal(parts)
	}
	if it.Refusal() != (session.Refusal{}) && parts[0].Type == typeError { // hidden from the model from the first
		it.Flags = it.Flags&^session.Archived | session.Skipped
	}
	m := message{Item: it, waiting: r.waiting[column.View(row.Value("message_id"))]}
	m.readParts(parts)
	if !utf8.Valid(doc) {
		m.unmarkBytes()
	}
	faults = append(faults, eventlog.NulFaults(it, m.text, "content_json")...)
	var said session.Meaning
	said.Reset(it.Role, "")
	said.AddDigest(session.DigestOf(doc))
	it.Meaning = said.Digest()
	if body {
		it.Body = &session.Body{Text: m.text, Reasoning: m.reasoning, Raw: row.Record(r.Columns(tableMessages))}
	}
	return faults
}

// parseRefusal parses the error of a request that goose stored in the place of an answer: releases until 2026
// as a text (the reply loop in crates/goose/src/agents/agent.rs, before it truncate.rs; the words are
// the same since 1.0), newer ones as a part (source, Message::from_provider_error). The error is
// what stands between goose's own words.
func parseRefusal(parts []part) session.Refusal {
	if len(parts) != 1 || parts[0].Type != typeText && parts[0].Type != typeError {
		return session.Refusal{}
	}
	text := cmp.Or(parts[0].Message, parts[0].Text)
	said, begun := strings.CutPrefix(*text, "Ran into this error: ")
	said, ended := strings.CutSuffix(said, ".\n\nPlease retry if you think this is a transient or recoverable error.")
	if parts[0].Type == typeText && (!begun || !ended) {
		return session.Refusal{}
	}
	return session.RefusalOf(0, said)
}

// texts are the columns of a message that hold documents. goose takes only what is UTF-8 from
// its database, and loads no session in which one is not (sqlx, source).
var texts = []string{"content_json", "metadata_json"}

// mark stands for a byte that is part of no character while a document is decoded, which puts
// U+FFFD there: then nobody could tell. No text has it (a noncharacter of Unicode).
const mark = "\uFFFF"

// markBytes gives a document the mark for each byte that is part of no character.
func markBytes(doc []byte) []byte {
	if utf8.Valid(doc) {
		return doc
	}
	var out []byte
	for len(doc) > 0 {
		r, n := utf8.DecodeRune(doc)
		if r == utf8.RuneError && n == 1 {
			out = append(out, mark...)
		} else {
			out = append(out, doc[:n]...)
		}
		doc = doc[n:]
	}
	return out
}

// unmarkBytes puts such a byte back into what was marked.
func (m *message) unmarkBytes() {
	odd := func(text *string) { *text = strings.ReplaceAll(*text, mark, "\xff") }
	odd(&m.text)
	odd(&m.reasoning)
	for i := range m.Calls {
		odd(&m.Calls[i].ID)
		odd(&m.Calls[i].Name)
		odd(&m.Calls[i].Args)
	}
	for i := range m.Results {
		odd(&m.Results[i].CallID)
		odd(&m.Results[i].Text)
	}
}

// readTime reads when a message was stored.
func readTime(row eventlog.Row, it *session.Item) []session.Fault {
	stored := row.Value(fieldTime)
	stamp := eventlog.Seconds.Read(toSeconds(stored))
	it.Time = stamp.Time
	fault := session.Fault{Kind: session.BadTime, Field: fieldTime, Detail: stamp.Wrong}
	if n, ok := column.Int(stored); ok && n > eventlog.TooLate && stamp.Wrong == "" {
		value := fmt.Sprint(n / 1000)
		fault.Position = eventlog.AtSecond(it.Position, n/1000)
		fault.Detail, fault.Default = "it counts milliseconds, and goose sends the message behind all others", &value
	}
	if fault.Detail == "" {
		return nil
	}
	return []session.Fault{fault}
}

// message is a message while it is being read.
type message struct {
	*session.Item
	text, reasoning string
	waiting         []string // sub-sessions that its calls wait for
	plain           bool
	delegated       int  // calls of sub-agents
	sent            bool // something but text
}

// readParts makes an item of the parts.
func (m *message) readParts(parts []part) {
	m.plain = true
	for i := range parts {
		m.addPart(&parts[i])
	}
	m.Text = session.DigestOf(m.text)
	m.Size += int64(len(m.text) + len(m.reasoning))
	if m.Role == session.Tool && len(m.Results) == 1 {
		m.Text = m.Results[0].Digest
	}
	if m.plain {
		m.Blocks = nil
	}
	if m.Kind != session.Message {
		return
	}
	if m.Role != session.Tool {
		m.Flags |= session.TextFlags(m.text)
	}
	if strings.TrimSpace(m.text) == "" && !m.sent {
		m.Flags |= session.Blank
	}
	if len(parts) > 0 && !slices.ContainsFunc(parts, func(p part) bool { return !slices.Contains(unsent, p.Type) }) {
		m.Flags |= session.Unshown
	}
}

// addPart adds what one part says.
func (m *message) addPart(p *part) {
	block := func(b session.Block) { m.Blocks = append(m.Blocks, b) }
	m.sent = m.sent || p.Type == typeCall || p.Type == typeResult || p.Type == typeImage || p.Type == typeDocument
	switch p.Type {
	case typeText: // goose joins those of the user by lines, and what the assistant says at once as it is
		if at := len(m.Blocks) - 1; m.text != "" && *p.Text != "" && (m.Role != session.Assistant || m.Blocks[at].Kind != session.TextBlock) {
			m.text += "\n"
		}
		m.text += *p.Text
		block(session.Block{Kind: session.TextBlock, Blank: strings.TrimSpace(*p.Text) == ""})
	case typeThinking:
		m.reasoning += *p.Thinking
		m.plain = false
		block(session.Block{
			Kind: session.ReasoningBlock, Text: session.DigestOf(*p.Thinking), Signature: session.DigestOf(p.Signature), Unsigned: p.Signature == "", Empty: *p.Thinking == "",
		})
	case typeRedacted:
		m.plain = false
		block(session.Block{Kind: session.ReasoningBlock, Signature: session.DigestOf(*p.Data)})
	case typeImage, typeDocument:
		m.addMedia(*p.Data, p.MIME, 0)
	case typeCall:
		block(session.Block{Kind: session.CallBlock, Nth: len(m.Calls)})
		m.Calls = append(m.Calls, m.readCall(p))
	case typeResult:
		block(session.Block{Kind: session.ResultBlock, Nth: len(m.Results)})
		m.Results = append(m.Results, m.readResult(p))
	}
}

// addMedia adds an attachment, of the result of a number, or 0.
func (m *message) addMedia(data, mime string, in int) {
	b := media.NewBlock(mime, data)
	b.In = in
	m.Blocks, m.plain = append(m.Blocks, b), false
	m.Size += int64(len(data))
}

// readCall reads a call. One that goose could not read itself it stores as an error, or, since
// 1.50.0, as a call of the tool unparseable_tool_call without arguments.
func (m *message) readCall(p *part) session.Call {
	c := session.Call{ID: *p.ID, Name: "unparseable_tool_call"}
	var value called
	if p.Call.Status == "success" && jsonscan.Exact.Unmarshal(p.Call.Value, &value) == nil {
		c.Name = value.Name
		if value.Args.Kind() != jsontext.KindNull {
			c.Args = string(value.Args)
		}
	}
	c.Form = session.FormOf(c.Args)
	m.Size += int64(len(c.Args))
	if c.Name != "delegate" && !strings.HasSuffix(c.Name, "__delegate") {
		return c
	}
	var asked struct {
		Instructions string `json:"instructions"`
		Async        bool   `json:"async"`
	}
	_ = jsonscan.Exact.Unmarshal([]byte(c.Args), &asked) // what cannot be read tells nothing
	c.Delegation = &session.Delegation{Blocking: !asked.Async, Apart: true, Task: session.DigestOf(asked.Instructions)}
	if n := m.delegated; n < len(m.waiting) {
		c.Owed, c.Delegation.Child = true, m.waiting[n]
	}
	m.delegated++
	return c
}

// repaired begins the text of an error that a repair stored: goose stores a code before it.
const repaired = "-32603: "

// readResult reads a result. What is for people only is not sent.
func (m *message) readResult(p *part) session.Result {
	res := session.Result{CallID: *p.ID, Text: p.Result.Error, IsError: true}
	if p.Result.Status == "success" {
		value, _ := p.Result.decodeAnswer()
		var texts []string
		for i := range value.Content {
			switch c := &value.Content[i]; {
			case !c.isSent():
			case c.Type == typeText:
				texts = append(texts, c.Text)
			case c.Type == typeImage:
				m.addMedia(c.Data, c.MIME, len(m.Results)+1)
			}
		}
		res.Text, res.IsError, res.Child = strings.Join(texts, "\n"), value.IsError, value.Meta.Child
	}
	res.Digest = session.DigestOf(res.Text)
	own := strings.TrimPrefix(res.Text, repaired)
	if res.Synthetic = session.IsPlaceholder(own); res.Synthetic && own != res.Text {
		res.Answer = session.DigestOf(own)
	}
	m.Size += int64(len(res.Text))
	return res
}

// decodeAnswer decodes the value of a result; listed says that it is the list of its content alone.
func (o *outcome) decodeAnswer() (value answered, listed bool) {
	var list []content
	if jsonscan.Exact.Unmarshal(o.Value, &value) != nil && jsonscan.Exact.Unmarshal(o.Value, &list) == nil {
		value.Content = list
	}
	return value, list != nil
}

// isSent reports whether it is sent, and not for people only.
func (c *content) isSent() bool {
	to := c.Annotations.Audience
	return len(to) == 0 || slices.Contains(to, "assistant")
}

// imageSpots are where the images are that are sent of a result.
func (o *outcome) imageSpots(at docedit.Spot) (list []docedit.Spot) {
	value, listed := o.decodeAnswer()
	if at = at.Member("value"); !listed {
		at = at.Member("content")
	}
	for i := range value.Content {
		if c := &value.Content[i]; c.isSent() && c.Type == typeImage && o.Status == "success" {
			list = append(list, at.Element(i))
		}
	}
	return list
}

// listLinks lists the sub-sessions that the results in a message name.
func listLinks(row eventlog.Row) (ids []string) {
	doc := column.Bytes(row.Value("content_json"))
	if !bytes.Contains(doc, []byte("subagent_session_id")) {
		return nil
	}
	parts, _, _ := parseParts(doc)
	for i := range parts {
		if parts[i].Type != typeResult {
			continue
		}
		var value answered
		if jsonscan.Exact.Unmarshal(parts[i].Result.Value, &value) == nil && value.Meta.Child != "" {
			ids = append(ids, value.Meta.Child)
		}
	}
	return ids
}

// finishSession says what only other messages tell: whether a compaction hid any, the
// sub-session of a call, which its result names, and the task of a sub-session.
func (r *reader) finishSession(s *session.Session) {
	compacted := slices.ContainsFunc(s.Items, func(it session.Item) bool { return it.Flags.Has(session.Archived) })
	for i := range s.Items {
		if !compacted {
			s.Items[i].Flags &^= session.SummaryTurn
		}
	}
	relateItems(s)
	tellHidden(s)
	r.findStrays(s)
	if s.Delegated && len(s.Items) > 0 && s.Items[0].Role == session.User {
		s.Task = s.Items[0].Text
	}
}

// tellHidden sets anew the faults of results that a compaction hid and whose calls no row makes:
// nothing of them is sent.
func tellHidden(s *session.Session) {
	made := map[string]bool{}
	for i := range s.Items {
		for n := range s.Items[i].Calls {
			made[s.Items[i].Calls[n].ID] = true
		}
	}
	s.Faults = slices.DeleteFunc(slices.Clone(s.Faults), func(f session.Fault) bool { return f.Kind == session.BrokenChain })
	for i := range s.Items {
		it := &s.Items[i]
		for n := range it.Results {
			if id := it.Results[n].CallID; it.Flags.Has(session.Archived) && !made[id] {
				s.Faults = append(s.Faults, session.Fault{Kind: session.BrokenChain, Ref: s.ItemRef(i), Item: i, Field: "content_json",
					Detail: fmt.Sprintf("a result that is hidden from the model answers call %.60s, which no row of the session makes", id)})
			}
		}
	}
}

// relateItems gives calls their sub-sessions. A result of another tool that names one only
// tells of it (load).
func relateItems(s *session.Session) {
	open := map[string]*session.Call{}
	for i := range s.Items {
		it := &s.Items[i]
		it.Calls = slices.Clone(it.Calls)
		for n := range it.Calls {
			c := &it.Calls[n]
			if open[c.ID] = c; c.Delegation != nil {
				d := *c.Delegation
				if c.Delegation = &d; !c.Owed {
					d.Child = ""
				}
			}
		}
		for n := range it.Results {
			if c := open[it.Results[n].CallID]; c != nil && c.Delegation != nil && it.Results[n].Child != "" {
				c.Delegation.Child = it.Results[n].Child
				delete(open, it.Results[n].CallID)
			}
		}
	}
}
