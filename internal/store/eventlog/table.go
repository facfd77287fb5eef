package eventlog

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// table reads one of the two tables.
type table struct {
	*Table
	db    *sqlite.DB
	rowid string // the name of the rowid
}

func newTable(ctx context.Context, db *sqlite.DB, t *Table) (table, error) {
	rowid, err := db.RowID(ctx, t.Name)
	return table{t, db, rowid}, err
}

// rowsAtOnce are read with one query.
const rowsAtOnce = 1000

// columns are some columns of a table, as rows have them and as a query does.
type columns struct {
	names  map[string]int
	quoted []string
}

func (t *table) pick(names []string) columns {
	c := columns{names: make(map[string]int, len(names))}
	for _, name := range names {
		if _, known := c.names[name]; !known && slices.Contains(t.Columns, name) {
			c.names[name] = len(c.quoted)
			c.quoted = append(c.quoted, name)
		}
	}
	c.quoted = sqlite.QuotedAll(c.quoted)
	return c
}

// scan hands the rows to fn for which a condition holds.
func (t *table) scan(ctx context.Context, c columns, where string, fn func(Row) error, args ...any) error {
	rows := sqlite.Selection{Table: t.Name, RowID: t.rowid, Columns: c.quoted, Where: where}
	return t.db.ScanRows(ctx, rows, func(rowid int64, values []driver.Value) error {
		return fn(Row{rowid, c.names, values})
	}, args...)
}

// all hands every row to fn, whatever the indexes say. Of a row that lies on a
// damaged page fn gets the columns that can be read (nil for the others), if
// those of the key are among them. What is lost altogether is returned.
func (t *table) all(ctx context.Context, names []string, fn func(Row) error) ([]sqlite.Range, error) {
	c := t.pick(names)
	lost, err := t.db.ScanTable(ctx, t.Name, c.quoted, func(rowid int64, values []driver.Value) error {
		return fn(Row{rowid, c.names, values})
	})
	if err != nil {
		return nil, err
	}
	return sqlite.Salvage(lost, func(rowid int64) (bool, error) {
		row, found, err := t.salvage(ctx, c, rowid)
		if err == nil && found {
			err = fn(row)
		}
		return found, err
	})
}

// salvage reads the columns of a row one by one. It is found when its key is.
func (t *table) salvage(ctx context.Context, c columns, rowid int64) (_ Row, found bool, _ error) {
	row := Row{rowid, c.names, make([]driver.Value, len(c.quoted))}
	for name, i := range c.names {
		one := columns{map[string]int{name: 0}, c.quoted[i : i+1]}
		there := false
		err := t.scan(ctx, one, t.rowid+" = ?", func(r Row) error {
			row.values[i], there = sqlite.Kept(r.values[0]), true
			return nil
		}, rowid)
		if _, err := sqlite.Readable(err); err != nil {
			return row, false, err
		}
		if !there && slices.Contains(t.Key, name) {
			return row, false, nil
		}
	}
	return row, true, nil
}

// rows hands the rows with these rowids to fn, with their indexes in the list, in
// batches each of which is in the order of the rowids. Those that cannot be read
// are returned, by index.
func (t *table) rows(ctx context.Context, c columns, rowids []int64, fn func(n int, row Row) error) (unread []int, err error) {
	for from := 0; from < len(rowids); from += rowsAtOnce {
		batch := rowids[from:min(from+rowsAtOnce, len(rowids))]
		wanted := make(map[int64]int, len(batch))
		for i, rowid := range batch {
			wanted[rowid] = from + i
		}
		each := func(row Row) error {
			n, ok := wanted[row.ID]
			if !ok {
				return nil
			}
			delete(wanted, row.ID)
			return fn(n, row)
		}
		list, _ := json.Marshal(batch) // never fails on numbers
		err := t.scan(ctx, c, t.rowid+" in (select value from json_each(?))", each, string(list))
		if _, err := sqlite.Readable(err); err != nil {
			return nil, err
		}
		for _, rowid := range batch { // where damage ended the query
			if _, left := wanted[rowid]; !left {
				continue
			}
			err := t.scan(ctx, c, t.rowid+" = ?", each, rowid)
			if _, err := sqlite.Readable(err); err != nil {
				return nil, err
			}
			if n, left := wanted[rowid]; left {
				unread = append(unread, n)
			}
		}
	}
	return unread, nil
}

func (t *table) quotedName() string { return sqlite.Quoted(t.Name) }

// text is the value of a column as text, valid as long as the value.
func text(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return ""
}

// kept is a row that outlives the function that got it.
func (r Row) kept() Row {
	r.values = slices.Clone(r.values)
	for i, v := range r.values {
		r.values[i] = sqlite.Kept(v)
	}
	return r
}
