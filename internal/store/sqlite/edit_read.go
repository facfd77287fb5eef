package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/table"
)

// readStored reads columns of a row exactly as they are stored; nil when there is
// no such row.
func (e *Edit) readStored(ctx context.Context, key rowKey, columns []string) (table.Image, error) {
	t, err := e.loadShape(ctx, key.table)
	if err != nil {
		return nil, err
	}
	s, err := e.prepareStatement(ctx, "select "+t.rowid+exactColumns(columns)+" from "+Quoted(key.table)+" where "+t.rowid+" = ?")
	if err != nil {
		return nil, err
	}
	values, err := firstRow(s.QueryContext(ctx, key.row))(1 + len(columns))
	if err != nil || values == nil {
		return nil, err
	}
	return imageOf(columns, values[1:]), nil
}

// exactColumns lists columns to read, each after a comma. The plus takes their
// declared types off: the driver would make times of columns with some.
func exactColumns(columns []string) string {
	var b strings.Builder
	for _, c := range columns {
		b.WriteString(", +" + Quoted(c))
	}
	return b.String()
}

// firstRow makes a reader of the first row of a result, nil when it is empty.
func firstRow(rows *sql.Rows, err error) func(columns int) ([]any, error) {
	return func(columns int) (values []any, _ error) {
		if err != nil {
			return nil, err
		}
		if rows.Next() {
			values = make([]any, columns)
			targets := make([]any, columns)
			for i := range values {
				targets[i] = &values[i]
			}
			err = rows.Scan(targets...)
		}
		return values, errors.Join(err, rows.Err(), rows.Close())
	}
}

// tableShape is what statements need to know of a table.
type tableShape struct {
	name, rowid string
	columns     []string
}

func (e *Edit) loadShape(ctx context.Context, table string) (tableShape, error) {
	if t, ok := e.tables[table]; ok {
		return t, nil
	}
	columns, err := e.db.readColumns(ctx)
	if err != nil {
		return tableShape{}, err
	}
	if columns[table] == nil {
		return tableShape{}, problem.New(problem.RolledBack, "", "%s was not changed: it has no table %s", e.db.File.Path, table)
	}
	rowid, err := e.db.RowID(ctx, table)
	if err == nil {
		e.tables[table] = tableShape{table, rowid, columns[table]}
	}
	return e.tables[table], err
}

// checkColumn refuses names that are no column. SQLite would take one for a text.
func (t tableShape) checkColumn(e *Edit, column string) error {
	if slices.Contains(t.columns, column) {
		return nil
	}
	return problem.New(problem.RolledBack, "", "%s was not changed: its table %s has no column %s", e.db.File.Path, t.name, column)
}

// prepareStatement keeps statements: a repair repeats a few of them many times.
func (e *Edit) prepareStatement(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := e.statements[query]; ok {
		return s, nil
	}
	s, err := e.db.conn.PrepareContext(ctx, query)
	if err == nil {
		e.statements[query] = s
	}
	return s, err
}
