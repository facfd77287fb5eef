package eventlog

import (
	"context"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/table"
)

// Packing says how many bits the number of an event in its record has, in the positions and places
// of a Parted database. A position is the millisecond of the record, the rank of that among those of
// the same time, and the number; a place is that of the record and the number. Receipts hold sums
// over positions, so a runtime keeps its packing.
type Packing uint

const rankBits = 6

// PositionBits are those of a position below the time.
func (n Packing) PositionBits() uint { return uint(n) + rankBits }

// Last is the last number that an event can have.
func (n Packing) Last() int64 { return 1<<n - 1 }

// NumberOf is the number of the event at a place or position.
func (n Packing) NumberOf(at int64) int { return int(at & n.Last()) }

// LastTime is the last millisecond that a position holds.
func (n Packing) LastTime() int64 { return 1<<(63-n.PositionBits()) - 1 }

// PackPosition packs a position.
func (n Packing) PackPosition(began, rank, nth int64) int64 {
	return max(0, min(began, n.LastTime()))<<n.PositionBits() | min(rank, 1<<rankBits-1)<<n | min(nth, n.Last())
}

// OneRecord reports of two positions in a session whether they are of one record.
func (n Packing) OneRecord(a, b int64) bool { return a>>n == b>>n }

// OneTime is Write.Tied of a Parted database.
func (n Packing) OneTime(a, b int64) bool { return a>>n.PositionBits() == b>>n.PositionBits() }

// The columns that an event has besides those of its record.
const (
	ColumnPosition = "position"
	ColumnEvent    = "event" // the event itself, in memory
)

// OrderByPosition is Layout.Order of a Parted database.
func OrderByPosition(_ table.Place, row Row) (at, tie int64) {
	at, _ = column.Int(row.Value(ColumnPosition))
	return at, 0
}

// Parted is a View of a database in which a record is several events, as a message with the results
// that it holds, and which may have sessions in several places.
type Parted struct {
	table.Reader
	Packing                 // 0 where each record is one event
	Sessions, Events string // the tables that are shown so
	From             []Source
	// List hands the events of a selection over, and Load those of some records.
	List func(ctx context.Context, s table.Selection, fn func(at table.Place, e Valued) error) ([]session.Fault, error)
	Load func(ctx context.Context, records []table.Place, fn func(at table.Place, e Valued) error) error
}

// Source is where sessions are: a table, or rows that are stored in none. Also are values of columns
// that a table does not have, the same for each row.
type Source struct {
	Table string
	Also  table.Image
	Made  []table.Image
}

// SourceOf is the source of a session, and its place there.
func (p *Parted) SourceOf(at table.Place) (from *Source, row table.Place) {
	n, row := SplitPlace(at, len(p.From))
	return &p.From[n], row
}

// SplitPlace is which of several tables a place is in, and the place there, which may be below zero.
func SplitPlace(at table.Place, count int) (n int, row table.Place) {
	all := table.Place(count)
	in := (at%all + all) % all
	return int(in), (at - in) / all
}

// NarrowKey leaves columns that a source has of all rows out of the key of a selection. More rows than
// before may come.
func (from *Source) NarrowKey(s table.Selection) table.Selection {
	for i, name := range slices.Backward(s.Key) {
		if _, also := from.Also[name]; also {
			s.Key, s.Keys = slices.Delete(slices.Clone(s.Key), i, i+1), slices.Clone(s.Keys)
			for n, key := range s.Keys {
				s.Keys[n] = slices.Delete(slices.Clone(key), i, i+1)
			}
		}
	}
	return s
}

// spreadRow is what spread makes of a row, with the columns that the source has of all.
func (from *Source) spreadRow(spread func(row []table.Value) []table.Value, row []table.Value, columns []string) []table.Value {
	row = spread(row)
	for i, name := range columns {
		if value, also := from.Also[name]; also {
			row[i] = value
		}
	}
	return row
}

// Valued is an event as a row.
type Valued interface {
	ColumnValue(name string) table.Value
}

// made is a row that is stored in no table.
type made table.Image

func (m made) ColumnValue(name string) table.Value { return m[name] }

func valuesOf(e Valued, columns []string) []table.Value {
	row := make([]table.Value, len(columns))
	for i, name := range columns {
		row[i] = e.ColumnValue(name)
	}
	return row
}

// Stored implements View.
func (p *Parted) Stored() table.Reader { return p.Reader }

// About has no numbers of rows for people: those of events are not those of rows.
func (p *Parted) About() table.About {
	about := p.Reader.About()
	about.Moving = true
	return about
}

// Scan implements table.Reader.
func (p *Parted) Scan(ctx context.Context, s table.Selection, fn func(at table.Place, row []table.Value) error) (lost []session.Fault, err error) {
	switch s.Table {
	case p.Events:
		lost, err = p.List(ctx, s, func(at table.Place, e Valued) error { return fn(at, valuesOf(e, s.Columns)) })
	case p.Sessions:
		lost, err = p.scanSessions(ctx, s, fn)
	default:
		return p.Reader.Scan(ctx, s, fn)
	}
	if err == table.Enough { //nolint:errorlint // it is given back as it is
		err = nil
	}
	return lost, err
}

func (p *Parted) scanSessions(ctx context.Context, s table.Selection, fn func(at table.Place, row []table.Value) error) (lost []session.Fault, err error) {
	schema, err := p.Schema(ctx)
	wanted, ended := s.Columns, error(nil)
	for n, from := range p.From {
		hand := func(at table.Place, row []table.Value) error {
			ended = fn(at*table.Place(len(p.From))+table.Place(n), row)
			return ended
		}
		if from.Table != "" && err == nil && ended == nil {
			there, spread := schema.Present(from.Table, wanted)
			var faults []session.Fault
			part := from.NarrowKey(s)
			part.Table, part.Columns = from.Table, there
			faults, err = p.Reader.Scan(ctx, part, func(at table.Place, row []table.Value) error { return hand(at, from.spreadRow(spread, row, wanted)) })
			lost = append(lost, faults...)
		}
		for i := 0; i < len(from.Made) && err == nil && ended == nil; i++ {
			err = hand(table.Place(i), valuesOf(made(from.Made[i]), wanted))
		}
	}
	return lost, err
}

// Rows implements table.Reader.
func (p *Parted) Rows(ctx context.Context, name string, columns []string, places []table.Place, fn func(n int, row []table.Value) error) (unread []int, err error) {
	switch name {
	case p.Events:
	case p.Sessions:
		return p.sessionRows(ctx, columns, places, fn)
	default:
		return p.Reader.Rows(ctx, name, columns, places, fn)
	}
	wanted, records := make(map[table.Place]int, len(places)), []table.Place{}
	for n, at := range places {
		wanted[at] = n
		if record := at >> p.Packing << p.Packing; !slices.Contains(records[max(0, len(records)-1):], record) { // events of a record come together
			records = append(records, record)
		}
	}
	err = p.Load(ctx, records, func(at table.Place, e Valued) error {
		n, ok := wanted[at]
		if delete(wanted, at); !ok {
			return nil
		}
		return fn(n, valuesOf(e, columns))
	})
	for _, n := range wanted {
		unread = append(unread, n)
	}
	slices.Sort(unread)
	return unread, err
}

func (p *Parted) sessionRows(ctx context.Context, columns []string, places []table.Place, fn func(n int, row []table.Value) error) (unread []int, err error) {
	schema, err := p.Schema(ctx)
	for n := range p.From {
		var rows []table.Place
		var at []int
		for i, place := range places {
			switch from, row := p.SourceOf(place); {
			case err != nil || from != &p.From[n]:
			case from.Table != "":
				rows, at = append(rows, row), append(at, i)
			default:
				err = fn(i, valuesOf(made(from.Made[row]), columns))
			}
		}
		if len(rows) == 0 || err != nil {
			continue
		}
		from := &p.From[n]
		there, spread := schema.Present(from.Table, columns)
		var missing []int
		missing, err = p.Reader.Rows(ctx, from.Table, there, rows, func(n int, row []table.Value) error { return fn(at[n], from.spreadRow(spread, row, columns)) })
		for _, i := range missing {
			unread = append(unread, at[i])
		}
	}
	return unread, err
}

// Through is an editor of a database that a view shows: what embeds it writes changes of the view.
type Through struct {
	table.Editor
	View table.Reader
}

// Base implements Wrapped.
func (t *Through) Base() table.Editor { return t.Editor }

// Reader implements table.Editor.
func (t *Through) Reader() table.Reader { return t.View }

// KindThrough is Kind for stores that a view shows, whose changes an editor writes into the records.
func KindThrough(k store.Kind, detect func(ctx context.Context, db table.Reader, stored table.Schema) store.Detection, reread Reread,
	view func(db table.Reader) table.Reader, editor func(e table.Editor) table.Editor,
) store.Kind {
	k.Open = func(ctx context.Context, src *store.Source, opts store.Options) (store.Store, error) {
		shown := *src
		shown.DB = view(src.DB)
		return OpenBy(ctx, &shown, opts, reread)
	}
	k.Edit = func(ctx context.Context, src *store.Source) (store.Editor, error) {
		shown := *src
		shown.Edit = func(ctx context.Context) (table.Editor, error) {
			e, err := src.Edit(ctx)
			if err != nil {
				return nil, err
			}
			return editor(e), nil
		}
		return Edit(ctx, &shown, reread)
	}
	return Kind(k, detect, reread)
}
