package eventlog

import (
	"context"
	"database/sql"

	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// numbers gives out the numbers of events (Write.Renumber): each higher than all
// that were ever given out as far as the store knows. They are never left to
// SQLite, which may use those of deleted rows again; a repair that put other
// events in the place of such rows could not be undone row by row.
type numbers struct {
	columns []string
	next    []int64
	areRows bool // a number is the row's own rowid
}

// read finds the numbers that come next.
func (n *numbers) read(ctx context.Context, w *writer) error {
	n.columns = w.write.Renumber
	n.next = make([]int64, len(n.columns))
	for i, column := range n.columns {
		highest, err := w.highest(ctx, column)
		if err != nil {
			return err
		}
		n.next[i] = highest + 1
		isRow, err := w.edit.DB().IsRowID(ctx, w.events.Name, column)
		if err != nil {
			return err
		}
		n.areRows = n.areRows || isRow
	}
	return nil
}

// highest is the highest number of a column, or the one that an AUTOINCREMENT
// table remembers.
func (w *writer) highest(ctx context.Context, column string) (int64, error) {
	db, name := w.edit.DB(), sqlite.Quoted(column)
	var stored, remembered sql.NullInt64
	err := db.QueryRow(ctx, "select cast(max("+name+") as integer) from "+w.events.quotedName()).Scan(&stored)
	if err != nil {
		return 0, err
	}
	var counts bool
	err = db.QueryRow(ctx, "select exists(select 1 from sqlite_schema where name = 'sqlite_sequence')").Scan(&counts)
	if err == nil && counts {
		err = db.QueryRow(ctx, "select max(seq) from sqlite_sequence where name = ?", w.events.Name).Scan(&remembered)
	}
	return max(stored.Int64, remembered.Int64, 0), err
}

// give adds the next number to a new row.
func (n *numbers) give(row []sqlite.Field) []sqlite.Field {
	for i, column := range n.columns {
		row = append(row, sqlite.Field{Name: column, Value: n.next[i]})
		n.next[i]++
	}
	return row
}

// change gives the next number to a stored row.
func (n *numbers) change(row Row) []sqlite.FieldChange {
	var fields []sqlite.FieldChange
	for i, column := range n.columns {
		fields = append(fields, sqlite.FieldChange{Name: column, Old: row.Value(column), New: n.next[i]})
		n.next[i]++
	}
	return fields
}
