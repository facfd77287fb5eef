package sqlite

import (
	"context"
	"errors"
	"fmt"
)

// Definition is what the definition of a table says beside the names of its columns.
type Definition struct {
	Columns []Column
	Unique  []Index // but for that of its primary key
	SQL     string
}

// Column is a column of a table.
type Column struct {
	Name, Type string
	Default    string // an SQL expression, "" for NULL
	NotNull    bool
	Generated  bool
	Key        bool // it is of the primary key
}

// Index is an index with the names of its columns.
type Index struct {
	Name    string
	Columns []string
}

// ForeignKey is a foreign key of a table: columns of it that name columns of another.
// To has "" for a column that is not there.
type ForeignKey struct {
	From, Parent string
	Columns, To  []string
}

// Definition reads the definition of a table.
func (db *DB) Definition(ctx context.Context, table string) (d Definition, err error) {
	err = db.each(ctx, func(scan func(...any) error) error {
		var c Column
		err := scan(&c.Name, &c.Type, &c.Default, &c.NotNull, &c.Generated, &c.Key)
		d.Columns = append(d.Columns, c)
		return err
	}, `select name, type, coalesce(dflt_value, ''), "notnull", hidden > 1, pk > 0 from pragma_table_xinfo(?)`, table)
	if err != nil {
		return d, db.Explain(err)
	}
	err = db.each(ctx, func(scan func(...any) error) error {
		var name, column string
		err := scan(&name, &column)
		if n := len(d.Unique); n == 0 || d.Unique[n-1].Name != name {
			d.Unique = append(d.Unique, Index{Name: name})
		}
		i := &d.Unique[len(d.Unique)-1]
		i.Columns = append(i.Columns, column)
		return err
	}, `select l.name, coalesce(i.name, 'an expression') from pragma_index_list(?) l, pragma_index_info(l.name) i
		where l."unique" and l.origin <> 'pk' order by l.name, i.seqno`, table)
	if err != nil {
		return d, db.Explain(err)
	}
	return d, db.Explain(db.QueryRow(ctx, "select sql from sqlite_schema where type = 'table' and name = ?", table).Scan(&d.SQL))
}

// ForeignKeys are the foreign keys of all tables.
func (db *DB) ForeignKeys(ctx context.Context) (keys []ForeignKey, err error) {
	last := ""
	err = db.each(ctx, func(scan func(...any) error) error {
		var from, parent, column, to string
		var id int
		err := scan(&from, &id, &parent, &column, &to)
		if this := fmt.Sprint(from, "\x00", id); this != last {
			keys, last = append(keys, ForeignKey{From: from, Parent: parent}), this
		}
		k := &keys[len(keys)-1]
		k.Columns, k.To = append(k.Columns, column), append(k.To, to)
		return err
	}, `select t.name, k.id, k."table", k."from", coalesce(k."to", (select p.name
			from sqlite_schema q, pragma_table_info(q.name) p where q.name = k."table" collate nocase and q.rootpage > 0 and p.pk = k.seq + 1), '')
		from sqlite_schema t, pragma_foreign_key_list(t.name) k where t.type = 'table' and t.rootpage > 0 order by t.name, k.id, k.seq`)
	return keys, err
}

// each hands the rows of a query to fn.
func (db *DB) each(ctx context.Context, fn func(scan func(...any) error) error, query string, args ...any) (err error) {
	rows, err := db.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := fn(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
