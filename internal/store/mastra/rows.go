package mastra

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/table"
)

// joined shows a database in the form that eventlog reads. A row is a whole turn, which Mastra
// sends as several messages: what a step says with its calls, the results of these, the next step.
// Each of those is an event.
type joined struct {
	table.Reader
	columns []string          // of messages
	ranks   map[string]int64  // of messages of one thread and time, by id: how many there are before
	threads map[string]string // the resources of threads, by id
	lost    []*thread         // threads that have messages, and no row
	open    sync.Map          // by id of a row with calls without a result: what run these wait for, by call
}

// The columns that an event has besides those of its row.
const (
	columnPosition = "position"
	columnEvent    = "event" // the event itself, in memory
)

// partMark stands in the key of an event between the id of its row and the number in it.
const partMark = "#part"

// A position is the millisecond, the rank of the row among those of that time, and the number of
// the event; the place of an event that of its row and its number.
const (
	nthBits      = 15
	rankBits     = 6
	positionBits = nthBits + rankBits
	nthMask      = 1<<nthBits - 1
	mostTime     = 1 << (63 - positionBits)
)

// event is one of those that a row is.
type event struct {
	*message
	piece
}

// columnValue is the value of a column that an event has besides those of its row.
func (e event) columnValue(name string, stored table.Value) table.Value {
	switch name {
	case columnEvent:
		return e
	case columnPosition:
		return e.packPosition()
	case "id":
		if e.nth > 0 {
			return e.id + partMark + strconv.Itoa(e.nth)
		}
	}
	return stored
}

func (e event) packPosition() int64 {
	return max(0, min(e.began, mostTime-1))<<positionBits | min(e.rank, 1<<rankBits-1)<<nthBits | int64(e.nth)
}

// Stored implements eventlog.View.
func (j *joined) Stored() table.Reader { return j.Reader }

// About has no numbers of rows for people: those of events are not those of rows.
func (j *joined) About() table.About {
	about := j.Reader.About()
	about.Moving = true
	return about
}

// Scan implements table.Reader.
func (j *joined) Scan(ctx context.Context, s table.Selection, fn func(at table.Place, row []table.Value) error) ([]session.Fault, error) {
	switch s.Table {
	case tableThreads:
		return j.scanThreads(ctx, s, fn)
	case tableMessages:
	default:
		return j.Reader.Scan(ctx, s, fn)
	}
	wanted := s.Columns
	s.Columns = j.columns
	return j.Reader.Scan(ctx, s, func(at table.Place, row []table.Value) error {
		return j.eachEvent(at, row, wanted, fn)
	})
}

// eachEvent hands over some columns of the events of a row.
func (j *joined) eachEvent(at table.Place, row []table.Value, columns []string, fn func(at table.Place, row []table.Value) error) error {
	stored := func(name string) table.Value {
		if i := slices.Index(j.columns, name); i >= 0 {
			return row[i]
		}
		return nil
	}
	m := &message{place: at, id: column.Text(stored("id")), role: column.Text(stored("role"))}
	m.rank, m.began = j.ranks[m.id], mostTime-1 // texts sort behind all times that can be
	if stamp := times.Read(stored(fieldTime)); !stamp.IsZero() {
		m.began = stamp.UnixMilli()
	}
	m.readContent(bytes.Clone(column.Bytes(stored("content")))) // whose values are kept
	for _, p := range m.pieces {
		values := make([]table.Value, len(columns))
		for i, name := range columns {
			values[i] = event{m, p}.columnValue(name, stored(name))
		}
		if err := fn(at<<nthBits|table.Place(p.nth), values); err != nil {
			return err
		}
	}
	return nil
}

// Rows implements table.Reader.
func (j *joined) Rows(ctx context.Context, name string, columns []string, places []table.Place, fn func(n int, row []table.Value) error) (unread []int, err error) {
	switch name {
	case tableThreads:
		return j.threadRows(ctx, columns, places, fn)
	case tableMessages:
	default:
		return j.Reader.Rows(ctx, name, columns, places, fn)
	}
	wanted, rows := map[table.Place]int{}, []table.Place{}
	for n, at := range places {
		wanted[at] = n
		if row := at >> nthBits; !slices.Contains(rows[max(0, len(rows)-1):], row) { // events of a row come together
			rows = append(rows, row)
		}
	}
	_, err = j.Reader.Rows(ctx, name, j.columns, rows, func(i int, row []table.Value) error {
		return j.eachEvent(rows[i], row, columns, func(at table.Place, row []table.Value) error {
			n, ok := wanted[at]
			if delete(wanted, at); !ok {
				return nil
			}
			return fn(n, row)
		})
	})
	for _, n := range wanted {
		unread = append(unread, n)
	}
	slices.Sort(unread)
	return unread, err
}

// thread is one that has messages, and no row: what such a row would be, but for its title.
type thread struct{ id, resource, first, last string }

// addRow takes in a message: its thread, its time, and whose it is.
func (t *thread) addRow(row []table.Value) {
	at := column.Text(row[1])
	if t.first == "" || at < t.first {
		t.first = at
	}
	if t.last = max(t.last, at); t.resource == "" {
		t.resource = column.Text(row[2])
	}
}

func (t *thread) columnValues(columns []string) []table.Value {
	values := map[string]table.Value{"id": t.id, fieldResource: t.resource, fieldTime: t.first, "updatedAt": t.last, fieldTime + "Z": t.first, "updatedAtZ": t.last}
	row := make([]table.Value, len(columns))
	for i, name := range columns {
		row[i] = values[name]
	}
	return row
}

// firstLost is the place of the first of those threads; the others are before it.
const firstLost = table.Place(-2)

// scanThreads hands over the threads, those without a row last.
func (j *joined) scanThreads(ctx context.Context, s table.Selection, fn func(at table.Place, row []table.Value) error) ([]session.Fault, error) {
	var ended error
	faults, err := j.Reader.Scan(ctx, s, func(at table.Place, row []table.Value) error {
		ended = fn(at, row)
		return ended
	})
	for n := 0; n < len(j.lost) && err == nil && ended == nil; n++ {
		err = fn(firstLost-table.Place(n), j.lost[n].columnValues(s.Columns))
	}
	return faults, err
}

func (j *joined) threadRows(ctx context.Context, columns []string, places []table.Place, fn func(n int, row []table.Value) error) (unread []int, err error) {
	var stored []table.Place
	var at []int
	for n, place := range places {
		if place >= 0 {
			stored, at = append(stored, place), append(at, n)
		} else if err = fn(n, j.lost[firstLost-place].columnValues(columns)); err != nil {
			return nil, err
		}
	}
	missing, err := j.Reader.Rows(ctx, tableThreads, columns, stored, func(n int, row []table.Value) error { return fn(at[n], row) })
	for _, n := range missing {
		unread = append(unread, at[n])
	}
	return unread, err
}
