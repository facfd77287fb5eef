package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strconv"
	"strings"

	lib "modernc.org/sqlite/lib"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/table"
)

// Columns are the tables of the database with their columns, both as the
// schema spells them. Tables whose definition cannot be read are left out; a
// fault tells of them.
func (db *DB) Columns(ctx context.Context) (map[string][]string, error) {
	columns, err := db.columns(ctx)
	return columns, db.Explain(err)
}

func (db *DB) columns(ctx context.Context) (map[string][]string, error) {
	columns := map[string][]string{}
	// Virtual tables have no root page; asking for their columns would run
	// the code of their module.
	return columns, db.each(ctx, func(scan func(...any) error) error {
		var table, column string
		err := scan(&table, &column)
		columns[table] = append(columns[table], column)
		return err
	}, `select t.name, c.name from sqlite_schema t, pragma_table_info(t.name) c where t.type = 'table' and t.rootpage > 0`)
}

// RowID is the name by which SQL reaches the rowids of a table: a column of the
// table can take the usual one. A table without rowids is a problem.
func (db *DB) RowID(ctx context.Context, table string) (string, error) {
	columns, err := db.columns(ctx)
	if err != nil {
		return "", db.Explain(err)
	}
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		taken := slices.ContainsFunc(columns[table], func(column string) bool { return strings.EqualFold(column, name) })
		if taken {
			continue
		}
		var none int
		err := db.QueryRow(ctx, "select "+name+" from "+Quoted(table)+" limit 0").Scan(&none)
		if errors.Is(err, sql.ErrNoRows) {
			return name, nil
		}
		if codeOf(err)&0xff != lib.SQLITE_ERROR { // else the table is WITHOUT ROWID, or does not exist
			return "", db.Explain(err)
		}
	}
	return "", problem.New(problem.Unreadable, "find out what made it: no known runtime makes such a table",
		"%s cannot be read: its table %s has no rowids", db.File.Path, table)
}

// Schema implements table.Reader.
func (db *DB) Schema(ctx context.Context) (table.Schema, error) {
	schema := table.Schema{Tables: map[string]table.Table{}}
	change := func(name string, fn func(*table.Table)) {
		t := schema.Tables[name]
		fn(&t)
		schema.Tables[name] = t
	}
	err := errors.Join(db.each(ctx, func(scan func(...any) error) error {
		var name, standard string
		var c table.Column
		err := scan(&name, &c.Name, &c.Type, &standard, &c.Required, &c.Given)
		c.Default = literal(standard)
		c.Required = c.Required && standard == ""
		change(name, func(t *table.Table) { t.Columns = append(t.Columns, c) })
		return err
	}, `select t.name, c.name, c.type, coalesce(c.dflt_value, ''), c."notnull",
			c.pk > 0 and sum(c.pk > 0) over (partition by t.name) = 1 and upper(c.type) = 'INTEGER'
				and not exists(select 1 from pragma_index_list(t.name) where origin = 'pk')
		from sqlite_schema t, pragma_table_info(t.name) c where t.type = 'table' and t.rootpage > 0 order by t.name, c.cid`),
		db.each(ctx, func(scan func(...any) error) error {
			var name, column string
			var x table.Index
			var nth int
			err := scan(&name, &x.Name, &x.Unique, &x.Partial, &nth, &column)
			change(name, func(t *table.Table) {
				if nth == 0 {
					t.Indexes = append(t.Indexes, x)
				}
				last := &t.Indexes[len(t.Indexes)-1]
				last.Columns = append(last.Columns, column)
			})
			return err
		}, `select t.name, x.name, x."unique", x.partial, i.seqno, coalesce(i.name, '')
			from sqlite_schema t, pragma_index_list(t.name) x, pragma_index_info(x.name) i where t.type = 'table' and t.rootpage > 0
			order by t.name, x.seq, i.seqno`),
		db.each(ctx, func(scan func(...any) error) error {
			var name, parent string
			err := scan(&name, &parent)
			change(name, func(t *table.Table) { t.Parents = append(t.Parents, parent) })
			return err
		}, `select distinct t.name, k."table" from sqlite_schema t, pragma_foreign_key_list(t.name) k
			where t.type = 'table' and t.rootpage > 0 order by 1, 2`))
	if err == nil {
		schema.Triggers, err = db.Triggers(ctx)
	}
	return schema, db.Explain(err)
}

// literal is the value of a default, nil for one that is computed, as from the clock.
func literal(expression string) table.Value {
	if n, err := strconv.ParseInt(expression, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(expression, 64); err == nil {
		return f
	}
	if text, isText := strings.CutPrefix(expression, "'"); isText && strings.HasSuffix(text, "'") {
		return strings.ReplaceAll(strings.TrimSuffix(text, "'"), "''", "'")
	}
	switch strings.ToLower(expression) {
	case "true":
		return int64(1)
	case "false":
		return int64(0)
	}
	return nil
}

// Quoted is a name as SQL spells it, whatever characters it has.
func Quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
