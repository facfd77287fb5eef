package sqlite

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/table"
)

// foreignKeys reads the foreign keys of all tables. One whose parent table is missing,
// or has other columns, binds nothing.
func (e *Edit) foreignKeys(ctx context.Context) ([]ForeignKey, error) {
	if e.keys != nil {
		return e.keys, nil
	}
	tables, err := e.db.columns(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := e.db.ForeignKeys(ctx)
	if err != nil {
		return nil, err
	}
	e.keys = slices.DeleteFunc(append([]ForeignKey{}, keys...), func(k ForeignKey) bool {
		known := slices.ContainsFunc(slices.Collect(maps.Keys(tables)), func(t string) bool { return strings.EqualFold(t, k.Parent) })
		return !known || slices.Contains(k.To, "")
	})
	return e.keys, nil
}

// loose reports whether a foreign key of a row leads nowhere, of those that have one of
// the columns; nil for all columns.
func (e *Edit) loose(ctx context.Context, key rowKey, columns []string) (bool, error) {
	keys, err := e.foreignKeys(ctx)
	if err != nil {
		return false, err
	}
	var where []string
	for _, k := range keys {
		if k.From != key.table || columns != nil && !slices.ContainsFunc(k.Columns, func(c string) bool { return slices.Contains(columns, c) }) {
			continue
		}
		var set, same []string
		for i := range k.Columns {
			set = append(set, "c."+Quoted(k.Columns[i])+" is not null")
			same = append(same, "p."+Quoted(k.To[i])+" = c."+Quoted(k.Columns[i]))
		}
		where = append(where, strings.Join(set, " and ")+" and not exists(select 1 from "+Quoted(k.Parent)+" p where "+strings.Join(same, " and ")+")")
	}
	if where == nil {
		return false, nil
	}
	t, err := e.shape(ctx, key.table)
	if err != nil {
		return false, err
	}
	s, err := e.prepare(ctx, "select 1 from "+Quoted(key.table)+" c where c."+t.rowid+" = ? and ("+strings.Join(where, " or ")+")")
	if err != nil {
		return false, err
	}
	found, err := one(s.QueryContext(ctx, key.row))(1)
	return found != nil, err
}

// Unbind begins a transaction in which nothing was changed yet again without foreign
// keys, which would refuse rows that were loose before the repair, too. A Revert does
// this, and tests itself what foreign keys are there for.
func (e *Edit) Unbind(ctx context.Context) error {
	if e.reverting || e.trying || len(e.log.rows)+len(e.log.sequences) > 0 {
		return nil
	}
	version, err := e.dataVersion(ctx)
	if err != nil {
		return err
	}
	if err := e.Rollback(); err != nil {
		return err
	}
	if _, err := e.db.conn.ExecContext(ctx, "pragma foreign_keys = off"); err != nil {
		return err
	}
	if err := e.begin(ctx); err != nil {
		return err
	}
	e.reverting = true
	now, err := e.dataVersion(ctx)
	if err == nil && now != version {
		err = moved(e.db.File.Path)
	}
	return err
}

// bound makes sure of what foreign keys are there for, when changes have been taken
// back: nothing names a row that is gone, and no row that is back names nothing, but
// for those that did before.
func (e *Edit) bound(ctx context.Context, rows []table.RowChange) error {
	keys, err := e.foreignKeys(ctx)
	if err != nil {
		return err
	}
	for _, c := range rows {
		key := keyOf(c)
		if c.Before == nil {
			for _, k := range keys {
				if err := e.unnamed(ctx, k, c); err != nil {
					return err
				}
			}
			continue
		}
		var columns []string // that changed; all where the row was gone
		for name := range c.After {
			columns = append(columns, name)
		}
		slices.Sort(columns)
		loose, err := e.loose(ctx, key, columns)
		if err != nil {
			return err
		}
		if loose && !c.Loose {
			return e.parentGone(nil)
		}
	}
	return nil
}

// unnamed makes sure that no row names by a key one that has gone.
func (e *Edit) unnamed(ctx context.Context, k ForeignKey, gone table.RowChange) error {
	if !strings.EqualFold(k.Parent, gone.Table) {
		return nil
	}
	var where []string
	var args []any
	for i := range k.Columns {
		value, known := gone.After[k.To[i]]
		if !known || value == nil {
			return nil
		}
		where, args = append(where, Quoted(k.Columns[i])+" = ?"), append(args, value)
	}
	t, err := e.shape(ctx, k.From)
	if err != nil {
		return err
	}
	s, err := e.prepare(ctx, "select "+t.rowid+" from "+Quoted(k.From)+" where "+strings.Join(where, " and ")+" limit 1")
	if err != nil {
		return err
	}
	found, err := one(s.QueryContext(ctx, args...))(1)
	if err != nil || found == nil {
		return err
	}
	return e.depends(rowKey{k.From, found[0].(int64)})
}

// depends is the problem with a row that needs one that would go.
func (e *Edit) depends(on rowKey) error {
	return problem.New(problem.Busy, afterRefusal, "%s was not changed: %s came since, or changed, and depends on a record that would go", e.db.File.Path, on)
}

// parentGone is the problem with a row that came back and needs one that is gone.
func (e *Edit) parentGone(err error) error {
	return &problem.Error{
		Class: problem.Busy, Next: afterRefusal, Err: err,
		What: e.db.File.Path + " cannot be set back: a record that one of the old ones belongs to is gone since",
	}
}
