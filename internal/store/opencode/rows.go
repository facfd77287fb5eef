package opencode

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/table"
)

// joined shows a database in the form that eventlog reads: one table of events. An event is
// a message with its parts, or what such a message holds of another: the result of one of
// its calls, a part that cannot be read. The columns of the events are those of
// tableMessages and the following.
type joined struct {
	table.Reader
	sessions, tables []string // with sessions, and with messages

	mu    sync.Mutex
	ranks map[string]int64 // of messages that began in one millisecond: how many did before
}

func newJoined(db table.Reader) *joined {
	return &joined{Reader: db, sessions: []string{tableSessions}, ranks: map[string]int64{}}
}

// The columns that an event has besides those of its row.
const (
	columnParts    = "parts"    // of a message: the rows of its parts
	columnPosition = "position" // see order
	columnEvent    = "event"    // the event itself, in memory
)

var (
	messageColumns = []string{"id", "session_id", "time_created", "time_updated", "data"}
	partColumns    = []string{"id", "message_id", "session_id", "time_created", "time_updated", "data"}
	columnsOf      = map[string][]string{tableMessages: messageColumns, tableDraft: {"id", "session_id", "time_created", "time_updated", "data", "type", "seq"}}
	orderOf        = map[string]string{tableMessages: "time_created", tableDraft: "seq"}
	eventColumns   = []string{"id", "session_id", "time_created", "time_updated", "data", columnParts, columnPosition, columnEvent}
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

// A place of an event is that of its message's row, which table that is in, and the number of
// the part.
const (
	nthBits     = 16
	nthMask     = 1<<nthBits - 1
	draftBit    = 1 << nthBits
	sessionBits = 1 // tells the tables of sessions apart in the place of one
)

func placeOf(row table.Place, from string, nth int) table.Place {
	at := row<<(nthBits+1) | table.Place(min(nth, nthMask))
	if from == tableDraft {
		at |= draftBit
	}
	return at
}

// listEvents lists the events of a message: itself, and what it holds.
func (m *stored) listEvents() []event {
	events := []event{{m, 0}}
	for i := range m.parts {
		if p := &m.parts[i]; m.wrong == "" && (p.wrong != "" || p.isFinal() && m.info.Role == roleAssistant) {
			events = append(events, event{m, i + 1})
		}
	}
	return events
}

// eventPart is the part that an event is, nil for a message.
func (e event) eventPart() *part {
	if e.nth == 0 || e.nth > len(e.parts) {
		return nil
	}
	return &e.parts[e.nth-1]
}

// columnValue is the value of a column.
func (e event) columnValue(name string) table.Value {
	p := e.eventPart()
	switch {
	case name == columnEvent:
		return e
	case name == columnPosition && p != nil && p.wrong != "": // behind all results, which a repair adds to
		return positionOf(e.began, e.rank, nthMask/2+e.nth)
	case name == columnPosition:
		return positionOf(e.began, e.rank, e.nth)
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
	sessions := table.Table{Indexes: tables[j.sessions[0]].Indexes}
	for _, name := range sessionColumns {
		sessions.Columns = append(sessions.Columns, table.Column{Name: name})
	}
	tables[tableMessages], tables[tableSessions], schema.Tables = events, sessions, tables
	return schema, nil
}

// Stored implements eventlog.View.
func (j *joined) Stored() table.Reader { return j.Reader }

// About has no numbers of rows for people: those of events are not those of rows.
func (j *joined) About() table.About {
	about := j.Reader.About()
	about.Moving = true
	return about
}

// scanSessions hands over the sessions of all tables.
func (j *joined) scanSessions(ctx context.Context, s table.Selection, fn func(at table.Place, row []table.Value) error) (lost []session.Fault, err error) {
	schema, err := j.Reader.Schema(ctx)
	if err != nil {
		return nil, err
	}
	wanted := s.Columns
	for n, name := range j.sessions {
		there, spread := schema.Present(name, wanted)
		s.Table, s.Columns = name, there
		faults, err := j.Reader.Scan(ctx, s, func(at table.Place, row []table.Value) error {
			return fn(at<<sessionBits|table.Place(n), spread(row))
		})
		if lost = append(lost, faults...); err != nil {
			return lost, err
		}
	}
	return lost, nil
}

// readSessionRows hands over the sessions at places.
func (j *joined) readSessionRows(ctx context.Context, columns []string, places []table.Place, fn func(n int, row []table.Value) error) (unread []int, err error) {
	schema, err := j.Reader.Schema(ctx)
	if err != nil {
		return nil, err
	}
	for n, name := range j.sessions {
		var rows []table.Place
		var at []int
		for i, place := range places {
			if int(place&1) == n {
				rows, at = append(rows, place>>sessionBits), append(at, i)
			}
		}
		there, spread := schema.Present(name, columns)
		missing, err := j.Reader.Rows(ctx, name, there, rows, func(n int, row []table.Value) error { return fn(at[n], spread(row)) })
		if err != nil {
			return nil, err
		}
		for _, i := range missing {
			unread = append(unread, at[i])
		}
	}
	return unread, nil
}

// Scan implements table.Reader.
func (j *joined) Scan(ctx context.Context, s table.Selection, fn func(at table.Place, row []table.Value) error) ([]session.Fault, error) {
	switch s.Table {
	case tableMessages:
	case tableSessions:
		return j.scanSessions(ctx, s, fn)
	default:
		return j.Reader.Scan(ctx, s, fn)
	}
	heads, lost, err := j.listHeads(ctx, s)
	if err != nil {
		return lost, err
	}
	err = j.loadMessages(ctx, heads, func(m *stored) error {
		for _, e := range m.listEvents() {
			if err := fn(placeOf(m.place, m.table, e.nth), e.columnValues(s.Columns)); err != nil {
				return err
			}
		}
		return nil
	}, func(h head) error { // its row is read again with the texts, and told of there
		m := &stored{head: h, row: table.Image{"id": h.id, "session_id": h.session, "time_created": h.began}}
		return fn(h.at, event{m, 0}.columnValues(s.Columns))
	})
	if err == table.Enough { //nolint:errorlint // it is given back as it is
		err = nil
	}
	return lost, err
}

func (e event) columnValues(columns []string) []table.Value {
	row := make([]table.Value, len(columns))
	for i, name := range columns {
		row[i] = e.columnValue(name)
	}
	return row
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
				places, at = append(places, heads[i].at>>(nthBits+1)), append(at, i)
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

// Rows implements table.Reader.
func (j *joined) Rows(ctx context.Context, name string, columns []string, places []table.Place, fn func(n int, row []table.Value) error) (unread []int, err error) {
	switch name {
	case tableMessages:
	case tableSessions:
		return j.readSessionRows(ctx, columns, places, fn)
	default:
		return j.Reader.Rows(ctx, name, columns, places, fn)
	}
	wanted := map[table.Place]int{}
	var heads []head
	known := map[table.Place]bool{}
	for n, at := range places {
		wanted[at] = n
		h := head{table: tableMessages, at: at &^ nthMask}
		if h.at&draftBit != 0 {
			h.table = tableDraft
		}
		if !known[h.at] {
			known[h.at], heads = true, append(heads, h)
		}
	}
	err = j.loadMessages(ctx, heads, func(m *stored) error {
		for _, e := range m.listEvents() {
			at := placeOf(m.place, m.table, e.nth)
			n, ok := wanted[at]
			if !ok {
				continue
			}
			delete(wanted, at)
			if err := fn(n, e.columnValues(columns)); err != nil {
				return err
			}
		}
		return nil
	}, func(head) error { return nil })
	for _, n := range wanted {
		unread = append(unread, n)
	}
	slices.Sort(unread)
	return unread, err
}
