package canonical

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/lines"
	"github.com/sessctl/sessctl/internal/session"
)

// index says where everything of a stream is. It keeps about forty bytes for an
// item and no texts: trees are read again from their lines.
type index struct {
	model    string // of sessions that do not say
	sessions []*entry
	byID     map[string]*entry
	items    int64           // item lines so far: the ordinal of the next one
	faults   []session.Fault // of lines that belong to no session
}

// entry is a session of the stream.
type entry struct {
	head  session.Session // without its items
	task  *session.Digest // nil: that of the first item
	line  span            // of the session itself; number 0 while none declares it
	items []itemSpan      // in stored order
	refs  []string        // the ids that sub-session items name
}

type itemSpan struct {
	span
	ordinal int64 // among all items of the stream
}

// build reads the lines behind the header.
func (x *index) build(ctx context.Context, scan lineScanner, progress func(int64)) error {
	const step = 1 << 20 // bytes between reports
	next := scan.Offset() + step
	skim := newSkimmer()
	for {
		line, at, err := scan.next()
		switch err {
		case nil:
			x.add(skim, line, at)
		case lines.ErrTooLong:
			x.faults = append(x.faults, lineFault(session.Undecodable, at.number, "line", err.Error()))
		case io.EOF:
			x.reportUndeclared()
			return nil
		default:
			return fmt.Errorf("reading behind line %d: %w", scan.Number(), err)
		}
		if scan.Offset() >= next {
			next = scan.Offset() + step
			if progress != nil {
				progress(scan.Offset())
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
}

func (x *index) add(skim *skimmer, line []byte, at span) {
	g, err := skim.skim(line)
	switch {
	case g.kind == typeItem && (err == nil || g.session != ""):
		x.addItem(&g, line, at)
	case err != nil:
		x.faults = append(x.faults, lineFault(session.Undecodable, at.number, "line", explain(err)))
	case g.kind == typeSession:
		x.addSession(g.id, line, at)
	case g.kind == typeFault:
		x.addFault(line, at)
	case g.kind == typeHeader:
		x.faults = append(x.faults, lineFault(session.Undecodable, at.number, "type",
			"a second header, which is ignored: one stream has one header"))
	default:
		x.faults = append(x.faults, lineFault(session.UnknownKind, at.number, g.kind,
			"the type "+quoted(g.kind)+" is none of session, item and fault"))
	}
}

// entry finds a session by its id, or expects it: items may come first.
func (x *index) entry(id string) *entry {
	e := x.byID[id]
	if e == nil {
		e = &entry{head: session.Session{ID: id}}
		x.byID[id] = e
		x.sessions = append(x.sessions, e)
	}
	return e
}

func (x *index) addItem(g *glance, line []byte, at span) {
	e := x.entry(g.session)
	e.items = append(e.items, itemSpan{span: at, ordinal: x.items})
	x.items++
	refers := g.itemKind == session.SubSession.String()
	if !refers && !bytes.Contains(line, childMember) {
		return
	}
	rec, usable, _ := decodeItem(line)
	switch {
	case !usable || rec.Kind != g.itemKind:
	case refers:
		e.refs = append(e.refs, rec.Child)
	default:
		for i := range rec.Calls {
			if d := rec.Calls[i].delegation(); d != nil && d.Child != "" {
				e.refs = append(e.refs, d.Child)
			}
		}
	}
}

// childMember stands in every line whose calls name their children.
var childMember = []byte(`"child"`)

func (x *index) addSession(id string, line []byte, at span) {
	if id == "" {
		x.faults = append(x.faults, lineFault(session.Undecodable, at.number, "id", "a session without an id"))
		return
	}
	e := x.entry(id)
	if e.line.number != 0 {
		x.faults = append(x.faults, lineFault(session.Undecodable, at.number, "id", fmt.Sprintf(
			"the session %s is on line %d already; this one is ignored", quoted(id), e.line.number)))
		return
	}
	e.line = at
	e.declare(line)
	if e.head.Model == "" {
		e.head.Model = x.model
	}
}

// addFault takes in what the writer of the stream could not read. A line that does not
// say what is lost still says that something is.
func (x *index) addFault(line []byte, at span) {
	rec, usable, wrong := decode[faultLine](line)
	if wrong != nil {
		x.faults = append(x.faults, lineFault(wrong.kind, at.number, "line", explain(wrong.err)))
	}
	f := lineFault(session.StoreDamaged, at.number, "", "the stream lacks something, and does not say what")
	if usable && rec.Detail != "" {
		f.Detail = rec.Detail
	}
	if usable && rec.Table != "" {
		f.Ref = session.Ref{Session: rec.Session, Table: rec.Table, Key: rec.Key}
	}
	f.Count = int(max(rec.Count, 0))
	x.faults = append(x.faults, f)
}

// has reports whether a line declares the session.
func (x *index) has(id string) bool { return x.byID[id] != nil }

// declare fills in the session from its line. A line that cannot be decoded
// still declares the session, so that its items are read.
func (e *entry) declare(line []byte) {
	s := &e.head
	fault := func(kind session.FaultKind, field, detail string) {
		s.Faults = append(s.Faults, session.Fault{
			Kind: kind, Ref: s.Ref(), Item: -1, Field: field, Detail: at(e.line.number, detail),
		})
	}
	rec, usable, wrong := decode[sessionLine](line)
	if wrong != nil {
		fault(wrong.kind, "line", explain(wrong.err))
	}
	if !usable {
		s.Faults[len(s.Faults)-1].Lost = true
		return
	}
	s.Parent, s.App, s.User = rec.Parent, rec.App, rec.User
	s.Title, s.Agent, s.Model = rec.Title, rec.Agent, rec.Model
	s.Agents = rec.Agents
	s.Delegated, s.Deleted, s.Inseparable, s.Workspace = rec.Delegated, rec.Deleted, rec.Inseparable, rec.Workspace
	for i := range rec.Runs {
		s.Runs = append(s.Runs, rec.Runs[i].run())
	}
	s.Thinking, s.Unstored = tristate(rec.Thinking), rec.Unstored
	s.Forked = rec.ForkOf != nil && rec.ForkOf.Kind() != jsontext.KindNull
	if rec.Task != nil {
		task := session.DigestOf(*rec.Task)
		e.task = &task
	}
	var ok bool
	if s.Created, ok = parseTime(rec.Created); !ok {
		fault(session.BadTime, "created", notATime(rec.Created))
	}
	if s.Updated, ok = parseTime(rec.Updated); !ok {
		fault(session.BadTime, "updated", notATime(rec.Updated))
	}
}

func tristate(said *bool) session.Tristate {
	switch {
	case said == nil:
		return session.Unsaid
	case *said:
		return session.Yes
	}
	return session.No
}

// reportUndeclared reports items of sessions that no line declares. They cannot
// be placed: one fault names them all.
func (x *index) reportUndeclared() {
	x.sessions = slices.DeleteFunc(x.sessions, func(e *entry) bool {
		if e.line.number != 0 {
			return false
		}
		first := e.items[0]
		f := lineFault(session.Undecodable, first.number, "session", fmt.Sprintf(
			"an item of the session %s, which no line declares (items of it: %d)", quoted(e.head.ID), len(e.items)))
		f.Ref = session.Ref{Session: e.head.ID, Table: tableItems, Key: strconv.FormatInt(first.ordinal, 10)}
		f.Count = len(e.items)
		x.faults = append(x.faults, f)
		delete(x.byID, e.head.ID)
		return true
	})
}
