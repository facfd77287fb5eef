package opencode

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// editor writes changes of events into the rows that they are made of.
type editor struct {
	table.Editor
	view *joined
	read map[table.Place]*stored // what was changed since the places were given out
}

// Reader gives places out anew.
func (e *editor) Reader() table.Reader {
	e.read = map[table.Place]*stored{}
	return e.view
}

// Revert implements table.Editor.
func (e *editor) Revert(ctx context.Context, journal []byte, _ ...string) error {
	return e.Editor.Revert(ctx, journal, tableSessions, tableMessages, tableParts)
}

// loadMessage loads the message of an event as it is now. Its parts keep their numbers.
func (e *editor) loadMessage(ctx context.Context, at table.Place) (*stored, error) {
	at = at >> packing << packing
	if at&draftBit != 0 {
		return nil, problem.New(problem.RolledBack, "", "%s", ownRows)
	}
	if m := e.read[at]; m != nil {
		return m, nil
	}
	var found *stored
	err := e.view.loadMessages(ctx, []head{{table: tableMessages, at: at}}, func(m *stored) error {
		found = m
		return nil
	}, func(head) error { return docedit.NotAsRead("row") })
	e.read[at] = found
	return found, err
}

// ownRows is why the rows of the new core stay as they are.
const ownRows = "sessctl does not change the rows of the new core of opencode, which answers open calls itself when it goes on"

// Update implements table.Writer. What a message holds goes with its row.
func (e *editor) Update(ctx context.Context, name string, at table.Place, fields []table.FieldChange) error {
	switch {
	case name == tableSessions:
		from, row := e.view.SourceOf(at)
		return e.Editor.Update(ctx, from.Table, row, fields)
	case name != tableMessages:
		return e.Editor.Update(ctx, name, at, fields)
	}
	m, err := e.loadMessage(ctx, at)
	if nth := packing.NumberOf(int64(at)); nth > 0 && err == nil {
		for _, f := range fields {
			if f.Name == "data" && err == nil {
				err = e.updatePart(ctx, event{m, nth}.eventPart(), f.Name, f.New)
			}
		}
		return err
	}
	for _, f := range fields {
		if err != nil {
			return err
		}
		if f.Name == columnParts {
			err = e.updateParts(ctx, m, f)
			continue
		}
		if err = e.Editor.Update(ctx, tableMessages, m.place, []table.FieldChange{f}); f.Name != "session_id" {
			continue
		}
		for i := range m.parts {
			if p := &m.parts[i]; err == nil && p.place != 0 {
				err = e.updatePart(ctx, p, f.Name, f.New)
			}
		}
	}
	return err
}

// updatePart gives a column of a part another value.
func (e *editor) updatePart(ctx context.Context, p *part, name string, value table.Value) error {
	old := p.row[name]
	if table.SameValue(old, value) {
		return nil
	}
	p.row[name] = value
	return e.Editor.Update(ctx, tableParts, p.place, []table.FieldChange{{Name: name, Old: old, New: value}})
}

// updateParts makes the rows of parts what a change of their list says.
func (e *editor) updateParts(ctx context.Context, m *stored, f table.FieldChange) error {
	var was, is []table.Image
	if json.Unmarshal(column.Bytes(f.Old), &was) != nil || json.Unmarshal(column.Bytes(f.New), &is) != nil || len(was) != len(m.parts) {
		return docedit.NotAsRead(columnParts)
	}
	for i := range m.parts {
		p := &m.parts[i]
		n := slices.IndexFunc(is, func(now table.Image) bool { return table.SameValue(now["id"], p.row["id"]) })
		var err error
		switch {
		case n >= 0 && table.SameValue(was[i]["data"], is[n]["data"]):
		case !table.SameValue(was[i]["data"], p.row["data"]):
			err = docedit.NotAsRead(columnParts)
		case n < 0:
			err = e.deletePart(ctx, p)
		default:
			err = e.updatePart(ctx, p, "data", is[n]["data"])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *editor) deletePart(ctx context.Context, p *part) error {
	at := p.place
	if p.place = 0; at == 0 {
		return nil
	}
	return e.Editor.Delete(ctx, tableParts, at)
}

// Delete implements table.Writer. The result of a call leaves with its message.
func (e *editor) Delete(ctx context.Context, name string, at table.Place) error {
	if name != tableMessages {
		return e.Editor.Delete(ctx, name, at)
	}
	m, err := e.loadMessage(ctx, at)
	if err != nil {
		return err
	}
	if nth := packing.NumberOf(int64(at)); nth > 0 {
		if p := (event{m, nth}).eventPart(); p.wrong != "" {
			return e.deletePart(ctx, p)
		}
		return nil
	}
	for i := range m.parts {
		if err := e.deletePart(ctx, &m.parts[i]); err != nil {
			return err
		}
	}
	return e.Editor.Delete(ctx, tableMessages, m.place)
}

// Insert implements table.Writer: a new event is the result of a call that is stored.
func (e *editor) Insert(ctx context.Context, name string, row []table.Field) (table.Place, error) {
	values := table.Image{}
	for _, f := range row {
		values[f.Name] = f.Value
	}
	of, ok := values[eventlog.ColumnEvent].(ended)
	if name != tableMessages || !ok {
		return e.Editor.Insert(ctx, name, row)
	}
	m, err := e.loadMessage(ctx, placeOf(of.place, of.table, 0))
	if err != nil {
		return 0, err
	}
	p := event{m, of.nth}.eventPart()
	edited := docedit.NewRow(docedit.Whole{Column: "data", Text: column.Bytes(p.row["data"])})
	if err := edited.Put(callState, jsontext.Value(of.state)); err != nil {
		return 0, err
	}
	return placeOf(of.place, of.table, of.nth), e.updatePart(ctx, p, "data", column.Like(p.row["data"], string(edited.Document("data"))))
}

// insertResult finds the call that a new result answers: eventlog's neighbour is of its message.
func insertResult(s *session.Session, it *session.Item, near *docedit.Row, _ string) ([]table.Field, error) {
	e, _ := near.Value(eventlog.ColumnEvent).(event)
	if e.table == tableDraft {
		return nil, problem.New(problem.RolledBack, "", "%s", ownRows)
	}
	r, nth, shared := &it.Results[0], -1, 0
	for i := range s.Items {
		for n := range s.Items[i].Calls {
			if s.Items[i].Key == e.id && s.Items[i].Calls[n].ID == r.CallID {
				nth, shared = n, shared+1
			}
		}
	}
	if shared > 1 {
		return nil, problem.New(problem.RolledBack, "", "%s", crossed)
	}
	for i := range e.parts {
		p := &e.parts[i]
		if p.wrong != "" || p.Type != typeTool {
			continue
		}
		if nth--; nth == -1 && !p.isFinal() {
			at := packing.PackPosition(e.began, e.rank, int64(i+1))
			if slices.ContainsFunc(s.Items, func(o session.Item) bool { return o.Table() != "" && (o.Position < it.Position) != (o.Position < at) }) {
				return nil, problem.New(problem.RolledBack, "", "%s", crossed)
			}
			return []table.Field{
				{Name: "id", Value: p.row["id"]}, {Name: eventlog.ColumnPosition, Value: it.Position}, {Name: eventlog.ColumnEvent, Value: ended{event{e.stored, i + 1}, p.composeState(r)}},
			}, nil
		}
	}
	return nil, problem.New(problem.RolledBack, "Check the store again.", "message %s has no call %s without a result", e.id, r.CallID)
}

// ended is the call that gets a result, and the state that it has then.
type ended struct {
	event
	state string
}

// crossed is why calls that share an id stay as they are: results are told apart by their
// order, and their rows say otherwise.
const crossed = "calls of one message share an id, and which of them has no result is told by their rows only"

// composeState composes the state of a call that gets a result: at the time at which its row changed
// last, because a repair has no clock. The answer of a sub-session is wrapped as opencode
// does it (tool/task.ts).
func (p *part) composeState(r *session.Result) string {
	doc := docedit.NewRow(docedit.Whole{Column: "data", Text: column.Bytes(p.row["data"])})
	raw := func(other string, path ...string) string {
		at := callState
		for _, name := range path {
			at = at.Member(name)
		}
		return cmp.Or(string(doc.Raw(at)), other)
	}
	time := `,"time":{"start":` + raw(timeOf(p.row, "time_created"), "time", "start") + `,"end":` + timeOf(p.row, "time_updated", "time_created") + `}}`
	input, metadata := string(p.State.Input), raw("{}", "metadata")
	if input != "" { // what is not there is not made up, and null stays
		input = `"input":` + input + `,`
	}
	if r.IsError {
		return `{"status":"error",` + input + `"error":` + string(docedit.QuoteText(r.Text)) + `,"metadata":` + metadata + time
	}
	text := r.Text
	if child := p.State.Metadata.Child; child != "" && p.Tool == "task" {
		text = "<task id=" + strconv.Quote(child) + " state=\"completed\">\n<task_result>\n" + text + "\n</task_result>\n</task>"
	}
	title := raw(raw(`""`, "input", "description"), "title")
	return `{"status":"completed",` + input + `"output":` + string(docedit.QuoteText(text)) + `,"title":` + title + `,"metadata":` + metadata + time
}

// timeOf is the first of some times of a row that is a number: data of its own has only such.
func timeOf(row table.Image, columns ...string) string {
	for _, name := range columns {
		if at, ok := column.Int(row[name]); ok {
			return strconv.FormatInt(at, 10)
		}
	}
	return "0"
}

// updateEvent is the difference of an event that a repair changed.
func updateEvent(r *docedit.Row, c *change.Item) error {
	e, _ := r.Value(eventlog.ColumnEvent).(event)
	d := &difference{Row: r, m: e.stored, parts: make([]table.Image, len(e.parts))}
	for i := range e.parts {
		d.parts[i] = e.parts[i].row
	}
	err := d.leaveOut(c, e)
	if err != nil {
		return err
	}
	err = r.Apply(c, func(v change.Value) docedit.Place { return d.findPlace(v, e.nth > 0) }, func(int) docedit.Spot { return docedit.Spot{Column: columnParts} })
	if err == nil && d.changed {
		d.parts = slices.DeleteFunc(d.parts, func(row table.Image) bool { return row == nil })
		text, _ := json.Marshal(d.parts) // never fails on values of rows
		r.SetText(columnParts, text)
	}
	if e.table == tableDraft && (len(r.Changes()) > 0 || c.Shown || len(c.OmissionNotes()) > 0) {
		err = problem.New(problem.RolledBack, "", "%s", ownRows)
	}
	return err
}

// refuseSeparation refuses a change in which a result leaves the message that has it in the row of
// its call, and one in which messages of one millisecond stand in another order than their
// ids.
func refuseSeparation(_ context.Context, _ table.Writer, sessions []*change.Session) error {
	type row struct {
		in string
		at int64
	}
	return eventlog.CheckWhole(packing, sessions, func(in string, it *session.Item) row {
		if it.Kind == session.Other { // it may leave alone
			return row{it.Key, 0}
		}
		return row{in, it.Position >> packing}
	}, func(a, b *change.Item) bool { return b.Is.Role == session.Tool || a.Is.Key <= b.Is.Key })
}

// difference is what becomes of a message and its parts.
type difference struct {
	*docedit.Row
	m       *stored
	parts   []table.Image // nil for one that leaves
	changed bool
}

// findPlace finds where a value is stored. The id that a result answers is that of its call.
func (d *difference) findPlace(v change.Value, held bool) docedit.Place {
	switch {
	case v.Of == change.OfResult && v.Field == session.FieldResultID && held:
		return docedit.Place{Form: docedit.Follows}
	case v.Of == change.OfCall && v.Field == session.FieldCallID:
		return docedit.Place{Write: func() error { return d.renameCall(v) }}
	case v.Of == change.OfItem && v.Field == session.FieldUnfinished:
		return docedit.Place{Write: d.endAnswer}
	case v.Field == change.FieldOmitted:
		return docedit.Place{Form: docedit.Follows}
	case v.Of == change.OfItem && v.Field == session.FieldText && (v.Is == "" || v.Is == v.Was):
		return docedit.Place{Write: func() error {
			d.dropBlank(func(p *part) bool { return strings.TrimSpace(p.Text) == "" })
			return nil
		}}
	}
	return docedit.Place{}
}

// editPart changes the data of a part.
func (d *difference) editPart(i int, edit func(doc *docedit.Row) error) error {
	doc := docedit.NewRow(docedit.Whole{Column: "data", Text: column.Bytes(d.parts[i]["data"])})
	if err := edit(doc); err != nil || len(doc.Changes()) == 0 {
		return err
	}
	row := maps.Clone(d.parts[i])
	row["data"] = column.Like(row["data"], string(doc.Document("data")))
	d.parts[i], d.changed = row, true
	return nil
}

// renameCall gives a call another id: its result is in the same row.
func (d *difference) renameCall(v change.Value) error {
	nth, at, open := v.Nth, -1, false
	for i := range d.m.parts {
		p := &d.m.parts[i]
		if p.wrong != "" || p.Type != typeTool {
			continue
		}
		if p.CallID == v.Was && open && p.isFinal() {
			return problem.New(problem.RolledBack, "", "%s", crossed)
		}
		open = open || p.CallID == v.Was && !p.isFinal()
		if nth--; nth == -1 && p.CallID == v.Was {
			at = i
		}
	}
	if at < 0 {
		return docedit.NotAsRead(columnParts)
	}
	return d.editPart(at, func(doc *docedit.Row) error { return doc.Put(document.Member("callID"), docedit.QuoteText(v.Is)) })
}

func (d *difference) dropBlank(blank func(p *part) bool) {
	for i := range d.m.parts {
		if p := &d.m.parts[i]; p.wrong == "" && p.Type == typeText && blank(p) {
			d.parts[i], d.changed = nil, true
		}
	}
}

// leaveOut takes blocks out of a message or of a result, and shows U+0000 in what they say.
func (d *difference) leaveOut(c *change.Item, e event) error {
	notes := c.OmissionNotes()
	if e.nth > 0 {
		text := callState.Member("output")
		said := d.Text(text)
		for n := range slices.Backward(e.eventPart().State.Attachments) {
			if note, leaves := notes[n+1]; leaves {
				said = strings.TrimPrefix(said+"\n"+note, "\n")
				if err := d.Put(callState.Member("attachments").Element(n), nil); err != nil {
					return err
				}
			}
		}
		if len(notes) > 0 {
			if err := d.Put(text, docedit.QuoteText(said)); err != nil {
				return err
			}
		}
		if c.Shown {
			return d.ShowNUL(spoken...)
		}
		return nil
	}
	m := message{Item: &session.Item{Shared: &session.Shared{}, Role: c.Was.Role}, event: e, reader: &reader{}}
	for i := range e.parts {
		p, from := &e.parts[i], len(m.Blocks)
		if p.wrong != "" {
			continue
		}
		m.addPart(p)
		if c.Shown {
			if err := d.showNUL(i); err != nil {
				return err
			}
		}
		for n := from; n < len(m.Blocks); n++ {
			if note, leaves := notes[n]; leaves && note == "" {
				d.parts[i], d.changed = nil, true
			} else if leaves {
				err := d.editPart(i, func(doc *docedit.Row) error {
					return doc.Put(document, jsontext.Value(`{"type":"text","text":`+string(docedit.QuoteText(note))+`}`))
				})
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// document and callState are the documents of a message or a part, and of a call in that; spoken are
// where it holds what is sent of it.
var (
	document  = docedit.Spot{Column: "data"}
	callState = document.Member("state")
	spoken    = []docedit.Spot{callState.Member("input"), callState.Member("output"), callState.Member("error"), callState.Member("metadata").Member("output")}
)

// showNUL shows U+0000 in a part of a message. Where the arguments of a call have it, it is shown in
// the result too, as the change of the result does: both are one row.
func (d *difference) showNUL(i int) error {
	places := spoken
	switch p := &d.m.parts[i]; {
	case p.Type == typeText:
		places = []docedit.Spot{document.Member("text")}
	case p.Type != typeTool || !p.Metadata.Server && !showsNUL(p.State.Input):
		return nil
	}
	return d.editPart(i, func(doc *docedit.Row) error { return doc.ShowNUL(places...) })
}

// endAnswer gives an answer the end that opencode gives to one that a person stopped, at the time
// at which its row changed last. One that has its finish was not stopped: a summary with an
// error would cover nothing. A text that was cut off is stored empty, and leaves.
func (d *difference) endAnswer() error {
	at, value := document.Member("time").Member("completed"), timeOf(d.m.row, "time_updated", "time_created")
	if d.Raw(document.Member("time")) == nil {
		at, value = document.Member("time"), `{"completed":`+value+`}`
	}
	if err := d.Put(at, jsontext.Value(value)); err != nil {
		return err
	}
	if d.Raw(document.Member("error")) == nil && d.m.info.Finish == "" {
		if err := d.Put(document.Member("error"), jsontext.Value(`{"name":"`+aborted+`","data":{"message":"Aborted"}}`)); err != nil {
			return err
		}
	}
	d.dropBlank(func(p *part) bool { return p.Text == "" })
	for i := range d.m.parts {
		p := &d.m.parts[i]
		if d.parts[i] == nil || p.wrong != "" || p.Type != typeText && p.Type != typeReasoning {
			continue
		}
		err := d.editPart(i, func(doc *docedit.Row) error {
			if time := document.Member("time"); doc.Raw(time) == nil || doc.Raw(time.Member("end")) != nil {
				return nil
			}
			return doc.Put(document.Member("time").Member("end"), jsontext.Value(timeOf(p.row, "time_updated", "time_created")))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// comparedContent is what counts of a column for what an event says. Results, and parts that cannot
// be read, are events of their own.
func comparedContent(name string, value any) any {
	e, _ := value.(event)
	if name != eventlog.ColumnEvent || e.nth > 0 || e.stored == nil {
		return value
	}
	var said []byte
	for i := range e.parts {
		p := &e.parts[i]
		if p.wrong != "" {
			continue
		}
		said = table.AppendExactly(said, p.row["id"])
		if p.Type == typeTool && !p.Metadata.Server {
			said = table.AppendExactly(said, p.CallID+"\x00"+p.Tool+"\x00"+string(p.State.Input))
		} else {
			said = table.AppendExactly(said, p.row["data"])
		}
	}
	return said
}
