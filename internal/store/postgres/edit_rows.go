package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/table"
)

// Insert implements table.Writer.
func (e *Edit) Insert(ctx context.Context, into string, row []table.Field) (table.Place, error) {
	if err := e.checkReady(); err != nil {
		return 0, err
	}
	at, err := e.insertRow(ctx, into, row)
	return at, e.rememberError(err)
}

// Update implements table.Writer.
func (e *Edit) Update(ctx context.Context, of string, at table.Place, fields []table.FieldChange) error {
	if err := e.checkReady(); err != nil || len(fields) == 0 {
		return err
	}
	now := e.currentPlace(of, at)
	return e.rememberError(e.updateRow(ctx, of, "ctid operator(pg_catalog.=) $1", [][]byte{[]byte(ctidText(now))}, fields))
}

// Delete implements table.Writer.
func (e *Edit) Delete(ctx context.Context, from string, at table.Place) error {
	if err := e.checkReady(); err != nil {
		return err
	}
	return e.rememberError(e.deleteRow(ctx, from, "ctid operator(pg_catalog.=) $1", [][]byte{[]byte(ctidText(e.currentPlace(from, at)))}, nil))
}

// ReserveNumbers implements table.Writer. A sequence does not take back what it gave out.
func (e *Edit) ReserveNumbers(ctx context.Context, of, column string, count int) ([]int64, error) {
	if err := e.checkReady(); err != nil || count == 0 {
		return nil, err
	}
	from, name := e.tableName(of), quotedName(column)
	highest := int64(0)
	number := func(text string) int64 { n, _ := strconv.ParseInt(text, 10, 64); return n } // of a bigint
	err := e.queryTexts(ctx, "select coalesce(max("+name+"), 0)::bigint from only "+from, func(row []string) error { highest = number(row[0]); return nil })
	var numbers []int64
	if err == nil && e.tables[of].Column(column).Given {
		// A sequence that is behind its table, as after a restore of rows alone, goes on from there.
		const sequence = "(select pg_get_serial_sequence($1, $2)::regclass s) x"
		err = e.queryTexts(ctx, "select case when nextval(s) < $3::bigint then setval(s, $3::bigint) end from "+sequence,
			func([]string) error { return nil }, from, column, strconv.FormatInt(highest, 10))
		if err == nil {
			err = e.queryTexts(ctx, "select nextval(s) from "+sequence+", generate_series(1, $3::int)", func(row []string) error {
				numbers = append(numbers, number(row[0]))
				return nil
			}, from, column, strconv.Itoa(count))
		}
		return numbers, e.rememberError(err)
	}
	for i := range count {
		numbers = append(numbers, highest+1+int64(i))
	}
	return numbers, e.rememberError(err)
}

// checkReady is the reason why the transaction takes no more changes.
func (e *Edit) checkReady() error {
	if !e.writes {
		return errors.New("no transaction is open")
	}
	return e.failed
}

// columnsOf are the columns that a row of a table is kept with: all that the server does
// not compute.
func (e *Edit) columnsOf(name string) []string {
	r := e.tables[name]
	var list []string
	for _, c := range r.Columns {
		if !slices.Contains(r.made, c.Name) {
			list = append(list, c.Name)
		}
	}
	return list
}

// checkChangeable makes sure that a table can be changed and has these columns.
func (e *Edit) checkChangeable(name string, columns []string) error {
	r, ok := e.tables[name]
	if !ok {
		return problem.New(problem.RolledBack, "", "%s was not changed: it has no table %s", e.Name, name)
	}
	for _, c := range columns {
		if _, ok := r.types[c]; !ok {
			return problem.New(problem.RolledBack, "", "%s was not changed: its table %s has no column %s", e.Name, name, c)
		}
	}
	if r.ReadOnly != "" {
		return problem.New(problem.Unreadable, "", "%s was not changed: %s", e.Name, r.ReadOnly)
	}
	return nil
}

// queryOneRow reads the only row that a query hands over, nil for none.
func (e *Edit) queryOneRow(ctx context.Context, q *selection, sql string, values [][]byte) (at table.Place, image table.Image, err error) {
	err = q.runQuery(ctx, sql, values, func(place table.Place, row []table.Value) error {
		at, image = place, make(table.Image, len(row))
		for i, column := range q.columns {
			image[column] = table.CloneValue(row[i])
		}
		return nil
	})
	return at, image, err
}

// changeRow changes a row. Functions that run with it may name things without their schemas: they
// get the search path that a runtime has. All names of the statement itself have schemas.
func (e *Edit) changeRow(ctx context.Context, q *selection, name, sql string, values [][]byte) (at table.Place, image table.Image, err error) {
	if !e.sure[name] { // once it is locked, nobody can add a function to the table
		err = cmp.Or(e.execSQL(ctx, "lock table only "+q.from+" in row exclusive mode"), e.readFunctions(ctx, name), e.checkChangeable(name, nil))
		e.sure[name] = err == nil
	}
	if err != nil {
		return 0, nil, err
	}
	err = e.withPath(ctx, e.tables[name].runs, func() (err error) { at, image, err = e.queryOneRow(ctx, q, sql, values); return err })
	return at, image, err
}

func (e *Edit) withPath(ctx context.Context, runs bool, do func() error) error {
	if !runs {
		return do()
	}
	if err := e.execSQL(ctx, "set local search_path = "+e.path); err != nil {
		return err
	}
	return cmp.Or(do(), e.execSQL(ctx, ownPath))
}

// lockStored reads and locks a row; nil when there is no such row.
func (e *Edit) lockStored(ctx context.Context, name, where string, values [][]byte, columns []string) (table.Place, table.Image, error) {
	q, err := e.newSelection(name, columns)
	if err != nil {
		return 0, nil, err
	}
	return e.queryOneRow(ctx, q, q.selectSQL(" where "+where)+" for update", values)
}

func (e *Edit) insertRow(ctx context.Context, into string, row []table.Field) (table.Place, error) {
	var names, values []string
	var args [][]byte
	for _, f := range row {
		names, args = append(names, f.Name), append(args, e.parameterText(into, f.Name, f.Value))
		values = append(values, fmt.Sprint("$", len(args)))
	}
	if err := e.checkChangeable(into, names); err != nil {
		return 0, err
	}
	q, err := e.newSelection(into, e.columnsOf(into))
	if err != nil {
		return 0, err
	}
	for i := range names {
		names[i] = quotedName(names[i])
	}
	at, after, err := e.changeRow(ctx, q, into, "insert into "+q.from+" as e ("+strings.Join(names, ", ")+") overriding system value values ("+strings.Join(values, ", ")+")"+q.returningClause(), args)
	if err != nil {
		return 0, err
	}
	e.logChange(into, nil, after, 0)
	return at, nil
}

func (q *selection) returningClause() string {
	return " returning " + strings.TrimPrefix(strings.TrimSuffix(q.selectSQL(""), " from only "+q.from+" e"), "select ")
}

// logChange writes into the log what became of a row.
func (e *Edit) logChange(name string, before, after table.Image, how int) {
	if after == nil && before == nil { // which a trigger kept from being written
		return
	}
	e.log = append(e.log, table.RowChange{Table: name, Before: before, After: after})
	c := e.made[name]
	c[how]++
	e.made[name] = c
}

func (e *Edit) updateRow(ctx context.Context, of, where string, values [][]byte, fields []table.FieldChange) error {
	columns := slices.Clone(e.tables[of].key)
	var sets []string
	args := slices.Clone(values)
	for _, f := range fields {
		if !slices.Contains(columns, f.Name) {
			columns = append(columns, f.Name)
		}
		args = append(args, e.parameterText(of, f.Name, f.New))
		sets = append(sets, fmt.Sprintf("%s = $%d", quotedName(f.Name), len(args)))
	}
	if err := e.checkChangeable(of, columns); err != nil {
		return err
	}
	was, before, err := e.lockStored(ctx, of, where, values, columns)
	if err != nil {
		return err
	}
	if before == nil {
		return e.notAsPlanned(of, "a row does not exist any more")
	}
	for _, f := range fields {
		if !table.SameValue(before[f.Name], f.Old) {
			return e.notAsPlanned(of, f.Name+" of a row holds another value")
		}
	}
	q, err := e.newSelection(of, columns)
	if err != nil {
		return err
	}
	at, after, err := e.changeRow(ctx, q, of, "update only "+q.from+" e set "+strings.Join(sets, ", ")+" where "+where+q.returningClause(), args)
	if err != nil {
		return err
	}
	if after == nil {
		return e.notAsPlanned(of, "a trigger keeps a row from being changed")
	}
	e.moved[rowAt{of, was}] = at
	e.logChange(of, before, after, 1)
	return nil
}

// deleteRow deletes a row that is what an image says; nil for any.
func (e *Edit) deleteRow(ctx context.Context, from, where string, values [][]byte, like table.Image) error {
	if err := e.checkChangeable(from, nil); err != nil {
		return err
	}
	_, before, err := e.lockStored(ctx, from, where, values, e.columnsOf(from))
	if err != nil {
		return err
	}
	if before == nil {
		return e.notAsPlanned(from, "a row does not exist any more")
	}
	if like != nil && !before.Equal(like) {
		return e.changedSince(from)
	}
	q, err := e.newSelection(from, nil)
	if err != nil {
		return err
	}
	_, deleted, err := e.changeRow(ctx, q, from, "delete from only "+q.from+" e where "+where+q.returningClause(), values)
	if err != nil {
		return err
	}
	if deleted == nil {
		return e.notAsPlanned(from, "a trigger keeps a row from being deleted")
	}
	e.logChange(from, before, nil, 2)
	return nil
}

func (e *Edit) notAsPlanned(name, why string) error {
	return problem.New(problem.RolledBack, "Check the store again.", "%s was not changed: in %s, %s", e.Name, name, why)
}

// changedSince is the problem with a row that is not what a repair left.
func (e *Edit) changedSince(name string) error {
	return problem.New(problem.Busy, "Nothing was changed.", "%s cannot be restored: a row of %s was changed after the repair", e.Name, name)
}

// parameterText is a value as the server takes it for a column: a text in the form of its type.
func (e *Edit) parameterText(name, column string, value any) []byte {
	oid := e.tables[name].types[column]
	switch v := value.(type) {
	case int64:
		if oid == typeBool {
			return strconv.AppendBool(nil, v != 0)
		}
		return strconv.AppendInt(nil, v, 10)
	case float64:
		return strconv.AppendFloat(nil, v, 'g', -1, 64)
	case string:
		if oid == typeBytea {
			return fmt.Appendf(nil, `\x%x`, v)
		}
		return []byte(v)
	case []byte:
		if oid == typeBytea {
			return fmt.Appendf(nil, `\x%x`, v)
		}
		return append([]byte{}, v...)
	}
	return nil
}

// Revert implements table.Editor: the last change first, so that each finds what the one
// before it left. Rows are known by their primary keys.
func (e *Edit) Revert(ctx context.Context, journal []byte, tables ...string) error {
	changes, err := table.DecodeChanges(journal)
	if err != nil {
		return err
	}
	if err := e.checkReady(); err != nil {
		return err
	}
	for _, c := range slices.Backward(changes) {
		if !slices.Contains(tables, c.Table) {
			return problem.New(problem.Busy, "Nothing was changed.", "the receipt names the table %q, which a repair of such a store never changes", c.Table)
		}
		if err := e.takeBack(ctx, c); err != nil {
			return e.rememberError(err)
		}
	}
	return nil
}

func (e *Edit) takeBack(ctx context.Context, c table.RowChange) error {
	if c.After == nil {
		_, err := e.insertRow(ctx, c.Table, c.Before.Fields())
		if refused, ok := errors.AsType[*pgconn.PgError](err); ok && strings.HasPrefix(refused.Code, "23") {
			return &problem.Error{Class: problem.Busy, Err: err, Next: "Nothing was changed.",
				What: fmt.Sprintf("%s cannot be restored: a row of %s has no place any more (%s)", e.Name, c.Table, stateOf(err))}
		}
		return err
	}
	condition, values := e.byKey(c.Table, c.After)
	if condition == "" {
		return e.checkChangeable(c.Table, nil)
	}
	if c.Before == nil {
		return e.deleteRow(ctx, c.Table, condition, values, c.After)
	}
	var fields []table.FieldChange
	for _, f := range c.After.Fields() {
		if was := c.Before[f.Name]; !table.SameValue(was, f.Value) {
			fields = append(fields, table.FieldChange{Name: f.Name, Old: f.Value, New: was})
		}
	}
	err := e.updateRow(ctx, c.Table, condition, values, fields)
	if problem.ClassOf(err) == problem.RolledBack {
		return e.changedSince(c.Table)
	}
	return err
}

// byKey is the condition for a row that has the primary key of an image.
func (e *Edit) byKey(name string, image table.Image) (where string, values [][]byte) {
	var same []string
	for _, column := range e.tables[name].key {
		values = append(values, e.parameterText(name, column, image[column]))
		same = append(same, fmt.Sprintf("%s operator(pg_catalog.=) $%d", quotedName(column), len(values)))
	}
	return strings.Join(same, " and "), values
}
