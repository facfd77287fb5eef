package sqlite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	modernc "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/table"
)

// rowKey is a row of a table.
type rowKey struct {
	table string
	row   int64
}

func keyOf(c table.RowChange) rowKey { return rowKey{c.Table, int64(c.Row)} }

func (k rowKey) String() string { return fmt.Sprintf("row %d of %s", k.row, k.table) }

// guard hears of every row before it changes, whoever changes it. Each
// statement may change the one row that is recorded; triggers and foreign key
// actions change others. SQLite does not report what it does to sqlite_sequence
// itself, so that every change of that is setSequence's, or a stray.
type guard struct {
	expected   *change
	met        *rowKey // the row of the change that was expected
	strays     []rowKey
	leaving    map[rowKey]bool // may change in any case: they are on their way out
	sequences  bool            // setSequence is at work
	rolledBack bool
	derived    map[string]derived // by table; for all transactions
}

// change is what a statement is to do. An insert does not know its row.
type change struct {
	op int32
	rowKey
}

func (g *guard) reset() { *g = guard{leaving: map[rowKey]bool{}, derived: g.derived} }

// Derived implements table.Editor.
func (e *Edit) Derived(ctx context.Context, of string, columns ...string) error {
	stored, err := e.db.columns(ctx)
	if err != nil || len(columns) == 0 {
		return err
	}
	if e.guard.derived == nil {
		e.guard.derived = map[string]derived{}
	}
	d := derived{names: columns}
	for _, c := range stored[of] {
		d.is = append(d.is, slices.Contains(columns, c))
	}
	e.guard.derived[of] = d
	return nil
}

// derived are the columns of a table that the database keeps by itself.
type derived struct {
	names []string
	is    []bool // by the index of the column
}

// only reports whether an update changes no other columns. Of a text the driver tells no
// more than what is before a NUL.
func (d derived) only(u *modernc.SQLitePreUpdateData) bool {
	if u.Op != lib.SQLITE_UPDATE || u.OldRowID != u.NewRowID || u.Count() != len(d.is) {
		return false
	}
	was, is := make([]any, len(d.is)), make([]any, len(d.is))
	if u.Old(was...) != nil || u.New(is...) != nil {
		return false
	}
	for i := range d.is {
		if !d.is[i] && !table.Same(was[i], is[i]) {
			return false
		}
	}
	return true
}

// written are the columns of an image that the database does not keep by itself.
func (g *guard) written(of string, m table.Image) table.Image {
	d, ok := g.derived[of]
	if !ok || m == nil {
		return m
	}
	m = maps.Clone(m)
	for _, c := range d.names {
		delete(m, c)
	}
	return m
}

func (g *guard) notice(d modernc.SQLitePreUpdateData) {
	if d.DatabaseName != "main" || d.TableName == sequenceTable && g.sequences {
		return
	}
	key := rowKey{d.TableName, d.OldRowID}
	if d.Op == lib.SQLITE_INSERT {
		key.row = d.NewRowID
	}
	want := g.expected
	switch {
	case want != nil && want.op == d.Op && want.table == key.table &&
		(d.Op == lib.SQLITE_INSERT || want.row == key.row) && (d.Op != lib.SQLITE_UPDATE || d.NewRowID == key.row):
		g.expected, g.met = nil, &key
	case !g.leaving[key] && !g.derived[key.table].only(&d):
		g.strays = append(g.strays, key)
	}
}

// errStray is in the error about a row that changed without being recorded.
var errStray = errors.New("a row changed besides")

// strayed is the problem with rows that changed without being recorded.
func (e *Edit) strayed() error {
	if len(e.guard.strays) == 0 {
		return nil
	}
	return &problem.Error{
		Class: problem.RolledBack,
		What: fmt.Sprintf("%s was not changed: a trigger or a foreign key of the database would change %s as well",
			e.db.File.Path, e.guard.strays[0]),
		Next: addedRules, Err: errStray,
	}
}

// run runs a statement that changes one row, and says which one.
func (e *Edit) run(ctx context.Context, c change, query string, args ...any) (rowKey, error) {
	s, err := e.prepare(ctx, query)
	if err != nil {
		return rowKey{}, err
	}
	before := len(e.guard.strays)
	e.guard.expected, e.guard.met = &c, nil
	_, err = s.ExecContext(ctx, args...)
	e.guard.expected = nil
	if isConstraint(err) { // the statement took back all of its changes
		e.guard.strays = e.guard.strays[:before]
	}
	if err == nil {
		err = e.strayed()
	}
	if err == nil && e.guard.met == nil {
		err = problem.New(problem.RolledBack, addedRules, "%s was not changed: the database ignores a change of %s", e.db.File.Path, c.table)
	}
	if err != nil {
		return rowKey{}, err
	}
	return *e.guard.met, nil
}
