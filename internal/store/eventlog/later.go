package eventlog

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// Known are the columns of a table that an adapter knows, by their names in lower case.
// A database without one of those that are Needed is of no known release.
type Known struct {
	Table           string
	Needed, Further []string
}

// Examine finds what tables have that is not known, and what of it keeps a repair away.
// A column that no row uses yet does not: existing rows keep what they have, and new ones
// get its default. Of one that rows use nobody knows whether it counts, orders or refers
// to them. Other tables belong to whoever made them, unless they refer to rows that a
// repair may take out.
func Examine(ctx context.Context, db *sqlite.DB, tables []Known, events string) (store.Later, error) {
	later := store.Later{Read: "Sessions and events"}
	for _, t := range tables {
		columns, err := definitions(ctx, db, t.Table)
		if err != nil {
			return later, err
		}
		missing := slices.DeleteFunc(slices.Clone(t.Needed), func(name string) bool {
			return slices.ContainsFunc(columns, func(c column) bool { return strings.EqualFold(c.name, name) })
		})
		if len(missing) > 0 {
			later.Doubts = append(later.Doubts, fmt.Sprintf("table %s lacks %s", t.Table, strings.Join(missing, ", ")))
		}
		for _, c := range columns {
			if name := strings.ToLower(c.name); slices.Contains(t.Needed, name) || slices.Contains(t.Further, name) {
				continue
			}
			later.Unread = append(later.Unread, fmt.Sprintf("column %.60q of %s", c.name, t.Table))
			doubt, err := c.doubt(ctx, db, t.Table)
			if err != nil {
				return later, err
			}
			if doubt != "" {
				later.Doubts = append(later.Doubts, doubt)
			}
		}
	}
	referring, err := referring(ctx, db, tables, events)
	for _, name := range referring {
		later.Unread = append(later.Unread, fmt.Sprintf("table %.60q", name))
		later.Doubts = append(later.Doubts, fmt.Sprintf("table %.60q refers to rows of %s", name, events))
	}
	if len(later.Unread)+len(later.Doubts) > 0 {
		later.Found = "the tables are not those of a release that sessctl knows"
	}
	return later, err
}

// column is a column as its table defines it.
type column struct {
	name     string
	standard string // an expression that every row has which nobody gave a value
	needs    bool   // a value: rows without one cannot be added
}

// literal is a default that can be compared with, unlike a function of the clock.
var literal = regexp.MustCompile(`(?i)^([-+]?[0-9]+(\.[0-9]+)?|'([^']|'')*'|true|false|null)$`)

func definitions(ctx context.Context, db *sqlite.DB, table string) (list []column, err error) {
	rows, err := db.Query(ctx, `select name, coalesce(dflt_value, 'null'), "notnull" from pragma_table_info(?)`, table)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var c column
		if err := rows.Scan(&c.name, &c.standard, &c.needs); err != nil {
			return nil, err
		}
		c.needs = c.needs && strings.EqualFold(c.standard, "null")
		if !literal.MatchString(c.standard) {
			c.standard = "null"
		}
		list = append(list, c)
	}
	return list, rows.Err()
}

// doubt says what of an unknown column keeps a repair away, "" for nothing.
func (c *column) doubt(ctx context.Context, db *sqlite.DB, table string) (string, error) {
	if c.needs {
		return fmt.Sprintf("column %.60q of %s needs a value in every row", c.name, table), nil
	}
	var used bool
	err := db.QueryRow(ctx, fmt.Sprintf("select exists(select 1 from %s not indexed where %s is not %s)",
		sqlite.Quoted(table), sqlite.Quoted(c.name), c.standard)).Scan(&used)
	if used {
		return fmt.Sprintf("nobody knows what the values of column %.60q of %s say of its rows", c.name, table), nil
	}
	_, err = sqlite.Readable(err) // damage is told of when the rows are read
	return "", err
}

// referring are the tables whose foreign keys lead to the events, and that are not known.
func referring(ctx context.Context, db *sqlite.DB, known []Known, events string) (names []string, err error) {
	rows, err := db.Query(ctx, `select distinct t.name, k."table" from sqlite_schema t, pragma_foreign_key_list(t.name) k
		where t.type = 'table' and t.rootpage > 0 order by 1`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var from, to string
		if err := rows.Scan(&from, &to); err != nil {
			return nil, err
		}
		own := slices.ContainsFunc(known, func(t Known) bool { return strings.EqualFold(t.Table, from) })
		if !own && strings.EqualFold(to, events) {
			names = append(names, from)
		}
	}
	return names, rows.Err()
}
