package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"database/sql/driver"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// keyColumn is a column of the key of an index.
type keyColumn struct {
	name       string
	descending bool
	binary     bool // its texts are compared byte by byte
}

// tableIndex is an index of which every key is made of columns of every row.
type tableIndex struct {
	name string
	key  []keyColumn
}

// keySet is a set of keys with their rowids, whatever order they come in.
type keySet struct {
	count int
	sum   uint64
	buf   []byte
}

var keySeed = maphash.MakeSeed()

func (s *keySet) insertKey(rowid int64, key []driver.Value) {
	s.buf = table.AppendExactly(s.buf[:0], rowid)
	for _, v := range key {
		s.buf = table.AppendExactly(s.buf, v)
	}
	s.count++
	s.sum += maphash.Bytes(keySeed, s.buf)
}

// scannedTable is what ScanTable learnt of a table.
type scannedTable struct {
	sound   bool
	indexes []tableIndex
	keys    []keySet // that these should have; only of a sound table
}

// insertKeys takes in the columns of a row that tableKeys names.
func (t *scannedTable) insertKeys(rowid int64, row []driver.Value) {
	for i, x := range t.indexes {
		t.keys[i].insertKey(rowid, row[:len(x.key)])
		row = row[len(x.key):]
	}
}

// tableKeys are the indexes of a table to compare, and the columns of all their keys.
func (db *DB) tableKeys(ctx context.Context, name string) (t scannedTable, columns []string, err error) {
	if !db.CompareIndexes {
		return t, nil, nil
	}
	t.indexes, err = db.tableIndexes(ctx, name)
	t.keys = make([]keySet, len(t.indexes))
	for _, x := range t.indexes {
		columns = append(columns, x.quotedColumns()...)
	}
	return t, columns, err
}

// keysOf are the indexes of a table with the keys of its rows, none where the table is
// damaged: other faults tell of that.
func (db *DB) keysOf(ctx context.Context, name string) (t scannedTable, err error) {
	known, scanned := db.scanned.Load(strings.ToLower(name))
	if !scanned {
		if _, err := db.RowID(ctx, name); err != nil {
			return t, nil //nolint:nilerr // columns have all names of its rowids: no runtime makes such a table
		}
		if _, err := db.ScanTable(ctx, name, nil, func(int64, []driver.Value) error { return nil }); err != nil {
			return t, err
		}
		known, _ = db.scanned.Load(strings.ToLower(name))
	}
	if t, _ = known.(scannedTable); !t.sound {
		t.indexes = nil
	}
	return t, nil
}

// indexFaults compares the indexes of tables whose pages are sound with their rows, by their
// keys alone. A program that asks by a damaged index misses rows without an error, and
// ScanTable, which uses none, cannot tell. Indexes of some rows or of expressions are left
// out, and pages of which only the room is miscounted; Deep tests those, too.
func (db *DB) indexFaults(ctx context.Context) (faults []session.Fault, err error) {
	if !db.CompareIndexes {
		return nil, nil
	}
	tables, err := db.ordinaryTables(ctx)
	if err != nil {
		return nil, nil //nolint:nilerr // a fault tells that the schema is damaged
	}
	for _, name := range tables {
		t, err := db.keysOf(ctx, name)
		if err != nil {
			return nil, db.Explain(err)
		}
		for i, x := range t.indexes {
			detail, err := db.compareIndex(ctx, name, x, t.keys[i])
			if err != nil {
				return nil, db.Explain(err)
			}
			if detail != "" {
				faults = append(faults, indexFault(x.name, detail))
			}
		}
	}
	return faults, nil
}

// tableIndexes are the indexes of a table that hold a key of each of its rows. Texts of
// UTF-16 have another order than those of UTF-8.
func (db *DB) tableIndexes(ctx context.Context, name string) (indexes []tableIndex, err error) {
	err = db.forEachRow(ctx, func(scan func(...any) error) error {
		var index string
		var c keyColumn
		err := scan(&index, &c.name, &c.descending, &c.binary)
		if n := len(indexes); n == 0 || indexes[n-1].name != index {
			indexes = append(indexes, tableIndex{name: index})
		}
		last := &indexes[len(indexes)-1]
		last.key = append(last.key, c)
		return err
	}, `select l.name, x.name, x."desc", x.coll = 'BINARY' and e.encoding = 'UTF-8'
		from pragma_index_list(?1) l, pragma_index_xinfo(l.name) x, pragma_encoding e
		where x.key and not l.partial and not exists(select 1 from pragma_index_xinfo(l.name) where key and cid < 0)
		order by l.seq, x.seqno`, name)
	return indexes, err
}

// compareIndex says what is wrong with an index, "" for nothing.
func (db *DB) compareIndex(ctx context.Context, name string, x tableIndex, want keySet) (detail string, err error) {
	rowid, err := db.RowID(ctx, name)
	if err != nil {
		return "", err
	}
	var got keySet
	var last []driver.Value
	disorder := false
	columns := strings.Join(append([]string{rowid}, x.quotedColumns()...), ", ")
	err = db.Scan(ctx, "select count({scan}("+columns+")) from "+Quoted(name)+" indexed by "+Quoted(x.name), func(row []driver.Value) error {
		got.insertKey(row[0].(int64), row[1:])
		disorder = disorder || last != nil && x.compareEntries(last, row) >= 0
		last = keepKey(last, row)
		return nil
	})
	switch {
	case IsCorrupt(err):
		return err.Error(), nil
	case err != nil:
		return "", err
	case got.count != want.count:
		return "it has " + strconv.Itoa(got.count) + " entries, the table " + strconv.Itoa(want.count) + " rows", nil
	case got.sum != want.sum:
		return "some of its entries belong to no row", nil
	case disorder:
		return "some of its entries are out of order", nil
	}
	return "", nil
}

// quotedColumns are those of the key, as SQL spells them.
func (x tableIndex) quotedColumns() []string {
	return lists.MapEach(x.key, func(c keyColumn) string { return Quoted(c.name) })
}

// compareEntries is the order of two entries of the index, each with its rowid in front; -1 where
// a collation decides that is not that of the bytes.
func (x tableIndex) compareEntries(a, b []driver.Value) int {
	for i, c := range x.key {
		n := compareValues(a[i+1], b[i+1])
		if _, text := a[i+1].(string); text && !c.binary && n != 0 {
			return -1
		}
		if c.descending {
			n = -n
		}
		if n != 0 {
			return n
		}
	}
	return compareValues(a[0], b[0])
}

// compareValues is the order that SQLite gives values: NULL, numbers, texts, blobs.
func compareValues(a, b driver.Value) int {
	if n := cmp.Compare(rankOf(a), rankOf(b)); n != 0 {
		return n
	}
	switch a := a.(type) {
	case int64:
		if b, ok := b.(int64); ok {
			return cmp.Compare(a, b)
		}
		return cmp.Compare(float64(a), b.(float64))
	case float64:
		if b, ok := b.(int64); ok {
			return cmp.Compare(a, float64(b))
		}
		return cmp.Compare(a, b.(float64))
	case string:
		return strings.Compare(a, b.(string))
	case []byte:
		return bytes.Compare(a, b.([]byte))
	}
	return 0
}

func rankOf(v driver.Value) int {
	switch v.(type) {
	case nil:
		return 0
	case int64, float64:
		return 1
	case string:
		return 2
	}
	return 3
}

// keepKey is a key that outlives its row, in the memory of the one before, which has much in common.
func keepKey(last, key []driver.Value) []driver.Value {
	last = slices.Grow(last, len(key))[:len(key)]
	for i, v := range key {
		if last[i] == nil || compareValues(last[i], v) != 0 {
			last[i] = table.CloneValue(v)
		}
	}
	return last
}
