package postgres

import (
	"cmp"
	"context"
	"fmt"
)

// allowing is the key of a context in which functions of other roles may run.
type allowing struct{}

// AllowForeign is a context in which Open and Opener let the functions of other roles run that
// belong to a table, although a superuser is connected.
func AllowForeign(ctx context.Context) context.Context {
	return context.WithValue(ctx, allowing{}, true)
}

// functionsQuery finds the functions that a table runs, but for PostgreSQL's own: what depends
// on a table (columns, constraints, indexes, statistics, triggers, rules, policies), and what
// that depends on (pg_depend; also through operators, and types with constraints). Planning any
// query computes what is constant in the expressions of indexes and statistics
// (RelationGetIndexExpressions, get_relation_statistics); everything else runs when a row is
// written. What is written in C finds nothing by a search path.
const functionsQuery = `with recursive part(root, class, id, reading) as (
  select c.relname, 'pg_class'::regclass::oid, c.oid, false from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relkind in ('r', 'm') and ($2 = '' or c.relname = $2)
 union
  select p.root, d.class, d.id, p.reading or d.reading from part p cross join lateral (
    select d.classid, d.objid, d.classid in ('pg_class'::regclass, 'pg_statistic_ext'::regclass) from pg_depend d
    where d.refclassid = p.class and d.refobjid = p.id and d.deptype in ('a', 'i') and p.class in ('pg_class'::regclass, 'pg_constraint'::regclass, 'pg_type'::regclass)
      and not exists (select from pg_trigger g where d.classid = 'pg_trigger'::regclass and g.oid = d.objid and g.tgenabled = 'D')
   union all
    select d.refclassid, d.refobjid, false from pg_depend d where d.classid = p.class and d.objid = p.id
      and (d.refclassid in ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass) or p.class = 'pg_type'::regclass and d.refclassid = 'pg_class'::regclass)
  ) d(class, id, reading)
)
select p.root, f.oid::regprocedure, o.rolname, bool_or(p.reading), ` + foreign + ` from part p
join pg_proc f on p.class = 'pg_proc'::regclass and f.oid = p.id join pg_roles o on o.oid = f.proowner
where f.prolang not in (select oid from pg_language where lanname in ('internal', 'c')) or ` + foreign + `
group by p.root, f.oid, o.rolname, o.rolsuper order by p.root, 2`

// foreign is the condition for an owner o whose code a superuser should not run: neither the
// role itself nor another superuser, which could as well do what it likes.
const foreign = `(not o.rolsuper and o.rolname not in (current_user, session_user)
  and exists (select from pg_roles where rolname in (current_user, session_user) and rolsuper))`

// nearbyQuery finds what a trusted function may call in place of what it means: functions and
// operators of others in the schemas that a runtime's search path names.
const nearbyQuery = `select f.oid::regprocedure::text, o.rolname from pg_proc f join pg_roles o on o.oid = f.proowner
join pg_namespace n on n.oid = f.pronamespace where n.nspname = any($1::name[]) and ` + foreign + ` union all
select x.oid::regoperator::text, o.rolname from pg_operator x join pg_roles o on o.oid = x.oprowner
join pg_namespace n on n.oid = x.oprnamespace where n.nspname = any($1::name[]) and ` + foreign + ` limit 1`

// readFunctions finds out which tables run functions, and whether a superuser may let them; with
// a name, of that one.
func (db *DB) readFunctions(ctx context.Context, name string) error {
	allowed := ctx.Value(allowing{}) != nil
	runs := false
	err := db.queryTexts(ctx, functionsQuery, func(row []string) error {
		r := db.tables[row[0]]
		r.runs, runs = true, true
		if row[4] == "t" && !allowed {
			what := fmt.Sprintf("the function %s of the role %s, with the rights of a superuser", row[1], row[2])
			if row[3] == "t" {
				r.unread = cmp.Or(r.unread, what)
			}
			r.ReadOnly = cmp.Or(r.ReadOnly, "a change of its table "+row[0]+" would run "+what+" (--allow foreign-functions)")
		}
		db.tables[row[0]] = r
		return nil
	}, db.schema, name)
	if err != nil || !runs || allowed {
		return err
	}
	return db.readNearby(ctx)
}

// readNearby looks at the schemas of the search path that a table's functions get.
func (db *DB) readNearby(ctx context.Context) error {
	results, err := db.conn.Exec(ctx, "set local search_path = "+db.path+";\nselect pg_catalog.current_schemas(false);\n"+ownPath).ReadAll()
	if err != nil {
		return err
	}
	return db.queryTexts(ctx, nearbyQuery, func(row []string) error {
		for name, r := range db.tables {
			if r.runs {
				r.ReadOnly = cmp.Or(r.ReadOnly, fmt.Sprintf("a function of its table %s could call %s of the role %s, with the rights of a superuser (--allow foreign-functions)", name, row[0], row[1]))
				db.tables[name] = r
			}
		}
		return nil
	}, string(results[1].Rows[0][0]))
}
