package canonical

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/filelog"
	"github.com/sessctl/sessctl/internal/store/forest"
)

// reader loads the items of trees. Each goroutine needs one of its own.
type reader struct {
	s     *stream
	lines *filelog.Window
	items *itemReader
}

func (s *stream) newReader() *reader {
	return &reader{s: s, lines: s.log.Window(), items: newItemReader()}
}

// readOutlines gives the sessions of a tree their items.
func (r *reader) readOutlines(ctx context.Context, tree *session.Tree) error {
	clear(r.items.names)
	for _, s := range tree.Sessions {
		if err := ctx.Err(); err != nil {
			return err
		}
		if by := runtimes[r.s.header.Kind].resumedBy; by != nil {
			s.Resumption = by(s.Version)
		}
		e := r.s.index.byID[s.ID]
		s.Items = make([]session.Item, 0, len(e.items))
		var sharing session.Sharing
		for i, at := range e.items {
			it, err := r.readItemAt(ctx, at)
			if err != nil {
				return err
			}
			if i == 0 {
				s.Task = taskOf(&it, it.Body.Text)
			}
			it.Own().Table, it.Key, it.Position = tableItems, r.s.itemKey(at), int64(i)
			sharing.Share(&it)
			it.DropTexts()
			s.Items = append(s.Items, it)
			r.moveFaults(s, i)
		}
		if e.task != nil {
			s.Task = *e.task
		}
		forest.MarkDangling(s, r.s.index.hasSession)
	}
	return nil
}

// moveFaults gives the faults of the item read last to its session.
func (r *reader) moveFaults(s *session.Session, i int) {
	for _, f := range r.items.faults {
		f.Ref, f.Item = s.ItemRef(i), i
		s.Faults = append(s.Faults, f)
	}
}

// readItemAt reads one line. Its body is valid until the next one is read.
func (r *reader) readItemAt(ctx context.Context, at span) (session.Item, error) {
	if err := ctx.Err(); err != nil {
		return session.Item{}, err
	}
	line, err := r.lines.Line(at.Span)
	if err != nil {
		return session.Item{}, unreadableError(r.s.path, err)
	}
	return r.items.readItem(line, at.number), nil
}

// loadBodies loads what the items of a tree say.
func (r *reader) loadBodies(ctx context.Context, tree *session.Tree) error {
	for _, s := range tree.Sessions {
		e := r.s.index.byID[s.ID]
		line, err := r.lines.Line(e.line.Span)
		if err != nil {
			return unreadableError(r.s.path, err)
		}
		s.Raw = bytes.Clone(line)
		i := 0
		for _, at := range e.items {
			if i == len(s.Items) || s.Items[i].Key != r.s.itemKey(at) {
				continue
			}
			full, err := r.readItemAt(ctx, at)
			if err != nil {
				return err
			}
			full.Body.Raw = bytes.Clone(full.Body.Raw)
			if full.Meaning != s.Items[i].Meaning {
				return r.changedError(at.number)
			}
			s.Items[i].TakeTexts(&full)
			i++
		}
		if i < len(s.Items) {
			return r.changedError(e.line.number)
		}
	}
	return nil
}

// changedError is the error for a line that says something else than before.
func (r *reader) changedError(line int64) error {
	return problem.New(problem.Unreadable, "run the command again when no program writes to it",
		"%s changed while sessctl read it: line %d is different now", r.s.path, line)
}

// span is where a line is.
type span struct {
	filelog.Record
	number int64 // from 1, as editors count
}

// glance is what the index needs of a line.
type glance struct {
	kind              string // of the line: "item"
	session, itemKind string // of an item
	id                string // of a session
}

// skimmer reads only as much of a line as the index needs. What comes behind
// that is judged when the line is read in full.
type skimmer struct {
	dec *jsontext.Decoder
	buf bytes.Buffer
}

var errNoObject = errors.New("no JSON object")

// skimLine returns what it found before an error, which may be enough.
func (s *skimmer) skimLine(line []byte) (g glance, err error) {
	s.buf = *bytes.NewBuffer(line)
	s.dec.Reset(&s.buf, tolerant)
	if s.dec.PeekKind() != '{' {
		if _, err := s.dec.ReadValue(); err != nil {
			return g, err
		}
		return g, errNoObject
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return g, err
	}
	for s.dec.PeekKind() == '"' {
		if err := s.skimMember(&g); err != nil || g.isComplete() {
			return g, err
		}
	}
	_, err = s.dec.ReadToken() // the closing brace
	return g, err
}

func (s *skimmer) skimMember(g *glance) error {
	name, err := s.dec.ReadToken()
	if err != nil {
		return err
	}
	into := g.memberField(name.String())
	if into == nil || s.dec.PeekKind() != '"' {
		return s.dec.SkipValue()
	}
	value, err := s.dec.ReadToken()
	if err == nil {
		*into = value.String()
	}
	return err
}

func (g *glance) memberField(name string) *string {
	switch name {
	case "type":
		return &g.kind
	case "session":
		return &g.session
	case "kind":
		return &g.itemKind
	case "id":
		return &g.id
	}
	return nil
}

// isComplete reports whether nothing more of the line matters to the index.
func (g *glance) isComplete() bool {
	return g.kind == typeItem && g.session != "" && g.itemKind != ""
}

// index says where everything of a stream is. It keeps about fifty bytes for an
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
	items []span          // in stored order
	refs  []string        // the ids that sub-session items name
}

// buildIndex reads the lines of a stream; the first one is handed to header.
func (x *index) buildIndex(ctx context.Context, log *filelog.Log, header func(filelog.Line) error, progress func(int64)) error {
	const step = 1 << 20 // bytes between reports
	next := int64(step)
	skim := &skimmer{dec: new(jsontext.Decoder)}
	first := true
	for line, err := range log.Lines(ctx) {
		switch {
		case err != nil:
			return err
		case first:
			if err := header(line); err != nil {
				return err
			}
			first = false
		case line.Err != nil:
			x.faults = append(x.faults, lineFault(session.Undecodable, line.Number, "line", line.Err.Error()))
		default:
			x.addLine(skim, line.Text, span{filelog.Record{Span: line.Span, Place: x.items}, line.Number})
		}
		if end := line.Offset + int64(line.Length); end >= next && progress != nil {
			next = end + step
			progress(end)
		}
	}
	if first {
		return io.EOF
	}
	x.reportUndeclared()
	return nil
}

func (x *index) addLine(skim *skimmer, line []byte, at span) {
	g, err := skim.skimLine(line)
	switch {
	case g.kind == typeItem && (err == nil || g.session != ""):
		x.addItem(&g, line, at)
	case err != nil:
		x.faults = append(x.faults, lineFault(session.Undecodable, at.number, "line", explainError(err)))
	case g.kind == typeSession:
		x.addSession(g.id, line, at)
	case g.kind == typeFault:
		x.addFault(line, at)
	case g.kind == typeHeader:
		x.faults = append(x.faults, lineFault(session.Undecodable, at.number, "type",
			"a second header, which is ignored: one stream has one header"))
	default:
		x.faults = append(x.faults, lineFault(session.UnknownKind, at.number, g.kind,
			"the type "+quoteWord(g.kind)+" is not session, item or fault"))
	}
}

// ensureEntry finds a session by its id, or expects it: items may come first.
func (x *index) ensureEntry(id string) *entry {
	e := x.byID[id]
	if e == nil {
		e = &entry{head: session.Session{ID: id}}
		x.byID[id] = e
		x.sessions = append(x.sessions, e)
	}
	return e
}

func (x *index) addItem(g *glance, line []byte, at span) {
	e := x.ensureEntry(g.session)
	at.Is = true
	e.items = append(e.items, at)
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
			if d := rec.Calls[i].readDelegation(); d != nil && d.Child != "" {
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
	e := x.ensureEntry(id)
	if e.line.number != 0 {
		x.faults = append(x.faults, lineFault(session.Undecodable, at.number, "id", fmt.Sprintf(
			"the session %s is already on line %d; this one is ignored", quoteWord(id), e.line.number)))
		return
	}
	e.line = at
	e.declareSession(line)
	e.head.Model = cmp.Or(e.head.Model, x.model)
}

// addFault takes in what the writer of the stream could not read. A line that does not
// say what is lost still says that something is.
func (x *index) addFault(line []byte, at span) {
	rec, usable, wrong := decodeLine[faultLine](line)
	if wrong != nil {
		x.faults = append(x.faults, lineFault(wrong.kind, at.number, "line", explainError(wrong.err)))
	}
	f := lineFault(session.StoreDamaged, at.number, "", "the stream lacks something, but does not say what")
	if usable && rec.Detail != "" {
		f.Detail = rec.Detail
	}
	if usable && rec.Table != "" {
		f.Ref = session.Ref{Session: rec.Session, Table: rec.Table, Key: rec.Key}
	}
	f.Count = int(max(rec.Count, 0))
	x.faults = append(x.faults, f)
}

// hasSession reports whether a line declares the session.
func (x *index) hasSession(id string) bool { return x.byID[id] != nil }

// declareSession fills in the session from its line. A line that cannot be decoded
// still declares the session, so that its items are read.
func (e *entry) declareSession(line []byte) {
	s := &e.head
	fault := func(kind session.FaultKind, field, detail string) {
		s.Faults = append(s.Faults, session.Fault{
			Kind: kind, Ref: s.Ref(), Item: -1, Field: field, Detail: atLine(e.line.number, detail),
		})
	}
	rec, usable, wrong := decodeLine[sessionLine](line)
	if wrong != nil {
		fault(wrong.kind, "line", explainError(wrong.err))
	}
	if !usable {
		s.Faults[len(s.Faults)-1].Lost = true
		return
	}
	s.Parent, s.App, s.User = rec.Parent, rec.App, rec.User
	s.Title, s.Agent, s.Model = rec.Title, rec.Agent, rec.Model
	s.Agents = rec.Agents
	s.Delegated, s.Deleted, s.Inseparable, s.Workspace = rec.Delegated, rec.Deleted, rec.Inseparable, rec.Workspace
	s.Writer, s.Version = session.ParseWriter(rec.Writer), rec.Version
	for i := range rec.Runs {
		s.Runs = append(s.Runs, rec.Runs[i].toRun())
	}
	s.Thinking, s.Unstored = tristateOf(rec.Thinking), rec.Unstored
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

func tristateOf(said *bool) session.Tristate {
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
			"an item of session %s, which no line declares (items: %d)", quoteWord(e.head.ID), len(e.items)))
		f.Ref = session.Ref{Session: e.head.ID, Table: tableItems, Key: strconv.FormatInt(first.Place, 10)}
		f.Count = len(e.items)
		x.faults = append(x.faults, f)
		delete(x.byID, e.head.ID)
		return true
	})
}
