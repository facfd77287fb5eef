package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	lib "modernc.org/sqlite/lib"

	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// Columns are the tables of the database with their columns, both as the
// schema spells them. Tables whose definition cannot be read are left out; a
// fault tells of them.
func (db *DB) Columns(ctx context.Context) (map[string][]string, error) {
	columns, err := db.readColumns(ctx)
	return columns, db.Explain(err)
}

func (db *DB) readColumns(ctx context.Context) (map[string][]string, error) {
	columns := map[string][]string{}
	// Virtual tables have no root page; asking for their columns would run
	// the code of their module.
	return columns, db.forEachRow(ctx, func(scan func(...any) error) error {
		var table, column string
		err := scan(&table, &column)
		columns[table] = append(columns[table], column)
		return err
	}, `select t.name, c.name from sqlite_schema t, pragma_table_info(t.name) c where t.type = 'table' and t.rootpage > 0`)
}

// RowID is the name by which SQL reaches the rowids of a table: a column of the
// table can take the usual one. A table without rowids is a problem.
func (db *DB) RowID(ctx context.Context, table string) (string, error) {
	taken := map[string]bool{}
	err := db.forEachRow(ctx, func(scan func(...any) error) error {
		var column string
		err := scan(&column)
		taken[strings.ToLower(column)] = true
		return err
	}, "select c.name from sqlite_schema t, pragma_table_info(t.name) c where t.type = 'table' and t.rootpage > 0 and t.name = ?", table)
	if err != nil {
		return "", db.Explain(err)
	}
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if taken[name] {
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
	return "", problem.New(problem.Unreadable, "find out which program created it: no known runtime makes such a table",
		"%s cannot be read: its table %s has no rowids", db.File.Path, table)
}

// versionedSchema is what Schema read, under the number that SQLite gives to each change of
// it; nil before that.
type versionedSchema struct {
	sync.Mutex
	version int64
	schema  *table.Schema
}

// Schema implements table.Reader. It reads each version of the schema once.
func (db *DB) Schema(ctx context.Context) (table.Schema, error) {
	db.known.Lock()
	defer db.known.Unlock()
	var version int64
	if err := db.QueryRow(ctx, "pragma schema_version").Scan(&version); err != nil {
		return table.Schema{}, db.Explain(err)
	}
	if db.known.schema == nil || db.known.version != version {
		schema, err := db.readSchema(ctx)
		if err != nil {
			return schema, err
		}
		db.known.version, db.known.schema = version, &schema
	}
	return *db.known.schema, nil
}

func (db *DB) readSchema(ctx context.Context) (table.Schema, error) {
	schema := table.Schema{Tables: map[string]table.Table{}}
	change := func(name string, fn func(*table.Table)) {
		t := schema.Tables[name]
		fn(&t)
		schema.Tables[name] = t
	}
	err := errors.Join(db.forEachRow(ctx, func(scan func(...any) error) error {
		var name, standard string
		var c table.Column
		err := scan(&name, &c.Name, &c.Type, &standard, &c.Required, &c.Given)
		c.Default = literalValue(standard)
		c.Required = c.Required && standard == ""
		change(name, func(t *table.Table) { t.Columns = append(t.Columns, c) })
		return err
	}, `select t.name, c.name, c.type, coalesce(c.dflt_value, ''), c."notnull",
			c.pk > 0 and sum(c.pk > 0) over (partition by t.name) = 1 and upper(c.type) = 'INTEGER'
				and not exists(select 1 from pragma_index_list(t.name) where origin = 'pk')
		from sqlite_schema t, pragma_table_info(t.name) c where t.type = 'table' and t.rootpage > 0 order by t.name, c.cid`),
		db.forEachRow(ctx, func(scan func(...any) error) error {
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
		db.forEachRow(ctx, func(scan func(...any) error) error {
			var name, parent string
			err := scan(&name, &parent)
			change(name, func(t *table.Table) { t.Parents = append(t.Parents, parent) })
			return err
		}, `select distinct t.name, coalesce((select p.name from sqlite_schema p where p.type = 'table' and p.name = k."table" collate nocase), k."table")
			from sqlite_schema t, pragma_foreign_key_list(t.name) k where t.type = 'table' and t.rootpage > 0 order by 1, 2`))
	if err == nil {
		schema.Triggers, err = db.Triggers(ctx)
	}
	return schema, db.Explain(err)
}

// literalValue is the value of a default, nil for one that is computed, as from the clock.
func literalValue(expression string) table.Value {
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
	err = db.forEachRow(ctx, func(scan func(...any) error) error {
		var c Column
		err := scan(&c.Name, &c.Type, &c.Default, &c.NotNull, &c.Generated, &c.Key)
		d.Columns = append(d.Columns, c)
		return err
	}, `select name, type, coalesce(dflt_value, ''), "notnull", hidden > 1, pk > 0 from pragma_table_xinfo(?)`, table)
	if err != nil {
		return d, db.Explain(err)
	}
	err = db.forEachRow(ctx, func(scan func(...any) error) error {
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
	err = db.forEachRow(ctx, func(scan func(...any) error) error {
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

// forEachRow hands the rows of a query to fn.
func (db *DB) forEachRow(ctx context.Context, fn func(scan func(...any) error) error, query string, args ...any) (err error) {
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

// Triggers are the triggers of the database but for a runtime's own, by their names.
func (db *DB) Triggers(ctx context.Context, own ...string) (list []session.Trigger, err error) {
	err = db.forEachRow(ctx, func(scan func(...any) error) error {
		var t session.Trigger
		var sql string
		err := scan(&t.Name, &t.Table, &sql)
		if m := triggerHead().FindStringSubmatch(sql); m != nil {
			t.When = strings.ToLower(strings.Join(strings.Fields(m[1]+" "+m[2]), " "))
		}
		if !slices.Contains(own, t.Name) {
			list = append(list, t)
		}
		return err
	}, "select name, tbl_name, coalesce(sql, '') from sqlite_schema where type = 'trigger' order by name")
	return list, db.Explain(err)
}

// triggerHead is what a trigger begins with: SQLite stores the first two words itself.
var triggerHead = pattern.Lazy("(?is)^create\\s+trigger\\s+(?:if\\s+not\\s+exists\\s+)?" +
	"(?:\"(?:[^\"]|\"\")*\"|`[^`]*`|\\[[^\\]]*\\]|[^\\s\"`\\[]+)\\s+(?:(before|after)\\s+)?(insert|update|delete)\\b")

// hasRules reports whether the database has rules by which undo could fail where a repair
// does not: triggers, and unique indexes that are no part of a table.
func (db *DB) hasRules(ctx context.Context) (has bool, err error) {
	err = db.QueryRow(ctx, `select exists(select 1 from sqlite_schema where type = 'trigger' or type = 'index' and sql like 'create unique %')`).Scan(&has)
	return has, err
}
