package dockeragent

import (
	"context"
	"database/sql/driver"
	"maps"
	"reflect"
	"slices"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/sqlite"
	"github.com/sessctl/sessctl/internal/store/table"
)

// writer writes one change.
type writer struct {
	*difference
	edit    *sqlite.Edit
	schema  *schema
	encoder *encoder
	change  *store.Change
}

// writeChange runs the statements in an order that no foreign key minds.
func (w *writer) writeChange(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		w.createSessions, w.updateSessions, w.removeItems, w.updateItems, w.insertItems, w.moveBranchPositions, w.rebuildColumns,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) updateSessions(ctx context.Context) error {
	ids := slices.Sorted(maps.Keys(w.sessions))
	rows, err := w.rowsOf(ctx, ids)
	if err != nil {
		return err
	}
	byRow := make(map[int64]rowEdit, len(rows))
	for _, id := range ids {
		row, ok := rows[id]
		if !ok {
			return noRecordError(tableSessions, id)
		}
		byRow[row] = w.sessions[id]
	}
	return w.updateRows(ctx, tableSessions, byRow)
}

// rowsOf are the rows of sessions, by id; those without one are left out.
func (w *writer) rowsOf(ctx context.Context, ids idList) (map[string]int64, error) {
	rows := make(map[string]int64, len(ids))
	if len(ids) == 0 {
		return rows, nil
	}
	return rows, scanRows(ctx, w.edit.DB(), w.schema, tableSessions, "id", []string{"id"}, ids.queryParameter(),
		func(rowid int64, values []driver.Value) error {
			rows[column.Text(values[0])] = rowid
			return nil
		})
}

func (w *writer) removeItems(ctx context.Context) error {
	rows := slices.Sorted(maps.Keys(w.removed))
	err := w.scanByRow(ctx, tableItems, []string{"session_id"}, rows, func(row int64, values []driver.Value) error {
		if column.Text(values[0]) != w.removed[row] {
			return staleRowError(tableItems, row)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := w.edit.Delete(ctx, tableItems, table.Place(row)); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) updateItems(ctx context.Context) error {
	return w.updateRows(ctx, tableItems, w.items)
}

// updateRows changes rows of a table. All of them are read first: what is stored
// decides what a column becomes.
func (w *writer) updateRows(ctx context.Context, of string, records map[int64]rowEdit) error {
	wanted := map[string]bool{}
	for _, r := range records {
		for column := range r {
			wanted[column] = true
		}
	}
	columns, rows := slices.Sorted(maps.Keys(wanted)), slices.Sorted(maps.Keys(records))
	changes := make(map[int64][]table.FieldChange, len(records))
	err := w.scanByRow(ctx, of, columns, rows, func(row int64, values []driver.Value) error {
		fields, ok := records[row].changedFields(columns, values)
		if !ok {
			return staleRowError(of, row)
		}
		changes[row] = fields
		return nil
	})
	if err != nil {
		return err
	}
	for _, row := range rows {
		if fields := changes[row]; len(fields) > 0 {
			if err := w.edit.Update(ctx, of, table.Place(row), fields); err != nil {
				return err
			}
		}
	}
	return nil
}

// changedFields are the changes of a record with these stored values; ok is false when
// they are not what was expected.
func (r rowEdit) changedFields(columns []string, values []driver.Value) (list []table.FieldChange, ok bool) {
	for i, column := range columns {
		rewrite := r[column]
		if rewrite == nil {
			continue
		}
		value, ok := rewrite(values[i])
		if !ok {
			return nil, false
		}
		if old := table.CloneValue(values[i]); !reflect.DeepEqual(old, value) {
			list = append(list, table.FieldChange{Name: column, Old: old, New: value})
		}
	}
	return list, true
}

// scanByRow hands the rows with these rowids to fn, all of them, which must not use the
// database.
func (w *writer) scanByRow(ctx context.Context, of string, columns []string, rows []int64,
	fn func(row int64, values []driver.Value) error,
) error {
	places := lists.MapEach(rows, func(row int64) table.Place { return table.Place(row) })
	unread, err := w.edit.Reader().Rows(ctx, of, columns, places, func(n int, values []driver.Value) error { return fn(rows[n], values) })
	if err == nil && len(unread) > 0 {
		err = staleRowError(of, rows[unread[0]])
	}
	return err
}

func staleRowError(table string, row int64) error {
	return problem.New(problem.RolledBack, "Check the store again. If no other program wrote to it, repair the other sessions one by one with --session.",
		"row %d of %s changed after the repair was planned, or holds a key twice, so it cannot be changed safely", row, table)
}
