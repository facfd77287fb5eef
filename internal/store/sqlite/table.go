package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// Range are rows that could not be read, by rowid, both ends included. To is
// math.MaxInt64 when nothing behind From could be read.
type Range struct {
	From, To int64
	Most     int64 // at most so many rows, 0 when nobody knows
	Torn     bool  // the rows can be read, but not to their end
	Refused  bool  // the rows are where they should be, and SQLite refuses them: some columns may be readable
}

// Fault is the fault that tells of the lost rows of a table.
func (r Range) Fault(table string) session.Fault {
	rows, many := fmt.Sprintf("rows %d to %d", r.From, r.To), ""
	switch {
	case r.From == r.To:
		rows = fmt.Sprintf("row %d", r.From)
	case r.To == math.MaxInt64:
		rows = fmt.Sprintf("row %d and all after it", r.From)
	case r.Most > 0 && r.Most <= r.To-r.From:
		many = fmt.Sprintf(" (at most %d of them)", r.Most)
	}
	format := "%s of %s%s cannot be read: a page of the file is damaged"
	switch {
	case r.To < r.From:
		rows, format = fmt.Sprintf("around row %d", r.From), "a page of the file %s of %s%s is damaged, and no row of it is known to be lost"
	case r.Torn:
		format = "%s of %s%s cannot be read to the end: a page of the file is damaged"
	}
	f := newFault(session.StoreDamaged, "", format, rows, table, many)
	f.Ref, f.Count = session.Ref{Table: table, Key: strconv.FormatInt(r.From, 10)}, int(r.Most)
	if r.To == math.MaxInt64 {
		f.Ref.Key += "-" // nobody knows how many there are
	}
	return f
}

// ScanTable hands all rows of a table to fn in the order of their rowids, with
// the columns (SQL expressions) that are asked for, as Scan does. Damaged
// pages do not end it: it goes on with the next row that can be read and
// returns the rowids that lay between, of which some may not have existed. Rows
// that cannot be where SQLite finds them are not handed over. The whole table is
// tested for that, whatever columns are asked for.
func (db *DB) ScanTable(ctx context.Context, table string, columns []string, fn func(rowid int64, row []driver.Value) error) ([]Range, error) {
	rowid, err := db.RowID(ctx, table)
	if err != nil {
		return nil, err
	}
	scanned, keys, err := db.tableKeys(ctx, table)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(columns, keys)
	t := tableScan{
		db: db, fn: fn, next: math.MinInt64,
		scan: "select 1 from " + Quoted(table) + " not indexed where " + rowid + " >= ? and {scan}(" +
			strings.Join(append([]string{rowid}, all...), ", ") + ")",
	}
	if len(keys) > 0 {
		t.fn = func(rowid int64, row []driver.Value) error {
			scanned.insertKeys(rowid, row[len(columns):])
			return fn(rowid, row[:len(columns)])
		}
	}
	if db.scanned != nil {
		defer func() { db.scanned.Store(strings.ToLower(table), scanned) }()
	}
	if done, err := t.scanPages(ctx, Selection{Table: table, RowID: rowid, Columns: all}); done || err != nil {
		scanned.sound = done
		return nil, err
	}
	t.startAgain()
	s, err := db.surveyPages(ctx, table, false)
	if err == nil && !s.damaged {
		if err = t.scanWhole(ctx); err == nil {
			scanned.sound = true
			return nil, nil
		}
	}
	if !isDamage(err) {
		return nil, err
	}
	s, err = db.surveyPages(ctx, table, true)
	if isDamage(err) && err != nil { // nobody knows which rows there should be
		if err = t.scanWhole(ctx); !isDamage(err) {
			return nil, err
		}
		return []Range{{From: max(t.next, 1), To: math.MaxInt64}}, nil
	}
	if err == nil {
		err = t.scanPieces(ctx, s)
	}
	return s.lostRanges(t.refused, db.highestRowID(ctx, table)), err
}

// UnscannedFaults are faults of the tables that no ScanTable went over: what is wrong with their
// pages; and with CompareIndexes those of indexes. Tables without rowids are left out; Deep
// tests those, too.
func (db *DB) UnscannedFaults(ctx context.Context) (faults []session.Fault, err error) {
	names, err := db.ordinaryTables(ctx)
	if err != nil {
		return nil, nil //nolint:nilerr // a fault tells that the schema is damaged
	}
	for _, table := range names {
		if _, done := db.scanned.Load(strings.ToLower(table)); done {
			continue
		}
		s, err := db.surveyPages(ctx, table, false)
		if err == nil && s.damaged {
			s, err = db.surveyPages(ctx, table, true)
		}
		switch {
		case !isDamage(err):
			return nil, db.Explain(err)
		case err != nil:
			faults = append(faults, Range{From: 1, To: math.MaxInt64}.Fault(table))
		case s.damaged:
			for _, r := range s.lostRanges(nil, db.highestRowID(ctx, table)) {
				faults = append(faults, r.Fault(table))
			}
		}
	}
	indexes, err := db.indexFaults(ctx)
	return append(faults, indexes...), err
}

func (db *DB) ordinaryTables(ctx context.Context) (names []string, err error) {
	err = db.forEachRow(ctx, func(scan func(...any) error) error {
		names = append(names, "")
		return scan(&names[len(names)-1])
	}, "select name from pragma_table_list where schema = 'main' and type = 'table' and not wr and name <> 'sqlite_schema'")
	return names, err
}

// errOrder is damage that SQLite follows without noticing: a page that lies in
// two places of the tree.
var errOrder = errors.New("rowids out of order")

// isDamage reports whether damage is all that kept a table from being read.
func isDamage(err error) bool {
	return err == nil || errors.Is(err, errOrder) || errors.Is(err, sql.ErrNoRows) || IsCorrupt(err)
}

type tableScan struct {
	db   *DB
	fn   func(rowid int64, row []driver.Value) error
	scan string

	next    int64 // the lowest rowid not yet delivered
	refused []int64
}

// startAgain makes the scan begin at the first row, and not deliver again what was delivered.
func (t *tableScan) startAgain() {
	if fn, next := t.fn, t.next; next > math.MinInt64 {
		t.next, t.fn = math.MinInt64, func(rowid int64, row []driver.Value) error {
			if rowid < next {
				return nil
			}
			return fn(rowid, row)
		}
	}
}

// scanWhole delivers rows until the end or an error.
func (t *tableScan) scanWhole(ctx context.Context) error {
	last := int64(math.MinInt64)
	return t.db.Scan(ctx, t.scan, func(row []driver.Value) error {
		rowid := row[0].(int64)
		if rowid < t.next || rowid == last {
			return errOrder
		}
		if last = rowid; rowid < math.MaxInt64 {
			t.next = rowid + 1
		}
		return t.fn(rowid, row[1:])
	}, t.next)
}

// maxSeeks bounds the rows that are sought one by one, so that a file full of damage ends.
// One seek takes some 20 µs.
const maxSeeks = 100_000

// scanPieces delivers the rows that a survey found, and no others.
func (t *tableScan) scanPieces(ctx context.Context, s *survey) error {
	at, _ := slices.BinarySearch(s.rows, t.next)
	rows := s.rows[at:]
	for seeks := 0; len(rows) > 0; {
		done, err := t.scanPiece(ctx, rows)
		switch {
		case !isDamage(err):
			return err
		case err == nil, seeks > maxSeeks:
			t.refused = append(t.refused, rows[done:]...)
			return nil
		case done == 0 && t.next < rows[0]: // what failed was before it
			t.next = rows[0]
			continue
		case done == 0:
			t.refused = append(t.refused, rows[0])
			done, seeks = 1, seeks+1
		}
		if rows = rows[done:]; len(rows) > 0 {
			t.next = rows[0]
		}
	}
	return nil
}

// scanPiece delivers rows until one cannot be read, and says how many came or were passed over.
func (t *tableScan) scanPiece(ctx context.Context, rows []int64) (done int, _ error) {
	err := t.db.Scan(ctx, t.scan, func(row []driver.Value) error {
		rowid := row[0].(int64)
		n, expected := slices.BinarySearch(rows[done:], rowid)
		if !expected {
			return nil
		}
		t.refused = append(t.refused, rows[done:done+n]...)
		done += n + 1
		return t.fn(rowid, row[1:])
	}, t.next)
	return done, err
}

// highestRowID is the highest rowid that a table ever had, as far as the database says so.
func (db *DB) highestRowID(ctx context.Context, table string) int64 {
	var highest sql.NullInt64
	err := db.QueryRow(ctx, "select seq from sqlite_sequence where name = ?", table).Scan(&highest)
	if err != nil || !highest.Valid {
		return math.MaxInt64
	}
	return highest.Int64
}

// lostRanges are what is lost: what the survey found, and the rows that were refused, with those
// of one kind as one that have no row between them.
func (s *survey) lostRanges(refused []int64, highest int64) []Range {
	all := slices.Clone(s.lost)
	for _, id := range refused {
		all = append(all, Range{From: id, To: id, Most: 1, Refused: true})
	}
	slices.SortStableFunc(all, func(a, b Range) int { return cmp.Or(cmp.Compare(a.From, b.From), -cmp.Compare(a.To, b.To)) })
	var lost, torn []Range
	for _, r := range all {
		if r = r.clipped(s.rows, highest); r.Torn {
			torn = append(torn, r)
			continue
		}
		if n := len(lost) - 1; n >= 0 && lost[n].Refused == r.Refused && s.hasNoRowBetween(lost[n].To, r.From) {
			last := &lost[n]
			if last.Most += r.Most; r.Most == 0 {
				last.Most = 0
			}
			last.To = max(last.To, r.To)
			last.Most = min(last.Most, max(0, last.To-last.From)+1)
			continue
		}
		lost = append(lost, r)
	}
	for _, r := range torn {
		if !slices.ContainsFunc(lost, func(l Range) bool { return l.From <= r.From && r.To <= l.To }) {
			lost = append(lost, r)
		}
	}
	if len(lost) == 0 && s.damaged { // of an inner page, of which every child was found
		lost = append(lost, Range{From: 1, To: 0})
	}
	return lost
}

// clipped leaves out the rowids that no runtime gives.
func (r Range) clipped(rows []int64, highest int64) Range {
	if r.From < 1 && r.To > 0 {
		r.From = 1
	}
	if r.To == math.MaxInt64 && highest < r.To && (len(rows) == 0 || rows[len(rows)-1] <= highest) {
		r.To = max(highest, r.From-1)
	}
	if size := r.To - r.From + 1; r.To < math.MaxInt64 && size > 0 && (r.Most == 0 || r.Most > size) {
		r.Most = size
	}
	return r
}

// hasNoRowBetween reports whether the survey found no row between two.
func (s *survey) hasNoRowBetween(after, before int64) bool {
	if after >= before-1 {
		return true
	}
	i, _ := slices.BinarySearch(s.rows, after+1)
	return i == len(s.rows) || s.rows[i] >= before
}
