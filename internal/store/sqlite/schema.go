package sqlite

import (
	"context"
	"errors"
)

// Columns are the tables of the database with their columns, both as the
// schema spells them. Tables whose definition cannot be read are left out; a
// fault tells of them.
func (db *DB) Columns(ctx context.Context) (map[string][]string, error) {
	columns, err := db.columns(ctx)
	return columns, db.Explain(err)
}

func (db *DB) columns(ctx context.Context) (_ map[string][]string, err error) {
	// Virtual tables have no root page; asking for their columns would run
	// the code of their module.
	rows, err := db.Query(ctx, `select t.name, c.name from sqlite_schema t, pragma_table_info(t.name) c
		where t.type = 'table' and t.rootpage > 0`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns := map[string][]string{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return nil, err
		}
		columns[table] = append(columns[table], column)
	}
	return columns, rows.Err()
}
