package mysql

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// relation is a table as it is read.
type relation struct {
	table.Table
	unread string            // why it is not read, "" when it is
	kinds  map[string]string // of the columns, by their names: their types without a length
	made   []string          // the columns that the server computes
	clocks []string          // the columns that the server sets to the time of a change
	key    []string          // the columns of the primary key
	places places

	children []child
}

// child are the columns of another table that lead to columns of this one. A change of these
// may change its rows: the server does not count them.
type child struct {
	name, table     string // of the constraint, and of the table with its database
	columns, leadTo []string
}

// readSchema reads the catalog once.
func (db *DB) readSchema(ctx context.Context) error {
	db.rest.Tables = map[string]table.Table{}
	for _, part := range []struct {
		sql string
		add func(row []string)
	}{
		{tablesQuery, db.addTable}, {columnsQuery, db.addColumn}, {indexesQuery, db.addIndexColumn}, {parentsQuery, db.addParent}, {triggersQuery, db.addTrigger},
	} {
		err := db.queryTexts(ctx, part.sql, func(row []string) error { part.add(row); return nil }, db.database)
		if err != nil {
			return err
		}
	}
	for name, r := range db.tables {
		if r.unread == "" && r.key == nil {
			r.unread = "it has no primary key, without which nothing tells its rows apart"
		}
		db.rest.Tables[name] = r.Table
	}
	return nil
}

const tablesQuery = `select table_name, table_type, engine, data_length + index_length from information_schema.tables where table_schema = ?`

func (db *DB) addTable(row []string) {
	r := &relation{kinds: map[string]string{}}
	switch {
	case row[1] != "BASE TABLE":
		r.unread = "it is a " + strings.ToLower(row[1]) + ", and sessctl reads plain tables"
	case row[2] != "InnoDB":
		r.ReadOnly = "its table " + row[0] + " is kept by " + row[2] + ", which has no transactions (ALTER TABLE … ENGINE = InnoDB)"
	}
	size, _ := strconv.ParseInt(row[3], 10, 64)
	db.bytes += size
	db.tables[row[0]] = r
}

const columnsQuery = `select table_name, column_name, column_type, data_type, is_nullable, column_default is null, extra, generation_expression, privileges, collation_name
from information_schema.columns where table_schema = ? order by table_name, ordinal_position`

func (db *DB) addColumn(row []string) {
	r := db.tables[row[0]]
	if r == nil {
		return
	}
	extra := strings.ToLower(row[6])
	given := strings.Contains(extra, "auto_increment")
	r.Columns = append(r.Columns, table.Column{
		Name: row[1], Type: row[2], Given: given, Required: row[4] == "NO" && row[5] == "1" && !given && row[7] == "",
		FoldsCase: strings.HasSuffix(row[9], "_ci"),
	})
	r.kinds[row[1]] = strings.ToLower(row[3])
	if row[7] != "" {
		r.made = append(r.made, row[1])
	}
	if strings.Contains(extra, "on update") {
		r.clocks = append(r.clocks, row[1])
	}
	rights := strings.Split(row[8], ",")
	if r.unread == "" && !slices.Contains(rights, "select") {
		r.unread = notAllowed
	}
	if r.ReadOnly == "" && (!slices.Contains(rights, "insert") || !slices.Contains(rights, "update")) {
		r.ReadOnly = notChangeable(row[0])
	}
}

func notChangeable(name string) string {
	return "the role may not change its table " + name + " (GRANT INSERT, UPDATE, DELETE)"
}

// notAllowed is why a table is not read that the role may not read.
const notAllowed = "the role may not read it"

const indexesQuery = `select table_name, index_name, column_name, non_unique, sub_part, cardinality from information_schema.statistics
where table_schema = ? order by table_name, index_name, seq_in_index`

func (db *DB) addIndexColumn(row []string) {
	r := db.tables[row[0]]
	if r == nil {
		return
	}
	i := slices.IndexFunc(r.Indexes, func(x table.Index) bool { return x.Name == row[1] })
	if i < 0 {
		i = len(r.Indexes)
		r.Indexes = append(r.Indexes, table.Index{Name: row[1], Unique: row[3] == "0" && row[4] == ""})
	}
	r.Indexes[i].Columns = append(r.Indexes[i].Columns, row[2])
	if row[1] != primary {
		return
	}
	r.key = append(r.key, row[2])
	if rows, _ := strconv.ParseInt(row[5], 10, 64); len(r.key) == 1 || 2*r.places.rows < rows {
		r.places.unlike, r.places.rows = len(r.key)-1, rows
	}
}

// primary is what the servers call the index of a primary key, in whose order InnoDB keeps rows.
const primary = "PRIMARY"

const parentsQuery = `select table_name, column_name, referenced_table_name, referenced_column_name, table_schema, constraint_name from information_schema.key_column_usage
where referenced_table_schema = ? order by table_name, constraint_name, ordinal_position`

func (db *DB) addParent(row []string) {
	if r := db.tables[row[2]]; r != nil {
		from := quotedName(row[4]) + "." + quotedName(row[0])
		i := slices.IndexFunc(r.children, func(c child) bool { return c.name == row[5] && c.table == from })
		if i < 0 {
			i = len(r.children)
			r.children = append(r.children, child{name: row[5], table: from})
		}
		r.children[i].columns, r.children[i].leadTo = append(r.children[i].columns, row[1]), append(r.children[i].leadTo, row[3])
	}
	if r := db.tables[row[0]]; r != nil && row[4] == db.database && !slices.Contains(r.Parents, row[2]) {
		r.Parents = append(r.Parents, row[2])
	}
}

const triggersQuery = `select event_object_table, trigger_name, definer, lower(action_timing), lower(event_manipulation) from information_schema.triggers
where trigger_schema = ? order by trigger_name`

func (db *DB) addTrigger(row []string) {
	db.rest.Triggers = append(db.rest.Triggers, session.Trigger{Table: row[0], Name: row[1], Owner: row[2], When: row[3] + " " + row[4]})
}

func quotedName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
