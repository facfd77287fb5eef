package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	lib "modernc.org/sqlite/lib"

	"github.com/sessctl/sessctl/internal/problem"
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

// IsRowID reports whether a column is another name for the rowid: INTEGER PRIMARY
// KEY, unless an old quirk made it an index of its own, as DESC does
// (https://sqlite.org/lang_createtable.html#rowid).
func (db *DB) IsRowID(ctx context.Context, table, column string) (is bool, _ error) {
	err := db.QueryRow(ctx, `select count(*) = 1 and max(upper(type) = 'INTEGER' and name = ?1)
		and not exists(select 1 from pragma_index_list(?2) where origin = 'pk') from pragma_table_info(?2) where pk > 0`,
		column, table).Scan(&is)
	return is, db.Explain(err)
}

// Quoted is a name as SQL spells it, whatever characters it has.
func Quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
