package springai

import (
	"errors"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/eventlog"
)

// roles are the message types. Java's reader takes these names only, as they are
// spelled, and loads no session that has another.
var roles = map[string]session.Role{
	"USER": session.User, "ASSISTANT": session.Assistant, "SYSTEM": session.System, "TOOL": session.Tool,
}

// event is an event while it is being read.
type event struct {
	*schema
	row    eventlog.Row
	it     *session.Item
	faults []session.Fault
}

func (e *event) columnValue(name string) any { return e.events.rowValue(e.row, name) }

func (e *event) addFault(kind session.FaultKind, field, detail string, fallback *string) {
	unloads := (kind == session.RequiredNull || kind == session.BadMetadata) && field != "archived" && field != "synthetic"
	e.faults = append(e.faults, session.Fault{Kind: kind, Field: field, Detail: detail, Default: fallback, Unloads: unloads})
}

// addUndecodable reports a value that does not decode; whole says that it is not damaged.
func (e *event) addUndecodable(field, detail string, whole bool) {
	e.faults = append(e.faults, session.Fault{Kind: session.Undecodable, Field: field, Detail: detail, Whole: whole})
}

// isName reports whether a text can be the name of a message type: a word.
func isName(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r != '_' && (r > unicode.MaxASCII || !unicode.IsLetter(r)) })
}

// decodeItem decodes an event.
func (sc *schema) decodeItem(row eventlog.Row, it *session.Item, body bool) []session.Fault {
	e := event{schema: sc, row: row, it: it}
	it.Shared.Branch = column.Text(e.columnValue("branch"))
	e.readTime()
	e.readArchived()
	said := e.readMessage()
	if body {
		it.Body = &session.Body{Raw: e.row.Record(e.events.columns)}
		said.fillTexts(it)
	}
	return e.faults
}

// readTime reads when the event was made, in the clock of its writer.
func (e *event) readTime() {
	if !e.events.hasColumns("timestamp") {
		return
	}
	stored := e.columnValue("timestamp")
	if stored == nil {
		e.addFault(session.RequiredNull, "timestamp", "The session cannot be loaded.", nil)
		return
	}
	t := times.Read(stored)
	if e.it.Time = t.Time; t.Wrong != "" {
		e.addFault(session.BadTime, "timestamp", t.Wrong, nil)
	}
}

// readArchived reads whether the event was compacted away. The reader asks for events
// of which it is false, so that NULL hides one as well.
func (e *event) readArchived() {
	if !e.events.hasColumns("archived") {
		return
	}
	stored := e.columnValue("archived")
	is, ok := column.Bool(stored)
	if stored == nil {
		is, ok = true, true
		e.addFault(session.RequiredNull, "archived", "The event is not sent any more, as if it were archived.", &defaultFlag)
	}
	if !ok {
		e.addFault(session.BadMetadata, "archived", notTruth, nil)
	}
	if is {
		e.it.Flags |= session.Archived
	}
}

const notTruth = "it is neither true nor false"

// readMessage reads what the event says.
func (e *event) readMessage() said {
	it := e.it
	kind := column.View(e.columnValue("message_type"))
	meta := e.loadMetadata()
	if e.readSynthetic(meta) {
		it.Flags |= session.SummaryTurn
	}
	role, known := roles[kind]
	if it.Role = role; !known {
		it.Kind = session.Other
		e.addUndecodable("message_type", "it is not USER, ASSISTANT, SYSTEM or TOOL, in capital letters", isName(kind))
	}
	if role == session.Assistant || role == session.Tool {
		it.Shared.Agent = meta.firstText(agentKeys...)
	}
	if role == session.Assistant {
		it.Shared.Model = meta.firstText("model")
	}
	content := column.View(e.columnValue("message_content"))
	if !isLegible(content) {
		e.addFault(session.BadUnicode, "message_content", illegible, nil)
	}
	s := said{content: content, data: e.readData(role)}
	s.describeItem(it, kind)
	return s
}

// part is an element of message_data: a call of an ASSISTANT, or the response to
// one of a TOOL. What is not here is passed over, as the reader does (docs/stores/spring-ai-session.md#what-is-read).
type part struct {
	ID        value `json:"id"`
	Name      value `json:"name"`
	Arguments value `json:"arguments"`    // of a call: JSON in a text
	Response  value `json:"responseData"` // of a response
}

// value is a stored text.
type value struct {
	text  string
	there bool // and not null
	bad   bool // the text is no Unicode
}

// SetText implements jsonscan.TextSetter.
func (v *value) SetText(text string) { *v = value{text: text, there: true} }

// UnmarshalJSONFrom reads what Java's reader takes for a text: one, a number, true
// or false, null.
func (v *value) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	switch raw.Kind() {
	case jsontext.KindBeginObject, jsontext.KindBeginArray:
		return errors.New("a text is expected")
	case jsontext.KindNull:
		*v = value{}
	case jsontext.KindString:
		text, bad := unquoteText(raw)
		*v = value{text, true, bad}
	default:
		*v = value{text: string(raw), there: true}
	}
	return nil
}

// data is what message_data holds.
type data struct {
	parts  []part
	listed bool // there is a list, be it empty
}

// parseData reads message_data; wrong says what the reader fails on. It goes on
// with an empty list then.
func parseData(text string) (d data, wrong string) {
	if strings.TrimSpace(text) == "" {
		return data{}, ""
	}
	if err := jsonscan.Exact.Unmarshal(column.Bytes(text), &d.parts); err != nil {
		return data{}, "it is not a list of calls or responses; the runtime goes on with an empty one"
	}
	d.listed = d.parts != nil
	return d, ""
}

// readData reads message_data where the role has a use for it.
func (e *event) readData(role session.Role) data {
	if role != session.Assistant && role != session.Tool {
		return data{}
	}
	text := column.View(e.columnValue("message_data"))
	d, wrong := parseData(text)
	if wrong != "" {
		e.addUndecodable("message_data", wrong, jsonedit.IsWhole([]byte(text)))
	}
	for _, p := range d.parts {
		if p.ID.bad || p.Name.bad || p.Arguments.bad || p.Response.bad {
			e.addFault(session.BadUnicode, "message_data", illegible, nil)
			break
		}
	}
	return d
}

// said is what an event says.
type said struct {
	content string
	data
}

// describeItem describes it in an item whose kind, role and agent are known. kind is
// the stored message type.
func (s *said) describeItem(it *session.Item, kind string) {
	var m session.Meaning
	m.Reset(it.Role, it.Agent())
	if it.Role == session.NoRole {
		m.AddDigest(session.DigestOf(kind))
	}
	it.Text, it.Size = session.DigestOf(s.content), int64(len(s.content))
	m.AddDigest(it.Text)
	for i := range s.parts {
		p := &s.parts[i]
		m.AddMark('p')
		m.AddTexts(p.ID.text, p.Name.text, p.Arguments.text, p.Response.text)
		if it.Role == session.Tool {
			it.Results = append(it.Results, p.toResult())
			it.Size += int64(len(p.Response.text))
		} else {
			it.Calls = append(it.Calls, session.Call{ID: p.ID.text, Name: p.Name.text, Form: eventlog.FormOf(p.Arguments.text)})
			it.Size += int64(len(p.Arguments.text))
		}
	}
	it.Meaning = m.Digest()
	if len(it.Results) == 1 {
		it.Text = it.Results[0].Digest
	}
	it.Flags |= s.textFlags(it)
}

// textFlags are what the texts and lists give an item. Responses have no text beside
// theirs.
func (s *said) textFlags(it *session.Item) session.Flags {
	var flags session.Flags
	if it.Role != session.Tool {
		flags = session.TextFlags(s.content)
	}
	if it.Kind == session.Message && strings.TrimSpace(s.content) == "" && len(s.parts) == 0 {
		flags |= session.Blank
	}
	if it.Role == session.Assistant && s.listed && len(s.parts) == 0 {
		flags |= session.EmptyCalls
	}
	return flags
}

// toResult is a response. One that sessctl added tells of a failure, and the store
// has no other place for that.
func (p *part) toResult() session.Result {
	text := p.Response.text
	return session.Result{
		CallID: p.ID.text, Name: p.Name.text, Digest: session.DigestOf(text), Null: !p.Response.there,
		IsError: strings.HasPrefix(text, session.SyntheticPrefix), Synthetic: session.IsPlaceholder(text),
	}
}

// fillTexts gives an item its texts.
func (s *said) fillTexts(it *session.Item) {
	it.Body.Text = strings.Clone(s.content)
	for i := range s.parts {
		if it.Role == session.Tool {
			it.Results[i].Text = s.parts[i].Response.text
		} else {
			it.Calls[i].Args = s.parts[i].Arguments.text
		}
	}
}

// comparedContent is what counts of a column when two states of an event are compared:
// what the reader makes of it. So a repair may set the default of a column that
// cannot be read, and of nothing else.
func (sc *schema) comparedContent(column string, stored any) any {
	switch strings.ToLower(column) {
	case "metadata":
		if _, wrong := readMetadata(stored); wrong != "" {
			return defaultMetadata
		}
	case "synthetic":
		if stored == nil {
			return int64(0)
		}
	}
	return stored
}

// metadata is what a caller and the library say of an event beside its message.
type metadata map[string]jsontext.Value

// readMetadata reads a metadata column; wrong says what the reader fails on. It
// goes on without then. Its values die with the row.
func readMetadata(stored any) (m metadata, wrong string) {
	text := column.View(stored)
	if strings.TrimSpace(text) == "" {
		return nil, ""
	}
	err := jsonscan.Exact.Unmarshal(column.Bytes(text), &m)
	switch {
	case err != nil:
		return nil, "it is not a JSON object"
	case m == nil:
		return nil, "it is null, on which the runtime fails"
	}
	return m, ""
}

// agentKeys are the members in which programs name the agent; the library itself
// names none.
var agentKeys = []string{"agent", "agentName", "agent_name", "author"}

// firstText is the text of the first of the members that is one, "" when none is.
func (m metadata) firstText(names ...string) string {
	for _, name := range names {
		if v := m[name]; v.Kind() == jsontext.KindString {
			text, _ := unquoteText(v)
			return text
		}
	}
	return ""
}

// loadMetadata reads the event's own.
func (e *event) loadMetadata() metadata {
	m, wrong := readMetadata(e.columnValue("metadata"))
	if wrong != "" {
		e.addFault(session.BadMetadata, "metadata", wrong, &defaultMetadata)
	}
	return m
}

// readSynthetic reads whether a compaction wrote the event. The column and the
// metadata say so. Where only the metadata does, the program takes the event for a
// summary and queries do not: it is no summary here, because a repair moves a
// conversation behind one and takes its branch away.
func (e *event) readSynthetic(m metadata) bool {
	stored := e.columnValue("synthetic")
	marked, ok := column.Bool(stored)
	switch {
	case stored == nil && e.events.hasColumns("synthetic"):
		e.addFault(session.RequiredNull, "synthetic", "Queries without summaries omit the event, too.", &defaultFlag)
	case !ok && e.events.hasColumns("synthetic"):
		e.addFault(session.BadMetadata, "synthetic", notTruth, nil)
	}
	_, source := m["compactionSource"]
	copied := m["synthetic"].Kind()
	truth := copied == jsontext.KindTrue || copied == jsontext.KindFalse
	switch {
	case copied == jsontext.KindTrue && !marked:
		e.reportDiffering("metadata.synthetic is true and the column is not: queries go by the column, the program by the metadata")
	case copied == jsontext.KindFalse && marked:
		e.reportDiffering("the column is true and metadata.synthetic is false: the runtime uses the column")
	case copied != jsontext.KindInvalid && !truth && marked:
		e.reportDiffering("the column is true and metadata.synthetic is neither true nor false: the runtime uses the column")
	case copied != jsontext.KindInvalid && !truth:
		e.addFault(session.BadMetadata, "metadata", "its member synthetic is neither true nor false, on which the program fails", nil)
	case source && copied == jsontext.KindInvalid && !marked:
		e.reportDiffering("metadata names a compactionSource, but neither it nor the column says that the event is synthetic: " +
			"the runtime treats it as a message of the conversation")
	}
	return marked || copied == jsontext.KindTrue && !e.events.hasColumns("synthetic")
}

func (e *event) reportDiffering(detail string) {
	e.addFault(session.CopiesDiffer, "synthetic", detail, nil)
}
