package opencode

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// joined shows a database in the form that eventlog reads: one table of events. An event is
// a message with its parts, or what such a message holds of another: the result of one of
// its calls, a part that cannot be read. The columns of the events are those of
// tableMessages and the following.
type joined struct {
	*eventlog.Parted
	tables []string // with messages

	mu    sync.Mutex
	ranks map[string]int64 // of messages that began in one millisecond: how many did before
}

func newJoined(db table.Reader) *joined {
	j := &joined{ranks: map[string]int64{}}
	j.Parted = &eventlog.Parted{Reader: db, Packing: packing, Sessions: tableSessions, Events: tableMessages, From: []eventlog.Source{{Table: tableSessions}}, List: j.listEvents, Load: j.loadEvents}
	return j
}

// columnParts are the rows of the parts of a message, a column that an event has besides those of its row.
const columnParts = "parts"

var (
	messageColumns = []string{"id", "session_id", "time_created", "time_updated", "data"}
	partColumns    = []string{"id", "message_id", "session_id", "time_created", "time_updated", "data"}
	columnsOf      = map[string][]string{tableMessages: messageColumns, tableDraft: {"id", "session_id", "time_created", "time_updated", "data", "type", "seq"}}
	orderOf        = map[string]string{tableMessages: "time_created", tableDraft: "seq"}
	eventColumns   = []string{"id", "session_id", "time_created", "time_updated", "data", columnParts, eventlog.ColumnPosition, eventlog.ColumnEvent}
)

// stored is a message with its parts, which are sorted by their ids.
type stored struct {
	head
	place table.Place // of its row
	row   table.Image
	parts []part // those of session_message are the calls that a message holds
	info  info
	wrong string // why it cannot be read
	whole bool   // it is JSON of a form that is not known
}

// head is what tells where a message stands.
type head struct {
	table       string
	id, session string
	at          table.Place // of the event
	began, rank int64
}

// event is a message, or the part of it that nth is the number of, from 1.
type event struct {
	*stored
	nth int
}

// packing is that of events.
const packing eventlog.Packing = 16

// draftBit tells the tables of messages apart in the place of an event.
const draftBit = 1 << packing

func placeOf(row table.Place, from string, nth int) table.Place {
	at := row<<(packing+1) | table.Place(min(int64(nth), packing.Last()))
	if from == tableDraft {
		at |= draftBit
	}
	return at
}

// eachEvent hands over the events of a message: itself, and what it holds.
func (m *stored) eachEvent(fn func(at table.Place, e eventlog.Valued) error) error {
	err := fn(placeOf(m.place, m.table, 0), event{m, 0})
	for i := range m.parts {
		if p := &m.parts[i]; err == nil && m.wrong == "" && (p.wrong != "" || p.isFinal() && m.info.Role == roleAssistant) {
			err = fn(placeOf(m.place, m.table, i+1), event{m, i + 1})
		}
	}
	return err
}

// eventPart is the part that an event is, nil for a message.
func (e event) eventPart() *part {
	if e.nth == 0 || e.nth > len(e.parts) {
		return nil
	}
	return &e.parts[e.nth-1]
}

// ColumnValue implements eventlog.Valued.
func (e event) ColumnValue(name string) table.Value {
	p := e.eventPart()
	switch {
	case name == eventlog.ColumnEvent:
		return e
	case name == eventlog.ColumnPosition && p != nil && p.wrong != "": // behind all results, which a repair adds to
		return packing.PackPosition(e.began, e.rank, packing.Last()/2+int64(e.nth))
	case name == eventlog.ColumnPosition:
		return packing.PackPosition(e.began, e.rank, int64(e.nth))
	case name == columnParts && e.nth == 0 && e.table == tableMessages:
		return string(e.encodeParts())
	case p != nil && (name == "id" || name == "data"):
		return p.row[name]
	}
	return e.row[name]
}

// encodeParts encodes the rows of the parts, as JSON.
func (m *stored) encodeParts() []byte {
	list := []byte{'['}
	for i := range m.parts {
		if i > 0 {
			list = append(list, ',')
		}
		text, _ := m.parts[i].row.MarshalJSON() // never fails on values of rows
		list = append(list, text...)
	}
	return append(list, ']')
}

// Schema has the columns of events besides.
func (j *joined) Schema(ctx context.Context) (table.Schema, error) {
	schema, err := j.Reader.Schema(ctx)
	if err != nil {
		return schema, err
	}
	tables := make(map[string]table.Table, len(schema.Tables))
	for name, t := range schema.Tables {
		tables[name] = t
	}
	events := tables[tableMessages]
	events.Columns = slices.Clone(events.Columns)
	for _, name := range eventColumns {
		if !schema.HasColumns(tableMessages, name) {
			events.Columns = append(events.Columns, table.Column{Name: name})
		}
	}
	events.Indexes = []table.Index{{Name: "id", Columns: []string{"id"}, Unique: true}} // of both tables
	sessions := table.Table{Indexes: tables[j.From[0].Table].Indexes}
	for _, name := range sessionColumns {
		sessions.Columns = append(sessions.Columns, table.Column{Name: name})
	}
	tables[tableMessages], tables[tableSessions], schema.Tables = events, sessions, tables
	return schema, nil
}

func (j *joined) listEvents(ctx context.Context, s table.Selection, fn func(at table.Place, e eventlog.Valued) error) ([]session.Fault, error) {
	heads, lost, err := j.listHeads(ctx, s)
	if err != nil {
		return lost, err
	}
	return lost, j.loadMessages(ctx, heads, func(m *stored) error { return m.eachEvent(fn) }, func(h head) error { // its row is read again with the texts, and told of there
		return fn(h.at, event{&stored{head: h, row: table.Image{"id": h.id, "session_id": h.session, "time_created": h.began}}, 0})
	})
}

func (j *joined) loadEvents(ctx context.Context, records []table.Place, fn func(at table.Place, e eventlog.Valued) error) error {
	heads := make([]head, len(records))
	for i, at := range records {
		heads[i] = head{table: tableMessages, at: at}
		if at&draftBit != 0 {
			heads[i].table = tableDraft
		}
	}
	return j.loadMessages(ctx, heads, func(m *stored) error { return m.eachEvent(fn) }, func(head) error { return nil })
}

// listHeads lists the messages of a selection, by session and in their order.
func (j *joined) listHeads(ctx context.Context, s table.Selection) (heads []head, lost []session.Fault, err error) {
	for _, from := range j.tables {
		s.Table, s.Columns = from, []string{"id", "session_id", orderOf[from]}
		faults, err := j.Reader.Scan(ctx, s, func(at table.Place, row []table.Value) error {
			began, _ := column.Int(row[2])
			heads = append(heads, head{table: from, id: column.Text(row[0]), session: column.Text(row[1]), began: began, at: placeOf(at, from, 0)})
			return nil
		})
		if lost = append(lost, faults...); err != nil {
			return nil, lost, err
		}
	}
	slices.SortFunc(heads, func(a, b head) int {
		return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.began, b.began), cmp.Compare(a.id, b.id))
	})
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range heads {
		if i > 0 && heads[i].session == heads[i-1].session && heads[i].began == heads[i-1].began {
			heads[i].rank = heads[i-1].rank + 1
		}
		if heads[i].rank > 0 || j.ranks[heads[i].id] > 0 {
			j.ranks[heads[i].id] = heads[i].rank
		}
	}
	return heads, lost, nil
}

// messagesAtOnce are read with one query.
const messagesAtOnce = 256

// loadMessages reads messages with their parts. Those that cannot be read are handed to lost.
func (j *joined) loadMessages(ctx context.Context, heads []head, fn func(m *stored) error, lost func(h head) error) error {
	for chunk := range slices.Chunk(heads, messagesAtOnce) {
		messages, err := j.readMessages(ctx, chunk)
		if err == nil {
			err = j.readParts(ctx, messages)
		}
		if err != nil && len(chunk) > 1 && ctx.Err() == nil { // damage: what of them it is
			for i := range chunk {
				if err := j.loadMessages(ctx, chunk[i:i+1], fn, lost); err != nil {
					return err
				}
			}
			continue
		}
		for i, m := range messages {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case m == nil || err != nil:
				if err := lost(chunk[i]); err != nil {
					return err
				}
			default:
				m.decodeRows()
				if err := fn(m); err != nil {
					return err
				}
			}
		}
		if messages == nil && err != nil {
			return err
		}
	}
	return nil
}

// readMessages reads the rows of messages, nil for one that cannot be read.
func (j *joined) readMessages(ctx context.Context, heads []head) ([]*stored, error) {
	messages := make([]*stored, len(heads))
	for _, from := range j.tables {
		var places []table.Place
		var at []int
		for i := range heads {
			if heads[i].table == from {
				places, at = append(places, heads[i].at>>(packing+1)), append(at, i)
			}
		}
		columns := columnsOf[from]
		_, err := j.Reader.Rows(ctx, from, columns, places, func(n int, row []table.Value) error {
			m := &stored{head: heads[at[n]], place: places[n], row: keepValues(columns, row)}
			m.id, m.session = column.View(m.row["id"]), column.View(m.row["session_id"])
			m.began, _ = column.Int(m.row[orderOf[from]])
			messages[at[n]] = m
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, m := range messages {
		if m != nil {
			m.rank = j.ranks[m.id]
		}
	}
	return messages, nil
}

func keepValues(columns []string, row []table.Value) table.Image {
	values := make(table.Image, len(columns))
	for i, name := range columns {
		values[name] = table.CloneValue(row[i])
	}
	return values
}

// readParts adds the parts of messages.
func (j *joined) readParts(ctx context.Context, messages []*stored) error {
	byID, keys := map[string]*stored{}, [][]table.Value{}
	for _, m := range messages {
		if m != nil && m.table == tableMessages {
			byID[m.id], keys = m, append(keys, []table.Value{m.id})
			m.parts = []part{}
		}
	}
	if len(keys) == 0 {
		return nil
	}
	selection := table.Selection{Table: tableParts, Columns: partColumns, Key: []string{"message_id"}, Keys: keys}
	_, err := j.Reader.Scan(ctx, selection, func(at table.Place, row []table.Value) error {
		if m := byID[column.View(row[1])]; m != nil {
			m.parts = append(m.parts, part{place: at, row: keepValues(partColumns, row)})
		}
		return nil
	})
	for _, m := range byID {
		slices.SortFunc(m.parts, func(a, b part) int {
			return cmp.Or(cmp.Compare(column.View(a.row["id"]), column.View(b.row["id"])), cmp.Compare(a.place, b.place))
		})
	}
	return err
}
