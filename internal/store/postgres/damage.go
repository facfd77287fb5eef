package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// salvager reads what a damaged table still has, by ranges of places that are cut in
// half until what cannot be read is one row or one page.
type salvager struct {
	q     *selection
	keys  *selection // only the key, which a damaged long value leaves readable
	names []string   // of the key
	fn    func(at table.Place, row []table.Value) error

	rows, pages int // that are lost
	hidden      int // rows of which only the key was read
	why         error
}

// rangesSince is the first version whose scans of a range of places read no other page
// (PostgreSQL 14, release notes E.23).
const rangesSince = 14

// salvageScan goes on with a scan that damage ended, behind the place of the last row that
// it gave.
func (db *DB) salvageScan(ctx context.Context, q *selection, s table.Selection, last table.Place, fn func(at table.Place, row []table.Value) error) ([]session.Fault, error) {
	version := majorVersion(db.conn.ParameterStatus("server_version"))
	lost := session.Fault{Kind: session.StoreDamaged, Item: -1, Lost: true, Ref: session.Ref{Table: s.Table, Key: "*"}}
	if version < rangesSince {
		lost.Detail = fmt.Sprintf("a part of %s cannot be read, and what comes after it was not read: a server before PostgreSQL %d cannot leave out a damaged page", s.Table, rangesSince)
		return []session.Fault{lost}, nil
	}
	pages := table.Place(0)
	err := db.queryTexts(ctx, "select pg_relation_size($1::regclass) / current_setting('block_size')::int", func(row []string) error {
		n, err := strconv.ParseInt(row[0], 10, 64)
		pages = table.Place(n)
		return err
	}, q.from)
	if err != nil {
		return nil, err
	}
	v := &salvager{q: q, names: s.Key, fn: fn}
	if s.Key != nil {
		if v.keys, err = db.newSelection(s.Table, s.Key); err != nil {
			return nil, err
		}
	}
	if err := v.readRange(ctx, last+1, pages<<16); err != nil && !errors.Is(err, table.Enough) {
		return nil, err
	}
	if v.rows+v.pages == 0 { // what was hidden is a fault of its event
		return nil, nil
	}
	lost.Count = v.rows
	lost.Detail = fmt.Sprintf("%s of %s cannot be read: %s", lostOf(v.pages, v.rows), s.Table, stateOf(v.why))
	return []session.Fault{lost}, nil
}

func lostOf(pages, rows int) string {
	count := func(n int, what string) string {
		if n == 1 {
			return "1 " + what
		}
		return fmt.Sprint(n, " ", what, "s")
	}
	switch {
	case pages == 0:
		return count(rows, "row")
	case rows == 0:
		return count(pages, "page")
	}
	return count(pages, "page") + " and " + count(rows, "row")
}

// readRange hands over the rows of the places from lo up to hi, which may be hidden in part.
func (v *salvager) readRange(ctx context.Context, lo, hi table.Place) error {
	for lo < hi {
		last := lo - 1
		err := v.runBetween(ctx, v.q, lo, hi, func(at table.Place, row []table.Value) error {
			last = at
			return v.fn(at, row)
		})
		if !isDamage(err) {
			return err
		}
		v.why = err
		lo = last + 1
		if lo>>16 == (hi-1)>>16 {
			return v.readPage(ctx, lo, hi)
		}
		middle := (lo>>16 + (hi-1)>>16 + 1) / 2 << 16
		if err := v.readRange(ctx, lo, middle); err != nil {
			return err
		}
		lo = middle
	}
	return nil
}

// readPage hands over the rows of one page, one by one.
func (v *salvager) readPage(ctx context.Context, lo, hi table.Place) error {
	var places []table.Place
	none := *v.q
	none.columns, none.types, none.formats = nil, nil, v.q.formats[:1]
	err := v.runBetween(ctx, &none, lo, hi, func(at table.Place, _ []table.Value) error {
		places = append(places, at)
		return nil
	})
	if isDamage(err) {
		v.pages++
		return nil
	}
	for _, at := range places {
		if err := cmp.Or(err, v.readRow(ctx, at)); err != nil {
			return err
		}
	}
	return err
}

// readRow hands over one row, with nil for all but its key where the rest is hidden.
func (v *salvager) readRow(ctx context.Context, at table.Place) error {
	err := v.runBetween(ctx, v.q, at, at+1, v.fn)
	if !isDamage(err) {
		return err
	}
	v.why = err
	if v.keys != nil {
		err = v.runBetween(ctx, v.keys, at, at+1, func(at table.Place, key []table.Value) error {
			row := make([]table.Value, len(v.q.columns))
			for i, name := range v.names {
				if c := slices.Index(v.q.columns, name); c >= 0 {
					row[c] = key[i]
				}
			}
			v.hidden++
			return v.fn(at, row)
		})
		if !isDamage(err) {
			return err
		}
	}
	v.rows++
	return nil
}

func (v *salvager) runBetween(ctx context.Context, q *selection, lo, hi table.Place, fn func(at table.Place, row []table.Value) error) error {
	_, err := q.db.withSavepoint(ctx, func() error {
		return q.runWhere(ctx, " where ctid >= $1::tid and ctid < $2::tid", [][]byte{[]byte(ctidText(lo)), []byte(ctidText(hi))}, fn)
	})
	return err
}
