// Package table is what the adapters of stores that keep sessions in tables ask of a
// database, whichever it is: a Reader of rows, an Editor of them, and the journal by
// which changes are taken back. It opens nothing; package sqlite implements it.
package table

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

// Value is a value of a column: nil, int64, float64, string or []byte.
type Value = driver.Value

// Place is where a row is, for the database alone: nothing that people or receipts are
// told may depend on it, but that rows of ascending places are in the order in which they
// are stored. It holds for one Reader, and within one transaction of an Editor.
type Place int64

// Reader reads a database, in one snapshot; that of an Editor sees the transaction that
// is open. Its methods may be called from several goroutines at once.
//
// Rows are handed to functions, whose error ends the reading and is returned as it is;
// Enough ends it without one. Their values live until the function returns, so that
// those that are kept have to be cloned (Kept), and the function must not use the Reader.
type Reader interface {
	About() About
	// Schema are the tables with their columns, as the database spells them. Those that
	// cannot be looked into are left out; a fault tells of them. All who ask get the same
	// tables, which none of them may change.
	Schema(ctx context.Context) (Schema, error)
	// Scan hands the rows of a selection to fn. Damage does not end it: what is lost is
	// returned as faults of the table.
	Scan(ctx context.Context, s Selection, fn func(at Place, row []Value) error) (lost []session.Fault, err error)
	// Rows hands some columns of the rows at places to fn, with their indexes in the
	// list, in batches each of which is in the order of the places. Those that cannot be
	// read are returned, by index. In a transaction nobody else can change these rows
	// from here on.
	Rows(ctx context.Context, table string, columns []string, places []Place, fn func(n int, row []Value) error) (unread []int, err error)
	// Faults are those of the database that show when all of its tables have been
	// scanned that are of interest: of the others, and with deep what costs more to find.
	Faults(ctx context.Context, deep bool) ([]session.Fault, error)
	// Explain turns an error of a read into a problem for people; problems pass unchanged.
	Explain(err error) error
}

// Copier is a Reader that can write a copy of its database into a new file, as it was
// when it was opened. edit opens the copy.
type Copier interface {
	Copy(ctx context.Context, path string, progress func(done int64)) (edit func(context.Context) (Editor, error), err error)
}

// About is what is known of a database when it has been opened.
type About struct {
	Name       string // for people, without anything secret: the path of a file
	Bytes      int64
	Writer     session.Writer // as it was before it was opened
	WriterName string
	Incomplete string        // why no reading can be complete, "" when it can
	Recovery   func() string // what to do about damage: see session.Store
	ReadOnly   string        // why nothing can be repaired in place, "" when it can
	Moving     bool          // a row gets another place with each change
	ByKey      bool          // rows lie in the order of their primary keys, which says nothing of when they were written
	Remote     bool          // on a server: rows that nobody needs had better stay there
	Identity   string        // what tells it from another one of that name, "" where the name does
	Now        time.Time     // by the clock of its server, when it was opened; zero where there is none
	Faults     []session.Fault
}

// Selection says which rows are read, and what of them.
type Selection struct {
	Table   string
	Columns []string
	// Key are the columns of a row without which nothing can be made of the others: where
	// damage hides some of a row, and these are read, it is handed over with nil for what
	// is hidden. A row of a selection without a key comes whole or is lost.
	Key []string
	// Keys, where it is not nil, are the only values of Key that matter. Rows with others
	// may come, too, where the database cannot ask for exactly these. Damage ends such a
	// scan with an error, and the order is that of an index.
	Keys [][]Value
	// Lacking, where it is not nil, names another table and its columns with such keys: only
	// rows matter whose Key it lacks. What is said of Keys holds for it.
	Lacking *Selection
	// Times, where it is not "", is a column of times: only rows matter that are not older
	// than Since, or whose time is none after 1970. Others may come, too.
	Times string
	Since time.Time
	// Glance is for a look at what other faults tell of if it is damaged: damage ends the
	// scan, and lost says only that it did.
	Glance bool
}

// Glance hands some columns of the rows of a table to fn: nil for those that it does not have,
// and no rows of a table without the first. It is a scan with Selection.Glance.
func Glance(ctx context.Context, db Reader, name string, columns []string, fn func(row []Value)) (lost []session.Fault, err error) {
	return GlanceAt(ctx, db, name, columns, nil, fn)
}

// GlanceAt is Glance of the rows with some values of the first column, of all for nil. Others may come, too.
func GlanceAt(ctx context.Context, db Reader, name string, columns []string, keys [][]Value, fn func(row []Value)) (lost []session.Fault, err error) {
	stored, err := db.Schema(ctx)
	if err != nil || !stored.HasColumns(name, columns[0]) {
		return nil, err
	}
	there, spread := stored.Present(name, columns)
	s := Selection{Table: name, Columns: there, Glance: true}
	if keys != nil {
		s.Key, s.Keys = columns[:1], keys
	}
	return db.Scan(ctx, s, func(_ Place, row []Value) error {
		fn(spread(row))
		return nil
	})
}

// Enough ends a scan.
var Enough = errors.New("enough rows") //nolint:revive,staticcheck // it is no failure

// Schema is what a database has.
type Schema struct {
	Tables   map[string]Table
	Triggers []session.Trigger // by their names
}

// Table is a table of a database.
type Table struct {
	Columns []Column // in the order of the table
	Indexes []Index
	Parents []string // the tables to which its foreign keys lead; one that does not exist as they name it
	// ReadOnly is why its rows cannot be changed, "" when they can.
	ReadOnly string
	// Incomplete is why a scan does not give all that a runtime reads, "" when it does.
	Incomplete string
}

// Column is a column of a table.
type Column struct {
	Name     string
	Type     string // as it is declared
	Given    bool   // the database gives out its numbers, each row's own
	Default  Value  // nil where there is none, or one that is computed
	Required bool   // a row cannot be added without a value for it
	// FoldsCase: comparisons and patterns of the database overlook the case of letters.
	FoldsCase bool
}

// Index is an index of a table. A column is "" for an expression.
type Index struct {
	Name    string
	Columns []string
	Unique  bool
	Partial bool // it has some of the rows only
}

// HasColumns reports whether a table has these columns.
func (s Schema) HasColumns(table string, columns ...string) bool {
	names := s.Columns(table)
	return !slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(names, c) })
}

// Columns are the names of a table's columns, none when there is no such table.
func (s Schema) Columns(table string) []string {
	var names []string
	for _, c := range s.Tables[table].Columns {
		names = append(names, c.Name)
	}
	return names
}

// Present are those of some columns that a table has; spread makes of a row of these one of
// all, with nil for the others, until it makes the next.
func (s Schema) Present(table string, columns []string) (there []string, spread func(row []Value) []Value) {
	var at []int
	for i, c := range columns {
		if s.HasColumns(table, c) {
			there, at = append(there, c), append(at, i)
		}
	}
	all := make([]Value, len(columns))
	return there, func(row []Value) []Value {
		for i, v := range row {
			all[at[i]] = v
		}
		return all
	}
}

// UniteNames are the names in some lists, each once and sorted.
func UniteNames(lists ...[]string) []string {
	names := slices.Concat(lists...)
	slices.Sort(names)
	return slices.Compact(names)
}

// Names are the names of the tables, sorted.
func (s Schema) Names() []string { return slices.Sorted(maps.Keys(s.Tables)) }

// Column is a column of a table; one without a name if there is none.
func (t Table) Column(name string) Column {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return Column{}
	}
	return t.Columns[i]
}

// IsUnique reports whether an index keeps these columns from being equal twice.
func (t Table) IsUnique(columns ...string) bool {
	return slices.ContainsFunc(t.Indexes, func(x Index) bool {
		return x.Unique && !x.Partial && !slices.ContainsFunc(x.Columns, func(c string) bool { return !slices.Contains(columns, c) })
	})
}

// CloneValue is a scanned value that outlives its row.
func CloneValue(v Value) any {
	switch v := v.(type) {
	case string:
		return strings.Clone(v)
	case []byte:
		return append([]byte{}, v...) // never nil, which would be written as NULL
	}
	return v
}

// AppendExactly appends a value so that no two rows of values end up alike: a
// letter for the type, the length, the bytes.
func AppendExactly(buf []byte, value Value) []byte {
	switch v := value.(type) {
	case int64:
		return binary.BigEndian.AppendUint64(append(buf, 'i'), uint64(v))
	case float64:
		return binary.BigEndian.AppendUint64(append(buf, 'f'), math.Float64bits(v))
	case []byte:
		return append(binary.BigEndian.AppendUint64(append(buf, 'b'), uint64(len(v))), v...)
	case string:
		return append(binary.BigEndian.AppendUint64(append(buf, 't'), uint64(len(v))), v...)
	}
	return append(buf, 'n')
}
