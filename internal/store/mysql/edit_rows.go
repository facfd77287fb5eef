package mysql

import (
	"context"
	"database/sql/driver"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/server"
	"github.com/sessctl/sessctl/internal/store/table"
)

// statements is how the servers are told to change rows: server.Statements.
type statements struct{ e *Edit }

// KeyColumns implements server.Statements.
func (s statements) KeyColumns(name string) []string { return s.e.tables[name].key }

// RowColumns implements server.Statements.
func (s statements) RowColumns(name string) []string {
	r := s.e.tables[name]
	return slices.DeleteFunc(s.e.rest.Columns(name), func(c string) bool { return slices.Contains(r.made, c) })
}

// CheckChangeable implements server.Statements.
func (s statements) CheckChangeable(name string, columns []string) error {
	r, e := s.e.tables[name], s.e
	if r == nil {
		return problem.New(problem.RolledBack, "", "%s was not changed: it has no table %s", e.Of, name)
	}
	for _, c := range columns {
		if _, ok := r.kinds[c]; !ok {
			return problem.New(problem.RolledBack, "", "%s was not changed: its table %s has no column %s", e.Of, name, c)
		}
	}
	if r.ReadOnly != "" {
		return problem.New(problem.Unreadable, "", "%s was not changed: %s", e.Of, r.ReadOnly)
	}
	return nil
}

// AtPlace implements server.Statements.
func (s statements) AtPlace(name string, at table.Place) condition {
	r := s.e.tables[name]
	if r == nil || r.places.keyOf(at) == nil {
		return condition{sql: "false"}
	}
	return r.withKeys(r.key, [][]table.Value{r.places.keyOf(at)}, r.places.unlike)
}

// WithKey implements server.Statements.
func (s statements) WithKey(name string, image table.Image) condition {
	r := s.e.tables[name]
	return r.withKeys(r.key, [][]table.Value{r.keyIn(image)}, r.places.unlike)
}

// keyIn is the key of a row, of whose columns an image has these.
func (r *relation) keyIn(image table.Image) []table.Value {
	key := make([]table.Value, len(r.key))
	for i, column := range r.key {
		key[i] = image[column]
	}
	return key
}

// LockRow implements server.Statements.
func (s statements) LockRow(ctx context.Context, name string, where condition, columns []string) (at table.Place, image table.Image, err error) {
	q, err := s.e.newSelection(name, columns)
	if err != nil || where.sql == "" {
		return 0, nil, err
	}
	err = q.run(ctx, s.e.DB, where, " for update", func(place table.Place, row []table.Value) error {
		at, image = place, make(table.Image, len(row))
		for i, column := range columns {
			image[column] = table.CloneValue(row[i])
		}
		return nil
	})
	return at, image, err
}

// InsertRow implements server.Statements.
func (s statements) InsertRow(ctx context.Context, into string, row []table.Field, columns []string) (table.Place, table.Image, error) {
	r := s.e.tables[into]
	names, args, image := make([]string, len(row)), make([]driver.Value, len(row)), table.Image{}
	for i, f := range row {
		names[i], args[i], image[f.Name] = f.Name, parameterOf(r.kinds[f.Name], f.Value), f.Value
	}
	_, number, err := s.e.exec(ctx, "insert into "+s.e.tableName(into)+" ("+quotedNames(names)+") values "+marks(len(args)), args...)
	if err != nil {
		return 0, nil, err
	}
	for _, column := range r.key {
		if _, known := image[column]; !known && r.Column(column).Given {
			image[column] = number
		}
	}
	return s.LockRow(ctx, into, s.WithKey(into, image), columns)
}

func marks(n int) string { return "(" + strings.TrimSuffix(strings.Repeat("?, ", n), ", ") + ")" }

// UpdateRow implements server.Statements. Columns that the server would set to the time of the
// change are given what they hold.
func (s statements) UpdateRow(ctx context.Context, of string, where condition, was table.Place, fields []table.FieldChange, columns []string) (table.Image, error) {
	r := s.e.tables[of]
	var sets, changed []string
	var args []driver.Value
	key, moves := r.places.keyOf(was), false
	for _, f := range fields {
		sets, args, changed = append(sets, quotedName(f.Name)+" = ?"), append(args, parameterOf(r.kinds[f.Name], f.New)), append(changed, f.Name)
		if i := slices.Index(r.key, f.Name); i >= 0 {
			key, moves = slices.Clone(key), true
			key[i] = table.CloneValue(f.New)
		}
	}
	for _, c := range r.clocks {
		if !slices.Contains(changed, c) {
			sets = append(sets, quotedName(c)+" = "+quotedName(c))
		}
	}
	if err := s.checkChildren(ctx, of, where, changed); err != nil {
		return nil, err
	}
	found, _, err := s.e.exec(ctx, "update "+s.e.tableName(of)+" set "+strings.Join(sets, ", ")+" where "+where.sql, slices.Concat(args, where.args)...)
	if err != nil || found != 1 {
		return nil, err
	}
	if moves {
		r.places.move(was, key)
	}
	_, after, err := s.LockRow(ctx, of, r.withKeys(r.key, [][]table.Value{key}, r.places.unlike), columns)
	return after, err
}

// DeleteRow implements server.Statements.
func (s statements) DeleteRow(ctx context.Context, from string, where condition) (bool, error) {
	if err := s.checkChildren(ctx, from, where, nil); err != nil {
		return false, err
	}
	found, _, err := s.e.exec(ctx, "delete from "+s.e.tableName(from)+" where "+where.sql, where.args...)
	return found == 1, err
}

// checkChildren is the problem with a row to which rows of other tables lead, by columns that
// change, or any for nil: a foreign key would change those, and no counter tells.
func (s statements) checkChildren(ctx context.Context, name string, where condition, changed []string) error {
	for _, c := range s.e.tables[name].children {
		if changed != nil && !slices.ContainsFunc(changed, func(f string) bool { return slices.Contains(c.leadTo, f) }) {
			continue
		}
		leads := "select 1 from " + c.table + " where (" + quotedNames(c.columns) + ") in (select " + quotedNames(c.leadTo) + " from " + s.e.tableName(name) + " where " + where.sql + ") limit 1"
		err := s.e.queryTexts(ctx, leads, func([]string) error {
			return problem.New(problem.RolledBack, "Check the store again.", "%s was not changed: rows of %s lead to a row of %s that would go", s.e.Of, c.table, name)
		}, where.args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// CountedAs implements server.Statements: the counters know no tables.
func (s statements) CountedAs(string) string { return "" }

// CountChanges implements server.Statements.
func (s statements) CountChanges(ctx context.Context) (map[string]server.Counts, error) {
	all, err := s.e.readCounters(ctx)
	return map[string]server.Counts{"": all}, err
}

// Execute implements server.Statements.
func (s statements) Execute(ctx context.Context, sql string) error { return s.e.execAll(ctx, sql) }

// Remember implements server.Statements.
func (s statements) Remember() (restore func()) {
	before := map[*relation]map[table.Place][]table.Value{}
	for _, r := range s.e.tables {
		before[r] = r.places.moved
		r.places.moved = nil
		for at, key := range before[r] {
			r.places.move(at, key)
		}
	}
	return func() {
		for r, moved := range before {
			r.places.moved = moved
		}
	}
}

// ExplainWrite implements server.Statements.
func (s statements) ExplainWrite(err error) error { return s.e.explainWriteError(err) }

// BreaksConstraint implements server.Statements.
func (s statements) BreaksConstraint(err error) string {
	if isNumber(err, duplicate, 1216, 1451, 1452) {
		return "a constraint refuses it"
	}
	return ""
}
