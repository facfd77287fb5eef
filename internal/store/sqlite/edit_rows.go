package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	lib "modernc.org/sqlite/lib"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/table"
)

// Insert adds a row and returns its rowid.
func (e *Edit) Insert(ctx context.Context, into string, row []table.Field) (table.Place, error) {
	if err := e.ready(); err != nil {
		return 0, err
	}
	rowid, err := e.insert(ctx, into, nil, row)
	return table.Place(rowid), e.settle(err)
}

// Update changes columns of a row. Unless each of them holds exactly its old
// value, nothing is changed and the error is a problem of class RolledBack.
func (e *Edit) Update(ctx context.Context, of string, at table.Place, fields []table.FieldChange) error {
	if err := e.ready(); err != nil {
		return err
	}
	return e.settle(e.update(ctx, rowKey{of, int64(at)}, fields))
}

// Delete removes a row, which must exist. Rows that refer to it must be gone
// or refer elsewhere before: what SQLite would change besides is refused.
func (e *Edit) Delete(ctx context.Context, from string, at table.Place) error {
	if err := e.ready(); err != nil {
		return err
	}
	return e.settle(e.delete(ctx, rowKey{from, int64(at)}))
}

// Numbers implements table.Writer. Numbers are never left to SQLite, which may use those
// of deleted rows again; a repair that put other rows in the place of such could not be
// undone row by row. An AUTOINCREMENT table remembers the highest that it ever had.
func (e *Edit) Numbers(ctx context.Context, of, column string, count int) ([]int64, error) {
	if err := e.ready(); err != nil {
		return nil, err
	}
	var highest sql.NullInt64
	err := e.db.QueryRow(ctx, "select cast(max("+Quoted(column)+") as integer) from "+Quoted(of)).Scan(&highest)
	if err != nil {
		return nil, e.explain(err)
	}
	remembered, err := e.sequence(ctx, of)
	seq, _ := remembered["seq"].(int64)
	numbers := make([]int64, count)
	for i := range numbers {
		numbers[i] = max(highest.Int64, seq, 0) + 1 + int64(i)
	}
	return numbers, e.explain(err)
}

// insert adds a row under the given rowid, or under one that SQLite chooses.
func (e *Edit) insert(ctx context.Context, table string, rowid *int64, row []table.Field) (int64, error) {
	t, err := e.shape(ctx, table)
	if err != nil {
		return 0, err
	}
	var names []string
	var args []any
	if rowid != nil {
		names, args = append(names, t.rowid), append(args, *rowid)
	}
	for _, f := range row {
		if err := t.has(e, f.Name); err != nil {
			return 0, err
		}
		names, args = append(names, Quoted(f.Name)), append(args, f.Value)
	}
	values := " default values"
	if len(names) > 0 {
		values = "(" + strings.Join(names, ", ") + ") values(?" + strings.Repeat(", ?", len(names)-1) + ")"
	}
	before, err := e.sequence(ctx, table)
	if err != nil {
		return 0, err
	}
	key, err := e.run(ctx, change{lib.SQLITE_INSERT, rowKey{table: table}}, "insert into "+Quoted(table)+values, args...)
	if err != nil {
		return 0, err
	}
	if err := e.record(ctx, key, nil, t.columns); err != nil {
		return 0, err
	}
	after, err := e.sequence(ctx, table)
	if err == nil && !before.Equal(after) {
		e.log.addSequence(table, before, after)
	}
	return key.row, err
}

func (e *Edit) update(ctx context.Context, key rowKey, fields []table.FieldChange) error {
	t, err := e.shape(ctx, key.table)
	if err != nil || len(fields) == 0 {
		return err
	}
	var names, sets []string
	var args []any
	for _, f := range fields {
		if err := t.has(e, f.Name); err != nil {
			return err
		}
		names, sets, args = append(names, f.Name), append(sets, Quoted(f.Name)+" = ?"), append(args, f.New)
	}
	if done, err := e.updateNumbers(ctx, t, key, fields, sets, args); done || err != nil {
		return err
	}
	before, err := e.stored(ctx, key, names)
	if err != nil {
		return err
	}
	if before == nil {
		return e.notAsPlanned(key, "it does not exist")
	}
	for _, f := range fields {
		if !table.Same(before[f.Name], f.Old) {
			return e.notAsPlanned(key, f.Name+" holds another value")
		}
	}
	loose, err := e.loose(ctx, key, names)
	if err != nil {
		return err
	}
	_, err = e.run(ctx, change{lib.SQLITE_UPDATE, key},
		"update "+Quoted(key.table)+" set "+strings.Join(sets, ", ")+" where "+t.rowid+" = ?", append(args, key.row)...)
	if err == nil {
		err = e.record(ctx, key, before, names)
	}
	if loose {
		e.log.loosen(key)
	}
	return err
}

// updateNumbers is update in one statement, for integers that become other
// integers: positions, of which a repair changes tens of thousands. A column that
// holds one as an integer keeps the next one as it is, so that nothing need be
// read back. It is not done when the row holds something else.
func (e *Edit) updateNumbers(ctx context.Context, t tableShape, key rowKey, fields []table.FieldChange, sets []string, args []any) (done bool, err error) {
	before, after := make(table.Image, len(fields)), make(table.Image, len(fields))
	where := " where " + t.rowid + " = ?"
	args = append(slices.Clip(args), key.row)
	for _, f := range fields {
		old, wasInt := f.Old.(int64)
		now, isInt := f.New.(int64)
		if !wasInt || !isInt {
			return false, nil
		}
		before[f.Name], after[f.Name] = old, now
		where += " and typeof(" + Quoted(f.Name) + ") = 'integer' and " + Quoted(f.Name) + " = ?"
		args = append(args, old)
	}
	_, err = e.run(ctx, change{lib.SQLITE_UPDATE, key}, "update "+Quoted(key.table)+" set "+strings.Join(sets, ", ")+where, args...)
	if err != nil && e.guard.met == nil && problem.ClassOf(err) == problem.RolledBack {
		return false, nil // no such row: the other way says what is there
	}
	if err != nil {
		return false, err
	}
	e.log.add(key, before, after)
	return true, nil
}

// record logs a row as it is stored now. A `returning` clause would not do: it
// shows the 0 of a REAL column as an integer.
func (e *Edit) record(ctx context.Context, key rowKey, before table.Image, columns []string) error {
	after, err := e.stored(ctx, key, columns)
	if err == nil {
		e.log.add(key, before, after)
	}
	return err
}

func (e *Edit) delete(ctx context.Context, key rowKey) error {
	t, err := e.shape(ctx, key.table)
	if err != nil {
		return err
	}
	before, err := e.stored(ctx, key, t.columns)
	if err != nil {
		return err
	}
	if before == nil {
		return e.notAsPlanned(key, "it does not exist")
	}
	return e.remove(ctx, key, before)
}

// remove deletes a row, which the log shall show as it was before.
func (e *Edit) remove(ctx context.Context, key rowKey, before table.Image) error {
	t, err := e.shape(ctx, key.table)
	if err != nil {
		return err
	}
	loose, err := e.loose(ctx, key, nil)
	if err != nil {
		return err
	}
	_, err = e.run(ctx, change{lib.SQLITE_DELETE, key}, "delete from "+Quoted(key.table)+" where "+t.rowid+" = ?", key.row)
	if err == nil {
		e.log.add(key, before, nil)
	}
	if loose {
		e.log.loosen(key)
	}
	return err
}

func (e *Edit) notAsPlanned(key rowKey, why string) error {
	return problem.New(problem.RolledBack, "check the store again",
		"%s was not changed: %s is not what the change was made for: %s", e.db.File.Path, key, why)
}
