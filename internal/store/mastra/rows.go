package mastra

import (
	"bytes"
	"context"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// joined shows a database in the form that eventlog reads. A row is a whole turn, which Mastra
// sends as several messages: what a step says with its calls, the results of these, the next step.
// Each of those is an event. Threads that have messages and no row are made from the messages.
type joined struct {
	*eventlog.Parted
	columns []string          // of messages
	ranks   map[string]int64  // of messages of one thread and time, by id: how many there are before
	threads map[string]string // the resources of threads, by id
}

// packing is that of events.
const packing eventlog.Packing = 15

func newJoined(db table.Reader) *joined {
	j := &joined{}
	j.Parted = &eventlog.Parted{Reader: db, Packing: packing, Sessions: tableThreads, Events: tableMessages, From: []eventlog.Source{{Table: tableThreads}, {}}, List: j.listEvents, Load: j.loadEvents}
	return j
}

// partMark stands in the key of an event between the id of its row and the number in it.
const partMark = "#part"

// event is one of those that a row is.
type event struct {
	*message
	piece
	stored func(name string) table.Value
}

// ColumnValue implements eventlog.Valued.
func (e event) ColumnValue(name string) table.Value {
	switch name {
	case eventlog.ColumnEvent:
		e.stored = nil // which is of the row that is being read
		return e
	case eventlog.ColumnPosition:
		return packing.PackPosition(e.began, e.rank, int64(e.nth))
	case "id":
		if e.nth > 0 {
			return e.id + partMark + strconv.Itoa(e.nth)
		}
	}
	return e.stored(name)
}

func (j *joined) listEvents(ctx context.Context, s table.Selection, fn func(at table.Place, e eventlog.Valued) error) ([]session.Fault, error) {
	s.Columns = j.columns
	return j.Reader.Scan(ctx, s, func(at table.Place, row []table.Value) error { return j.eachEvent(at, row, fn) })
}

func (j *joined) loadEvents(ctx context.Context, records []table.Place, fn func(at table.Place, e eventlog.Valued) error) error {
	rows := lists.MapEach(records, func(at table.Place) table.Place { return at >> packing })
	_, err := j.Reader.Rows(ctx, tableMessages, j.columns, rows, func(i int, row []table.Value) error { return j.eachEvent(rows[i], row, fn) })
	return err
}

// eachEvent hands over the events of a row.
func (j *joined) eachEvent(at table.Place, row []table.Value, fn func(at table.Place, e eventlog.Valued) error) error {
	stored := func(name string) table.Value {
		if i := slices.Index(j.columns, name); i >= 0 {
			return row[i]
		}
		return nil
	}
	m := &message{place: at, id: column.Text(stored("id")), role: column.Text(stored("role"))}
	m.rank, m.began = j.ranks[m.id], packing.LastTime() // texts sort behind all times that can be
	if stamp := times.Read(stored(fieldTime)); !stamp.IsZero() {
		m.began = stamp.UnixMilli()
	}
	m.readContent(bytes.Clone(column.Bytes(stored("content")))) // whose values are kept
	for _, p := range m.pieces {
		if err := fn(at<<packing|table.Place(p.nth), event{m, p, stored}); err != nil {
			return err
		}
	}
	return nil
}
