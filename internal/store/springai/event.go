package springai

import (
	"strings"
	"unicode"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// roles are the message types. Java's reader takes these names only, as they are
// spelled, and loads no session that has another (G13).
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

func (e *event) value(column string) any { return e.events.value(e.row, column) }

func (e *event) fault(kind session.FaultKind, field, detail string, fallback *string) {
	e.faults = append(e.faults, session.Fault{Kind: kind, Field: field, Detail: detail, Default: fallback})
}

// unknown reports a value that does not decode; whole says that it is not damaged.
func (e *event) unknown(field, detail string, whole bool) {
	e.faults = append(e.faults, session.Fault{Kind: session.Undecodable, Field: field, Detail: detail, Whole: whole})
}

// isName reports whether a text can be the name of a message type: a word.
func isName(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r != '_' && (r > unicode.MaxASCII || !unicode.IsLetter(r)) })
}

// item decodes an event.
func (sc *schema) item(row eventlog.Row, it *session.Item, body bool) []session.Fault {
	e := event{schema: sc, row: row, it: it}
	branch, _ := textOf(e.value("branch"))
	it.Branch = strings.Clone(branch)
	e.time()
	e.archived()
	said := e.message()
	if body {
		it.Body = &session.Body{Raw: e.record()}
		said.fill(it)
	}
	return e.faults
}

// time reads when the event was made, in the clock of its writer.
func (e *event) time() {
	if !e.events.has("timestamp") {
		return
	}
	stored := e.value("timestamp")
	if stored == nil {
		e.fault(session.RequiredNull, "timestamp", "The session cannot be loaded.", nil)
		return
	}
	t, wrong := parseTime(stored)
	if e.it.Time = t; wrong != "" {
		e.fault(session.BadTime, "timestamp", wrong, nil)
	}
}

// archived reads whether the event was compacted away. The reader asks for events
// of which it is false, so that NULL hides one as well.
func (e *event) archived() {
	if !e.events.has("archived") {
		return
	}
	stored := e.value("archived")
	is, ok := truthOf(stored)
	if stored == nil {
		is, ok = true, true
		e.fault(session.RequiredNull, "archived", "The event is not sent any more, as if it were archived.", &defaultFlag)
	}
	if !ok {
		e.fault(session.BadMetadata, "archived", notTruth, nil)
	}
	if is {
		e.it.Flags |= session.Archived
	}
}

const notTruth = "it is neither true nor false"

// message reads what the event says.
func (e *event) message() said {
	it := e.it
	kind, _ := textOf(e.value("message_type"))
	meta := e.metadata()
	if e.synthetic(meta) {
		it.Flags |= session.SummaryTurn
	}
	role, known := roles[kind]
	if it.Role = role; !known {
		it.Kind = session.Other
		e.unknown("message_type", "it is none of USER, ASSISTANT, SYSTEM and TOOL, in capital letters", isName(kind))
	}
	if role == session.Assistant || role == session.Tool {
		it.Agent = meta.first(agentKeys...)
	}
	if role == session.Assistant {
		it.Model = meta.first("model")
	}
	content, _ := textOf(e.value("message_content"))
	if !legible(content) {
		e.fault(session.BadUnicode, "message_content", illegible, nil)
	}
	s := said{content: content, data: e.data(role)}
	s.outline(it, kind)
	return s
}

// record is the whole row, as a receipt keeps it: JSON, in the form that exactly
// tells a row of SQLite.
func (e *event) record() []byte {
	image := make(table.Image, len(e.events.columns))
	for _, c := range e.events.columns {
		image[c] = e.row.Value(c)
	}
	text, _ := image.MarshalJSON() // never fails on values of rows
	return text
}
