package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	modernc "modernc.org/sqlite"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// reader is a database as package table asks for it.
type reader struct {
	*DB
	rowids sync.Map // names of rowids, by table
}

// Reader reads the database as one of tables.
func (db *DB) Reader() table.Reader { return &reader{DB: db} }

// FromReader is the database behind a Reader, nil when it is another one's.
func FromReader(r table.Reader) *DB {
	if r, ok := r.(*reader); ok {
		return r.DB
	}
	return nil
}

func (r *reader) About() table.About {
	return table.About{
		Name: r.File.Path, Bytes: r.File.Size, Writer: r.Writer.State, WriterName: r.Writer.Name,
		Incomplete: r.Truncated(), Recovery: r.Recovery, Faults: r.DB.Faults(),
	}
}

func (r *reader) Copy(ctx context.Context, path string, progress func(done int64)) (func(context.Context) (table.Editor, error), error) {
	return Opener(path), r.DB.Copy(ctx, path, progress)
}

// Opener opens the database at path for writing: see OpenEdit.
func Opener(path string) func(context.Context) (table.Editor, error) {
	return func(ctx context.Context) (table.Editor, error) { return OpenEdit(ctx, path) }
}

// Faults are what is wrong with the tables that no Scan went over, and what Deep finds.
func (r *reader) Faults(ctx context.Context, deep bool) ([]session.Fault, error) {
	faults, err := r.UnscannedFaults(ctx)
	if err != nil || !deep {
		return faults, err
	}
	more, err := r.FindDeepFaults(ctx)
	return append(faults, more...), err
}

// cachedRowID is what RowID says of a table, which does not change while it is read.
func (r *reader) cachedRowID(ctx context.Context, name string) (string, error) {
	if known, ok := r.rowids.Load(name); ok {
		return known.(string), nil
	}
	rowid, err := r.RowID(ctx, name)
	if err == nil {
		r.rowids.Store(name, rowid)
	}
	return rowid, err
}

func (r *reader) Scan(ctx context.Context, s table.Selection, fn func(at table.Place, row []table.Value) error) ([]session.Fault, error) {
	rowid, err := r.cachedRowID(ctx, s.Table)
	if err != nil {
		return nil, err
	}
	columns := QuotedAll(s.Columns)
	each := func(rowid int64, row []driver.Value) error { return fn(table.Place(rowid), row) }
	rows := Selection{Table: s.Table, RowID: rowid, Columns: columns}
	var lost []Range
	switch parameter, ok := parameterOf(s.Keys); {
	case ok:
		rows.Where = keyCondition(s.Key)
		err = r.ScanRows(ctx, rows, each, parameter)
	case s.Glance:
		rows.Where, rows.inOrder = "true", true
		if err = r.ScanRows(ctx, rows, each); IsCorrupt(err) {
			lost, err = []Range{{From: 1, To: 0}}, nil
		}
	default:
		if lost, err = r.ScanTable(ctx, s.Table, columns, each); err == nil && s.Key != nil {
			lost, err = r.salvageRows(ctx, rows, s, lost, each)
		}
	}
	if errors.Is(err, table.Enough) {
		err = nil
	}
	var faults []session.Fault
	for _, l := range lost {
		faults = append(faults, l.Fault(s.Table))
	}
	return faults, err
}

// keyCondition is the condition that a row has one of the keys of a parameter. It uses an index
// where there is one.
func keyCondition(key []string) string {
	values := make([]string, len(key))
	for i := range key {
		values[i] = "json_extract(value, '$[" + strconv.Itoa(i) + "]')"
	}
	return "(" + strings.Join(QuotedAll(key), ", ") + ") in (select " + strings.Join(values, ", ") + " from json_each(?))"
}

// parameterOf are keys in JSON. ok is false for those that JSON cannot hold exactly.
func parameterOf(keys [][]table.Value) (_ string, ok bool) {
	for _, key := range keys {
		for _, value := range key {
			s, isText := value.(string)
			if !isText || !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
				return "", false
			}
		}
	}
	text, err := json.Marshal(keys)
	return string(text), keys != nil && err == nil
}

// salvageRows hands over what can be read of rows that SQLite refused: of a row whose long
// value lies on a damaged page, the columns before that.
func (r *reader) salvageRows(ctx context.Context, rows Selection, s table.Selection, lost []Range, fn func(int64, []driver.Value) error) ([]Range, error) {
	one := rows
	one.Where = one.RowID + " = ?"
	return SalvageRows(lost, func(rowid int64) (bool, error) {
		row := make([]driver.Value, len(rows.Columns))
		for i, column := range s.Columns {
			one.Columns = rows.Columns[i : i+1]
			there := false
			err := r.ScanRows(ctx, one, func(_ int64, values []driver.Value) error {
				row[i], there = table.CloneValue(values[0]), true
				return nil
			}, rowid)
			if _, err := IsReadable(err); err != nil {
				return false, err
			}
			if !there && slices.Contains(s.Key, column) {
				return false, nil
			}
		}
		return true, fn(rowid, row)
	})
}

// rowsAtOnce are read with one query.
const rowsAtOnce = 1000

func (r *reader) Rows(ctx context.Context, name string, columns []string, places []table.Place, fn func(n int, row []table.Value) error) (unread []int, err error) {
	rowid, err := r.cachedRowID(ctx, name)
	if err != nil {
		return nil, err
	}
	rows := Selection{Table: name, RowID: rowid, Columns: QuotedAll(columns)}
	for from := 0; from < len(places); from += rowsAtOnce {
		batch := places[from:min(from+rowsAtOnce, len(places))]
		wanted := make(map[table.Place]int, len(batch))
		for i, at := range batch {
			wanted[at] = from + i
		}
		each := func(rowid int64, values []driver.Value) error {
			n, ok := wanted[table.Place(rowid)]
			if !ok {
				return nil
			}
			delete(wanted, table.Place(rowid))
			return fn(n, values)
		}
		where, args := r.placeCondition(rows, batch)
		rows.Where = where
		err := r.ScanRows(ctx, rows, each, args...)
		if _, err := IsReadable(err); err != nil {
			return nil, err
		}
		rows.Where = rowid + " = ?"
		for _, at := range batch { // where damage ended the query
			if _, left := wanted[at]; !left {
				continue
			}
			err := r.ScanRows(ctx, rows, each, int64(at))
			if _, err := IsReadable(err); err != nil {
				return nil, err
			}
		}
		if err := r.scanForWanted(ctx, rows, wanted, each); err != nil {
			return nil, err
		}
		for _, n := range wanted {
			unread = append(unread, n)
		}
	}
	slices.Sort(unread)
	return unread, nil
}

// placeCondition is the condition for the rows at some places. In a sound table those that stand
// together are not sought one by one.
func (r *reader) placeCondition(rows Selection, places []table.Place) (string, []any) {
	sound := false
	if r.scanned != nil {
		known, _ := r.scanned.Load(strings.ToLower(rows.Table))
		scanned, _ := known.(scannedTable)
		sound = scanned.sound
	}
	first, last, n := slices.Min(places), slices.Max(places), table.Place(len(places))
	if sound && first > 0 && last-first < n+n/8 {
		return rows.RowID + " between ? and ?", []any{int64(first), int64(last)}
	}
	list, _ := json.Marshal(places) // never fails on numbers
	return rows.RowID + " in (select value from json_each(?))", []any{string(list)}
}

// scanForWanted goes over a whole table for the rows that are wanted and that damage keeps from
// being found by their rowids.
func (r *reader) scanForWanted(ctx context.Context, rows Selection, wanted map[table.Place]int, fn func(int64, []driver.Value) error) error {
	if len(wanted) == 0 {
		return nil
	}
	_, err := r.ScanTable(ctx, rows.Table, rows.Columns, func(rowid int64, row []driver.Value) error {
		if err := fn(rowid, row); err != nil || len(wanted) > 0 {
			return err
		}
		return table.Enough
	})
	if errors.Is(err, table.Enough) {
		return nil
	}
	return err
}

// Selection are some columns (SQL expressions) of the rows of a table for which
// a condition holds.
type Selection struct {
	Table   string // as the schema spells it
	RowID   string // as DB.RowID gives it
	Columns []string
	Where   string
	inOrder bool // of the rowids, whatever indexes there are
}

// ScanRows hands the rows of a selection to fn, in the order in which SQLite
// visits them: that of an index, where the condition has one. Values live as
// long as those of Scan. Damage ends it.
func (db *DB) ScanRows(ctx context.Context, s Selection, fn func(rowid int64, row []driver.Value) error, args ...any) error {
	call := "{scan}(" + strings.Join(append([]string{s.RowID}, s.Columns...), ", ") + ")"
	// An aggregate function sees exactly the rows that the condition leaves,
	// whatever the order in which conditions are tested.
	from := Quoted(s.Table)
	if s.inOrder {
		from += " not indexed"
	}
	return db.Scan(ctx, "select count("+call+") from "+from+" where "+s.Where, func(row []driver.Value) error {
		return fn(row[0].(int64), row[1:])
	}, args...)
}

// maxSalvage bounds the rows that are tried one by one.
const maxSalvage = 10_000

// SalvageRows tries the rows that SQLite refused one by one: of a row whose long
// value lies on a damaged page, the columns before that can still be read. It
// returns the ranges in which try found nothing, and all others.
func SalvageRows(lost []Range, try func(rowid int64) (bool, error)) ([]Range, error) {
	var rest []Range
	tried := int64(0)
	for _, l := range lost {
		if size := l.To - l.From; !l.Refused || size < 0 || size >= maxSalvage-tried { // the first when From is far below 0
			rest = append(rest, l)
			continue
		}
		tried += l.To - l.From + 1
		for id := l.From; id <= l.To; id++ {
			found, err := try(id)
			if err != nil {
				return nil, err
			}
			if found {
				continue
			}
			if n := len(rest); n > 0 && rest[n-1].To == id-1 && rest[n-1].Refused {
				rest[n-1].To, rest[n-1].Most = id, rest[n-1].Most+1
			} else {
				rest = append(rest, Range{From: id, To: id, Most: 1, Refused: true})
			}
		}
	}
	return rest, nil
}

// IsReadable sorts the errors of a read that a Salvage tries: damage and a missing
// row are none.
func IsReadable(err error) (bool, error) {
	if IsCorrupt(err) || errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// QuotedAll are names as SQL spells them, whatever characters they have.
func QuotedAll(names []string) []string {
	return lists.MapEach(names, Quoted)
}

// scanFunction is the SQL function that hands rows to Go. Arguments of a
// function are the only values that the driver passes without copying them.
const scanFunction = "sessctl_scan"

// scans holds the running scans: the driver's functions belong to the process,
// so the first argument of a call says which scan it belongs to.
var (
	scans    sync.Map // int64 → *scan
	nextScan atomic.Int64
)

var registerScan = sync.OnceValue(func() error {
	return modernc.RegisterFunction(scanFunction, &modernc.FunctionImpl{
		NArgs:        -1,
		VolatileArgs: true,
		Scalar: func(_ *modernc.FunctionContext, args []driver.Value) (driver.Value, error) {
			return callScan(args)
		},
	})
})

// scan is one running Scan.
type scan struct {
	fn       func(row []driver.Value) error
	err      error // of fn
	panicked any   // by fn
}

var errStop = errors.New("scan stopped")

func callScan(args []driver.Value) (driver.Value, error) {
	if len(args) == 0 {
		return nil, errStop
	}
	s, ok := scans.Load(args[0])
	if !ok {
		return nil, errStop
	}
	return int64(0), s.(*scan).deliverRow(args[1:])
}

// deliverRow hands one row to fn. A panic must not pass through SQLite, which would
// keep its locks, so it is carried around it.
func (s *scan) deliverRow(args []driver.Value) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.panicked, err = p, errStop
		}
	}()
	if s.err = s.fn(args); s.err != nil {
		return errStop
	}
	return nil
}

// Scan hands the rows of a query to fn without copying their values. The query
// contains {scan} where a condition may stand, applied to the values that fn
// gets:
//
//	select 1 from session_items not indexed where {scan}(id, message_json)
//
// The condition is false, so no row comes out of the query. Rows come in the
// order in which SQLite visits them, which `not indexed` makes the order of
// rowids; an `order by` may be applied later and is no help. fn's values are
// int64, float64, string, []byte or nil, and texts are UTF-8 whatever the
// encoding of the database; strings and byte slices are only valid until fn
// returns, and fn must not use db. An error of fn ends the scan and is
// returned as it is.
func (db *DB) Scan(ctx context.Context, query string, fn func(row []driver.Value) error, args ...any) error {
	slot := nextScan.Add(1)
	s := &scan{fn: fn}
	scans.Store(slot, s)
	defer scans.Delete(slot)

	call := scanFunction + "(" + strconv.FormatInt(slot, 10) + ", "
	rows, err := db.Query(ctx, strings.Replace(query, "{scan}(", call, 1), args...)
	if err == nil {
		rows.Next()
		err = errors.Join(rows.Err(), rows.Close())
	}
	if s.panicked != nil {
		panic(s.panicked)
	}
	if s.err != nil {
		return s.err
	}
	return err
}
