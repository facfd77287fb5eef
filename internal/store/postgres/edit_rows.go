package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sessctl/sessctl/internal/store/server"
	"github.com/sessctl/sessctl/internal/store/table"
)

// ReserveNumbers implements table.Writer. A sequence does not take back what it gave out.
func (e *Edit) ReserveNumbers(ctx context.Context, of, column string, count int) ([]int64, error) {
	if err := e.CheckReady(); err != nil || count == 0 {
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
		return numbers, e.RememberError(err)
	}
	for i := range count {
		numbers = append(numbers, highest+1+int64(i))
	}
	return numbers, e.RememberError(err)
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
		err = cmp.Or(e.execSQL(ctx, "lock table only "+q.from+" in row exclusive mode"), e.readFunctions(ctx, name), e.CheckChangeable(name, nil))
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

// lockRow reads and locks a row; nil when there is no such row.
func (e *Edit) lockRow(ctx context.Context, name string, where condition, columns []string) (table.Place, table.Image, error) {
	q, err := e.newSelection(name, columns)
	if err != nil {
		return 0, nil, err
	}
	return e.queryOneRow(ctx, q, q.selectSQL(" where "+where.sql)+" for update", where.args)
}

func (e *Edit) insertRow(ctx context.Context, into string, row []table.Field, columns []string) (table.Place, table.Image, error) {
	var names, values []string
	var args [][]byte
	for _, f := range row {
		names, args = append(names, quotedName(f.Name)), append(args, e.parameterText(into, f.Name, f.Value))
		values = append(values, fmt.Sprint("$", len(args)))
	}
	q, err := e.newSelection(into, columns)
	if err != nil {
		return 0, nil, err
	}
	sql := "insert into " + q.from + " as e (" + strings.Join(names, ", ") + ") overriding system value values (" + strings.Join(values, ", ") + ")"
	return e.changeRow(ctx, q, into, sql+q.returningClause(), args)
}

func (e *Edit) updateRow(ctx context.Context, of string, where condition, was table.Place, fields []table.FieldChange, columns []string) (table.Image, error) {
	var sets []string
	args := slices.Clone(where.args)
	for _, f := range fields {
		args = append(args, e.parameterText(of, f.Name, f.New))
		sets = append(sets, fmt.Sprintf("%s = $%d", quotedName(f.Name), len(args)))
	}
	q, err := e.newSelection(of, columns)
	if err != nil {
		return nil, err
	}
	at, after, err := e.changeRow(ctx, q, of, "update only "+q.from+" e set "+strings.Join(sets, ", ")+" where "+where.sql+q.returningClause(), args)
	if after != nil {
		e.moved[rowAt{of, was}] = at
	}
	return after, err
}

func (e *Edit) deleteRow(ctx context.Context, from string, where condition) (bool, error) {
	q, err := e.newSelection(from, nil)
	if err != nil {
		return false, err
	}
	_, deleted, err := e.changeRow(ctx, q, from, "delete from only "+q.from+" e where "+where.sql+q.returningClause(), where.args)
	return deleted != nil, err
}

func (e *Edit) atPlace(name string, at table.Place) condition {
	return condition{"ctid operator(pg_catalog.=) $1", [][]byte{[]byte(ctidText(e.currentPlace(name, at)))}}
}

func (e *Edit) withKey(name string, image table.Image) condition {
	var same []string
	var args [][]byte
	for _, column := range e.tables[name].key {
		args = append(args, e.parameterText(name, column, image[column]))
		same = append(same, fmt.Sprintf("%s operator(pg_catalog.=) $%d", quotedName(column), len(args)))
	}
	return condition{strings.Join(same, " and "), args}
}

// countChanges counts by tables of the schema, and of others by their full names.
func (e *Edit) countChanges(ctx context.Context) (map[string]server.Counts, error) {
	all := map[string]server.Counts{}
	err := e.queryTexts(ctx, `select case when schemaname = $1 then relname else schemaname || '.' || relname end, n_tup_ins, n_tup_upd, n_tup_del
from pg_catalog.pg_stat_xact_user_tables where n_tup_ins + n_tup_upd + n_tup_del > 0`, func(row []string) error {
		var c server.Counts
		for i := range c {
			c[i], _ = strconv.ParseInt(row[1+i], 10, 64)
		}
		all[row[0]] = c
		return nil
	}, e.schema)
	return all, err
}

func (e *Edit) rememberPlaces() (restore func()) {
	moved, sure := e.moved, e.sure
	e.moved, e.sure = maps.Clone(moved), maps.Clone(sure)
	return func() { e.moved, e.sure = moved, sure }
}

// describeBreak is the state of an error about a constraint, "" for others.
func describeBreak(err error) string {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && strings.HasPrefix(refused.Code, "23") {
		return stateOf(err)
	}
	return ""
}

func (q *selection) returningClause() string {
	return " returning " + strings.TrimPrefix(strings.TrimSuffix(q.selectSQL(""), " from only "+q.from+" e"), "select ")
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
