package eventlog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/table"
)

// Known are the columns of a table that an adapter knows, in whatever case.
// A database without one of those that are Needed is of no known release.
type Known struct {
	Table           string
	Needed, Further []string
}

// examine adds to the facts what the database has that is not known.
func (reread Reread) examine(ctx context.Context, db table.Reader) (session.Store, *Layout, error) {
	stored, err := storedBy(db).Schema(ctx)
	if err != nil {
		return session.Store{}, nil, err
	}
	facts, layout, err := reread(ctx, db, stored)
	if err != nil || layout.Known == nil {
		return facts, layout, err
	}
	later, err := findUnknown(ctx, storedBy(db), stored, layout)
	if later.Found != "" {
		odd := layout.Odd
		if odd == (session.Ref{}) {
			odd = session.Ref{Table: layout.Events.Name, Key: "*"}
		}
		facts.Faults = append([]session.Fault{later.Fault(odd)}, facts.Faults...)
		facts.ReadOnly = cmp.Or(later.ReadOnly(), facts.ReadOnly)
	}
	return facts, layout, err
}

// findUnknown finds what tables have that is not known, and what of it keeps a repair away.
// A column that no row uses yet does not: existing rows keep what they have, and new ones
// get its default. Of one that rows use nobody knows whether it counts, orders or refers
// to them. Other tables belong to whoever made them, unless they refer to rows that a
// repair may take out.
func findUnknown(ctx context.Context, db table.Reader, schema table.Schema, layout *Layout) (store.Later, error) {
	later, events := store.Later{Read: cmp.Or(layout.Later.Read, "Sessions and events")}, layout.Events.Name
	for _, t := range layout.Known {
		columns := schema.Tables[t.Table].Columns
		missing := slices.DeleteFunc(slices.Clone(t.Needed), func(name string) bool {
			return slices.ContainsFunc(columns, func(c table.Column) bool { return strings.EqualFold(c.Name, name) })
		})
		if len(missing) > 0 {
			later.Doubts = append(later.Doubts, fmt.Sprintf("table %s lacks %s", t.Table, strings.Join(missing, ", ")))
		}
		for _, c := range columns {
			isOurs := func(name string) bool { return strings.EqualFold(c.Name, name) }
			if slices.ContainsFunc(t.Needed, isOurs) || slices.ContainsFunc(t.Further, isOurs) {
				continue
			}
			later.Unread = append(later.Unread, fmt.Sprintf("column %.60q of %s", c.Name, t.Table))
			doubt, err := columnDoubt(ctx, db, t.Table, c)
			if err != nil {
				return later, err
			}
			if doubt != "" {
				later.Doubts = append(later.Doubts, doubt)
			}
		}
	}
	for _, name := range referringTables(schema, layout.Known, events) {
		later.Unread = append(later.Unread, fmt.Sprintf("table %.60q", name))
		later.Doubts = append(later.Doubts, fmt.Sprintf("table %.60q refers to rows of %s", name, events))
	}
	if len(later.Unread)+len(later.Doubts) > 0 {
		later.Found = "its tables are not those of a release that sessctl knows"
	}
	later.Found = cmp.Or(layout.Later.Found, later.Found)
	later.Doubts = append(later.Doubts, layout.Later.Doubts...)
	return later, nil
}

// columnDoubt says what of an unknown column keeps a repair away, "" for nothing.
func columnDoubt(ctx context.Context, db table.Reader, name string, c table.Column) (string, error) {
	if c.Required {
		return fmt.Sprintf("column %.60q of %s needs a value in every row", c.Name, name), nil
	}
	used := false
	_, err := db.Scan(ctx, table.Selection{Table: name, Columns: []string{c.Name}, Glance: true}, func(_ table.Place, row []table.Value) error {
		if used = row[0] != nil && column.View(row[0]) != column.View(c.Default); used {
			return table.Enough
		}
		return nil // damage is told of when the rows are read
	})
	if used {
		return fmt.Sprintf("sessctl does not know what column %.60q of %s means for its rows", c.Name, name), nil
	}
	return "", err
}

// referringTables are the tables whose foreign keys lead to the events, and that are not known.
func referringTables(schema table.Schema, known []Known, events string) (names []string) {
	for _, from := range schema.Names() {
		own := slices.ContainsFunc(known, func(t Known) bool { return strings.EqualFold(t.Table, from) })
		if !own && slices.ContainsFunc(schema.Tables[from].Parents, func(to string) bool { return strings.EqualFold(to, events) }) {
			names = append(names, from)
		}
	}
	return names
}
