package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/server"
	"github.com/sessctl/sessctl/internal/store/table"
)

// About implements table.Reader.
func (db *DB) About() table.About {
	return table.About{
		Name: db.Name, Bytes: db.bytes, Writer: db.writer, Moving: true, ByKey: true, Remote: true, ReadOnly: db.readOnly, Identity: db.identity, Now: db.now,
		Recovery: func() string {
			return "Restore the table from a backup of the database, or from a replica that is not damaged."
		},
	}
}

// Schema implements table.Reader.
func (db *DB) Schema(context.Context) (table.Schema, error) { return db.rest, nil }

// Faults implements table.Reader: nothing shows but what a scan meets.
func (db *DB) Faults(context.Context, bool) ([]session.Fault, error) { return nil, nil }

// selection is a query for some columns of a table, and for the columns of its key behind them.
type selection struct {
	of      *relation
	from    string // the table, with its database
	columns []string
	all     []string // with those of the key that are not among them
	key     []int    // where the columns of the key are in all
}

func (db *DB) newSelection(name string, columns []string) (*selection, error) {
	r := db.tables[name]
	switch {
	case r == nil:
		return nil, problem.New(problem.Unreadable, "", "%s has no table %s", db.Name, name)
	case r.unread == notAllowed:
		return nil, problem.New(problem.Unreadable, fmt.Sprintf("Let it: `GRANT SELECT ON %s.%s TO …;`", quotedName(db.database), quotedName(name)),
			"the role may not read the table %s of %s", name, db.Name)
	case r.unread != "":
		return nil, problem.New(problem.Unreadable, "Name the database that has the tables as the runtime makes them.", "%s in %s cannot be read: %s", name, db.Name, r.unread)
	}
	q := &selection{of: r, from: db.tableName(name), columns: columns, all: slices.Clone(columns)}
	for _, c := range r.key {
		if !slices.Contains(q.all, c) {
			q.all = append(q.all, c)
		}
		q.key = append(q.key, slices.Index(q.all, c))
	}
	return q, nil
}

func (db *DB) tableName(name string) string { return quotedName(db.database) + "." + quotedName(name) }

func quotedNames(names []string) string {
	return strings.Join(lists.MapEach(names, quotedName), ", ")
}

// condition is one for rows, with its parameters; "" for all of them.
type condition struct {
	sql   string
	args  []driver.Value
	byKey bool // it names the whole primary key
}

// runSelection hands the rows that a condition leaves to fn, in the order of their keys; limit may say how
// many, or that they are locked.
func (q *selection) runSelection(ctx context.Context, db *DB, where condition, limit string, fn func(at table.Place, row []table.Value) error) error {
	sql := "select " + quotedNames(q.all) + " from " + q.from
	if where.sql == "" || where.byKey { // another index has another order, and a pass over the table waits for locked rows
		sql += " force index (" + primary + ")"
	}
	if where.sql != "" {
		sql += " where " + where.sql
	}
	key := make([]table.Value, len(q.key))
	return db.queryRows(ctx, sql+" order by "+quotedNames(q.of.key)+limit, where.args, func(row []driver.Value) error {
		for i, c := range q.all {
			row[i] = valueOf(q.of.kinds[c], row[i])
		}
		for i, at := range q.key {
			key[i] = row[at]
		}
		return fn(q.of.places.placeOf(key), row[:len(q.columns)])
	})
}

// glanceRows is as run, for a function that may soon have enough: the server sends all that was asked
// for.
func (q *selection) glanceRows(ctx context.Context, db *DB, where condition, fn func(at table.Place, row []table.Value) error) error {
	for from, most, rows := 0, 200, -1; rows != 0; from, most = from+most, 10*most {
		rows = 0
		err := q.runSelection(ctx, db, where, fmt.Sprintf(" limit %d, %d", from, most), func(at table.Place, row []table.Value) error {
			rows++
			return fn(at, row)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Scan implements table.Reader.
func (db *DB) Scan(ctx context.Context, s table.Selection, fn func(at table.Place, row []table.Value) error) ([]session.Fault, error) {
	q, err := db.newSelection(s.Table, s.Columns)
	if err != nil {
		return nil, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if where := q.conditionOf(db, s); s.Glance {
		err = q.glanceRows(ctx, db, where, fn)
	} else {
		err = q.runSelection(ctx, db, where, "", fn)
	}
	if errors.Is(err, table.Enough) {
		err = nil
	}
	return nil, err
}

// conditionOf is the condition for the rows that matter.
func (q *selection) conditionOf(db *DB, s table.Selection) condition {
	switch kind := q.of.kinds[s.Times]; {
	case s.Lacking != nil:
		same := make([]string, len(s.Key))
		for i, column := range s.Lacking.Columns {
			same[i] = "o." + quotedName(column) + " = " + q.from + "." + quotedName(s.Key[i])
		}
		return condition{sql: "not exists (select 1 from " + db.tableName(s.Lacking.Table) + " o where " + strings.Join(same, " and ") + ")"}
	case kind == kindDateTime || kind == kindInstant:
		time := quotedName(s.Times)
		return condition{sql: time + " >= ? or " + time + " <= '1970-01-01' or " + time + " is null", args: []driver.Value{s.Since.UTC().Format(time6)}}
	case s.Keys == nil || len(s.Keys) > mostKeys:
		return condition{}
	}
	return q.of.withKeys(s.Key, s.Keys, len(s.Key)-1)
}

// mostKeys bounds the length of a query; more are read with the whole table.
const mostKeys = 20_000

// withKeys is the condition for rows whose columns have one of some keys, in lists of those that
// differ in one column only: the optimizers find such rows by an index. What a
// collation takes for equal comes, too. A key with NULL leaves all rows.
func (r *relation) withKeys(columns []string, keys [][]table.Value, unlike int) condition {
	type list struct {
		same   []driver.Value
		unlike []driver.Value
	}
	var lists []*list
	known := map[string]*list{}
	var buf []byte
	for _, key := range keys {
		buf = buf[:0]
		var same []driver.Value
		for i, v := range key {
			if v == nil {
				return condition{}
			}
			if i != unlike {
				buf = table.AppendExactly(buf, v)
				same = append(same, parameterOf(r.kinds[columns[i]], v))
			}
		}
		l := known[string(buf)]
		if l == nil {
			l = &list{same: same}
			known[string(buf)] = l
			lists = append(lists, l)
		}
		l.unlike = append(l.unlike, parameterOf(r.kinds[columns[unlike]], key[unlike]))
	}
	if len(keys) == 0 {
		return condition{sql: "false"}
	}
	others := slices.Delete(slices.Clone(columns), unlike, unlike+1)
	c := condition{byKey: slices.Equal(slices.Sorted(slices.Values(columns)), slices.Sorted(slices.Values(r.key)))}
	for i, l := range lists {
		if i > 0 {
			c.sql += " or "
		}
		c.sql += "("
		for _, name := range others {
			c.sql += quotedName(name) + " = ? and "
		}
		c.sql += quotedName(columns[unlike]) + " in (?" + strings.Repeat(", ?", len(l.unlike)-1) + "))"
		c.args = slices.Concat(c.args, l.same, l.unlike)
	}
	return c
}

// Rows implements table.Reader.
func (db *DB) Rows(ctx context.Context, name string, columns []string, places []table.Place, fn func(n int, row []table.Value) error) (unread []int, err error) {
	q, err := db.newSelection(name, columns)
	if err != nil {
		return nil, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	return server.ReadPlaces(places, fn, func(places []table.Place, each func(at table.Place, row []table.Value) error) error {
		var keys [][]table.Value
		for _, at := range places {
			if key := q.of.places.keyOf(at); key != nil {
				keys = append(keys, key)
			}
		}
		return q.runSelection(ctx, db, q.of.withKeys(q.of.key, keys, q.of.places.unlike), "", each)
	})
}
