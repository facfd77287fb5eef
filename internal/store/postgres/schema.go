package postgres

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// relation is a table as it is read.
type relation struct {
	table.Table
	kind  string            // as pg_class.relkind has it: "r" for a table
	types map[string]uint32 // of the columns, by their names
	reads bool              // the role may read it
	made  []string          // the columns that the server computes
	key   []string          // the columns of the primary key

	runs   bool   // functions that are not PostgreSQL's, when its rows change or are read
	unread string // what a query would run that must not be, "" for nothing
}

// readSchema reads the catalog once: a snapshot sees no other.
func (db *DB) readSchema(ctx context.Context) error {
	db.rest.Tables = map[string]table.Table{}
	for _, part := range []struct {
		sql string
		add func(row []string)
	}{
		{tablesQuery, db.addColumn}, {indexesQuery, db.addIndexColumn}, {parentsQuery, db.addParent}, {triggersQuery, db.addTrigger},
	} {
		err := db.queryTexts(ctx, part.sql, func(row []string) error { part.add(row); return nil }, db.schema)
		if err != nil {
			return err
		}
	}
	if err := db.readFunctions(ctx, ""); err != nil {
		return err
	}
	for name, r := range db.tables { // those that the role may not read, too: a scan says so
		if r.key == nil {
			r.ReadOnly = cmp.Or(r.ReadOnly, "its table "+name+" has no primary key")
		}
		db.rest.Tables[name] = r.Table
	}
	return nil
}

const tablesQuery = `select c.relname, c.relkind, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod),
  coalesce(nullif(t.typbasetype, 0), t.oid), a.attidentity <> '' or coalesce(pg_get_expr(d.adbin, d.adrelid) like 'nextval(%', false),
  a.attnotnull and not a.atthasdef and a.attidentity = '', has_table_privilege(c.oid, 'select'), pg_catalog.pg_table_size(c.oid),
  coalesce(to_jsonb(a) ->> 'attgenerated', '') <> '', has_table_privilege(c.oid, 'insert') and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete'), c.relhasrules,
  case c.relkind when 'r' then (select min(i.inhrelid::regclass::text) from pg_catalog.pg_inherits i where i.inhparent = c.oid) end
from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
join pg_catalog.pg_type t on t.oid = a.atttypid
left join pg_catalog.pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
where n.nspname = $1 and c.relkind in ('r', 'p', 'v', 'm', 'f') order by c.relname, a.attnum`

func (db *DB) addColumn(row []string) {
	r, known := db.tables[row[0]]
	if !known {
		r = relation{kind: row[1], types: map[string]uint32{}, reads: row[7] == "t"}
		size, _ := strconv.ParseInt(row[8], 10, 64)
		db.bytes += size
	}
	oid, _ := strconv.ParseUint(row[4], 10, 32)
	r.types[row[2]] = uint32(oid)
	r.Columns = append(r.Columns, table.Column{Name: row[2], Type: row[3], Given: row[5] == "t", Required: row[6] == "t"})
	if row[9] == "t" {
		r.made = append(r.made, row[2])
	}
	if row[12] != "" {
		r.Incomplete = "the runtime also reads the rows of " + row[12] + ", which inherits from the table " + row[0] + "; sessctl does not"
	}
	switch {
	case row[12] != "":
		r.ReadOnly = r.Incomplete
	case row[11] == "t":
		r.ReadOnly = "a rule rewrites what is written to its table " + row[0]
	case row[10] == "f":
		r.ReadOnly = "the role may not change its table " + row[0] + " (GRANT INSERT, UPDATE, DELETE)"
	}
	db.tables[row[0]] = r
}

const indexesQuery = `select c.relname, x.relname, coalesce(a.attname, ''), i.indisunique and i.indisvalid, i.indpred is not null, i.indisprimary
from pg_catalog.pg_index i join pg_catalog.pg_class c on c.oid = i.indrelid join pg_catalog.pg_class x on x.oid = i.indexrelid
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
cross join unnest(i.indkey::int2[]) with ordinality as k(num, nth)
left join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = k.num and k.num > 0
where n.nspname = $1 and k.nth <= i.indnkeyatts order by c.relname, x.relname, k.nth`

func (db *DB) addIndexColumn(row []string) {
	r := db.tables[row[0]]
	i := slices.IndexFunc(r.Indexes, func(x table.Index) bool { return x.Name == row[1] })
	if i < 0 {
		i = len(r.Indexes)
		r.Indexes = append(r.Indexes, table.Index{Name: row[1], Unique: row[3] == "t", Partial: row[4] == "t"})
	}
	r.Indexes[i].Columns = append(r.Indexes[i].Columns, row[2])
	if row[5] == "t" {
		r.key = append(r.key, row[2])
	}
	db.tables[row[0]] = r
}

const parentsQuery = `select c.relname, p.relname from pg_catalog.pg_constraint k
join pg_catalog.pg_class c on c.oid = k.conrelid join pg_catalog.pg_class p on p.oid = k.confrelid
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1 and k.contype = 'f' and k.convalidated order by c.relname, k.conname`

func (db *DB) addParent(row []string) {
	r := db.tables[row[0]]
	r.Parents = append(r.Parents, row[1])
	db.tables[row[0]] = r
}

const triggersQuery = `select c.relname, g.tgname, f.oid::regprocedure, o.rolname, case when g.tgtype & 2 <> 0 then 'before' when g.tgtype & 64 <> 0 then 'instead of' else 'after' end
  || case when g.tgtype & 4 <> 0 then ' insert' else '' end || case when g.tgtype & 8 <> 0 then ' delete' else '' end
  || case when g.tgtype & 16 <> 0 then ' update' else '' end
from pg_catalog.pg_trigger g join pg_catalog.pg_class c on c.oid = g.tgrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
join pg_catalog.pg_proc f on f.oid = g.tgfoid join pg_catalog.pg_roles o on o.oid = f.proowner
where n.nspname = $1 and not g.tgisinternal and g.tgenabled <> 'D' order by g.tgname`

func (db *DB) addTrigger(row []string) {
	db.rest.Triggers = append(db.rest.Triggers, session.Trigger{Table: row[0], Name: row[1], Function: row[2], Owner: row[3], When: row[4]})
}
