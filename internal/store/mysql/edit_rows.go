package mysql

import (
	"context"
	"database/sql/driver"
	"maps"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/table"
)

func (e *Edit) atPlace(name string, at table.Place) condition {
	r := e.tables[name]
	if r == nil || r.places.keyOf(at) == nil {
		return condition{sql: "false"}
	}
	return r.withKeys(r.key, [][]table.Value{r.places.keyOf(at)}, r.places.unlike)
}

func (e *Edit) withKey(name string, image table.Image) condition {
	r := e.tables[name]
	key := lists.MapEach(r.key, func(column string) table.Value { return image[column] })
	return r.withKeys(r.key, [][]table.Value{key}, r.places.unlike)
}

func (e *Edit) lockRow(ctx context.Context, name string, where condition, columns []string) (at table.Place, image table.Image, err error) {
	q, err := e.newSelection(name, columns)
	if err != nil || where.sql == "" {
		return 0, nil, err
	}
	err = q.runSelection(ctx, e.DB, where, " for update", func(place table.Place, row []table.Value) error {
		at, image = place, make(table.Image, len(row))
		for i, column := range columns {
			image[column] = table.CloneValue(row[i])
		}
		return nil
	})
	return at, image, err
}

func (e *Edit) insertRow(ctx context.Context, into string, row []table.Field, columns []string) (table.Place, table.Image, error) {
	r := e.tables[into]
	names, args, image := make([]string, len(row)), make([]driver.Value, len(row)), table.Image{}
	for i, f := range row {
		names[i], args[i], image[f.Name] = f.Name, parameterOf(r.kinds[f.Name], f.Value), f.Value
	}
	_, number, err := e.execStatement(ctx, "insert into "+e.tableName(into)+" ("+quotedNames(names)+") values ("+strings.TrimSuffix(strings.Repeat("?, ", len(args)), ", ")+")", args...)
	if err != nil {
		return 0, nil, err
	}
	for _, column := range r.key {
		if _, known := image[column]; !known && r.Column(column).Given {
			image[column] = number
		}
	}
	// Rows came to lead there while nothing checked it, as an import of a dump does. They would keep an undo from
	// taking the new one away.
	if err := e.checkChildren(ctx, into, e.withKey(into, image), nil); err != nil {
		return 0, nil, err
	}
	return e.lockRow(ctx, into, e.withKey(into, image), columns)
}

// updateRow changes a row. Columns that the server would set to the time of the
// change are given what they hold.
func (e *Edit) updateRow(ctx context.Context, of string, where condition, was table.Place, fields []table.FieldChange, columns []string) (table.Image, error) {
	r := e.tables[of]
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
	if err := e.checkChildren(ctx, of, where, changed); err != nil {
		return nil, err
	}
	if err := e.checkParents(ctx, of, where, changed); err != nil {
		return nil, err
	}
	found, _, err := e.execStatement(ctx, "update "+e.tableName(of)+" set "+strings.Join(sets, ", ")+" where "+where.sql, slices.Concat(args, where.args)...)
	if err != nil || found != 1 {
		return nil, err
	}
	if moves {
		r.places.moveEntry(was, key)
	}
	_, after, err := e.lockRow(ctx, of, r.withKeys(r.key, [][]table.Value{key}, r.places.unlike), columns)
	return after, err
}

func (e *Edit) deleteRow(ctx context.Context, from string, where condition) (bool, error) {
	if err := e.checkChildren(ctx, from, where, nil); err != nil {
		return false, err
	}
	if err := e.checkParents(ctx, from, where, nil); err != nil {
		return false, err
	}
	found, _, err := e.execStatement(ctx, "delete from "+e.tableName(from)+" where "+where.sql, where.args...)
	return found == 1, err
}

// checkChildren is the problem with a row to which rows of other tables lead, by columns that
// change, or any for nil: a foreign key would change those, and no counter tells.
func (e *Edit) checkChildren(ctx context.Context, name string, where condition, changed []string) error {
	for _, c := range e.tables[name].children {
		if changed != nil && !slices.ContainsFunc(changed, func(f string) bool { return slices.Contains(c.leadTo, f) }) {
			continue
		}
		leads := "select 1 from " + c.table + " where (" + quotedNames(c.columns) + ") in (select " + quotedNames(c.leadTo) + " from " + e.tableName(name) + " where " + where.sql + ") limit 1"
		err := e.queryTexts(ctx, leads, func([]string) error {
			return problem.New(problem.RolledBack, "Check the store again.", "%s was not changed: rows of %s lead to a row of %s that would come or go", e.Of, c.table, name)
		}, where.args...)
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *Edit) rememberPlaces() (restore func()) {
	before := map[*relation][2]map[table.Place]table.Place{}
	for _, r := range e.tables {
		before[r] = [2]map[table.Place]table.Place{maps.Clone(r.places.moved), maps.Clone(r.places.owners)}
	}
	return func() {
		for r, was := range before {
			r.places.moved, r.places.owners = was[0], was[1]
		}
	}
}

// describeBreak is what is said of an error about a constraint, "" for others.
func describeBreak(err error) string {
	if isNumber(err, duplicate, 1216, 1451, 1452) {
		return "a constraint refuses it"
	}
	return ""
}

// checkParents is the problem with a row that leads nowhere, by columns that change, or any for nil. It came about
// while nothing checked it: its foreign key keeps an undo from bringing it back.
func (e *Edit) checkParents(ctx context.Context, name string, where condition, changed []string) error {
	for parent, r := range e.tables {
		for _, c := range r.children {
			if c.table != e.tableName(name) || changed != nil && !slices.ContainsFunc(changed, func(f string) bool { return slices.Contains(c.columns, f) }) {
				continue
			}
			lost := "select 1 from " + c.table + " where " + where.sql + " and (" + quotedNames(c.columns) + ") not in (select " + quotedNames(c.leadTo) + " from " + e.tableName(parent) + ") limit 1"
			err := e.queryTexts(ctx, lost, func([]string) error {
				return problem.New(problem.RolledBack, "Check the store again.", "%s was not changed: a row of %s that would change or go leads to no row of %s, and no undo could bring it back", e.Of, name, parent)
			}, where.args...)
			if err != nil {
				return err
			}
		}
	}
	return nil
}
