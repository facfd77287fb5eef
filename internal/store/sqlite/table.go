package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// Range are rows that could not be read, by rowid, both ends included. To is
// math.MaxInt64 when nothing behind From could be read.
type Range struct{ From, To int64 }

// Fault is the fault that tells of the lost rows of a table.
func (r Range) Fault(table string) session.Fault {
	rows := fmt.Sprintf("rows %d to %d", r.From, r.To)
	switch r.To {
	case r.From:
		rows = fmt.Sprintf("row %d", r.From)
	case math.MaxInt64:
		rows = fmt.Sprintf("row %d and all behind it", r.From)
	}
	f := fault(session.StoreDamaged, "", "%s of %s cannot be read: a page of the file is damaged", rows, table)
	f.Ref = session.Ref{Table: table, Key: strconv.FormatInt(r.From, 10)}
	if r.To == math.MaxInt64 {
		f.Ref.Key += "-" // nobody knows how many there are
	} else {
		f.Count = int(r.To - r.From + 1)
	}
	return f
}

// maxSeeks bounds the search for readable rows in a table, so that a file full
// of damage ends. One seek takes some 20 µs.
const maxSeeks = 100_000

// ScanTable hands all rows of a table to fn in the order of their rowids, with
// the columns (SQL expressions) that are asked for, as Scan does. Damaged
// pages do not end it: it goes on with the next row that can be read and
// returns the rowids that lay between, of which some may not have existed.
// Only rowids from 1 are sought behind damage at the start of the table.
func (db *DB) ScanTable(ctx context.Context, table string, columns []string, fn func(rowid int64, row []driver.Value) error) ([]Range, error) {
	rowid, err := db.RowID(ctx, table)
	if err != nil {
		return nil, err
	}
	name := Quoted(table)
	t := tableScan{
		db: db, fn: fn, next: math.MinInt64,
		scan: "select 1 from " + name + " not indexed where " + rowid + " >= ? and {scan}(" +
			strings.Join(append([]string{rowid}, columns...), ", ") + ")",
		seek: "select " + rowid + " from " + name + " not indexed where " + rowid + " >= ? order by " + rowid + " limit 1",
	}
	for !t.done {
		start := t.next
		err := t.run(ctx)
		if !errors.Is(err, errOrder) && !IsCorrupt(err) {
			return t.lost, err
		}
		if err := t.skip(ctx, start, err); err != nil {
			return t.lost, err
		}
	}
	return t.lost, nil
}

// errOrder is damage that SQLite follows without noticing: a page that lies in
// two places of the tree.
var errOrder = errors.New("rowids out of order")

type tableScan struct {
	db         *DB
	fn         func(rowid int64, row []driver.Value) error
	scan, seek string

	next  int64 // the lowest rowid not yet delivered or lost
	seeks int
	lost  []Range
	done  bool
}

// run delivers rows from next on until the end or an error.
func (t *tableScan) run(ctx context.Context) error {
	return t.db.Scan(ctx, t.scan, func(row []driver.Value) error {
		rowid := row[0].(int64)
		if rowid < t.next {
			return errOrder
		}
		t.advance(rowid)
		return t.fn(rowid, row[1:])
	}, t.next)
}

// advance goes on behind a rowid.
func (t *tableScan) advance(rowid int64) {
	if rowid == math.MaxInt64 {
		t.done = true
		return
	}
	t.next = rowid + 1
}

// lose gives up the rows up to a rowid.
func (t *tableScan) lose(from, to int64) {
	if n := len(t.lost); n > 0 && t.lost[n-1].To == from-1 {
		t.lost[n-1].To = to
	} else {
		t.lost = append(t.lost, Range{from, to})
	}
	t.advance(to)
}

// skip moves next to where the scan can go on that began at start and failed.
func (t *tableScan) skip(ctx context.Context, start int64, failure error) error {
	id, state, err := t.find(ctx, t.next)
	switch {
	case err != nil:
		return err
	case state == nothing || t.seeks > maxSeeks:
		t.lose(t.next, math.MaxInt64)
	case state == unreadable:
		return t.leap(ctx, max(t.next, 1))
	case id > t.next && errors.Is(failure, errOrder): // another page stood in the place of these
		t.lose(t.next, id-1)
	case id > t.next:
		t.next = id
	case t.next == start: // the key of the row can be read, but not the rest
		t.lose(id, id)
	}
	return nil
}

// leap loses the unreadable rows from low on: it looks for a readable place
// behind, in steps that grow with the distance, and then for the first.
func (t *tableScan) leap(ctx context.Context, low int64) error {
	first, step := low, int64(1)
	for n := 1; low <= math.MaxInt64-step && t.seeks < maxSeeks; n++ {
		_, state, err := t.find(ctx, low+step)
		if err != nil {
			return err
		}
		if state != unreadable {
			return t.land(ctx, first, low, low+step)
		}
		low += step
		if n%64 == 0 {
			step *= 2
		}
	}
	t.lose(first, math.MaxInt64)
	return nil
}

// land finds the first readable place between low, which is not, and high,
// which is, and loses what is before.
func (t *tableScan) land(ctx context.Context, first, low, high int64) error {
	for high-low > 1 {
		middle := low + (high-low)/2
		_, state, err := t.find(ctx, middle)
		if err != nil {
			return err
		}
		if state == unreadable {
			low = middle
		} else {
			high = middle
		}
	}
	t.lose(first, high-1)
	return nil
}

// place is what a seek finds.
type place uint8

const (
	nothing place = iota // no row from there on
	readable
	unreadable
)

// find seeks the first rowid that is not below low.
func (t *tableScan) find(ctx context.Context, low int64) (int64, place, error) {
	t.seeks++
	var id int64
	err := t.db.QueryRow(ctx, t.seek, low).Scan(&id)
	switch {
	case err == nil:
		return id, readable, nil
	case errors.Is(err, sql.ErrNoRows):
		return 0, nothing, nil
	case IsCorrupt(err):
		return 0, unreadable, nil
	}
	return 0, unreadable, err
}
