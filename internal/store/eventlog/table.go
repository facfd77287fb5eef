package eventlog

import (
	"context"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// records reads one of the two tables.
type records struct {
	*Table
	db table.Reader
}

// own are the columns that the database does not keep by itself.
func (t *Table) own() []string {
	if t.Derived == nil {
		return t.Columns
	}
	return slices.DeleteFunc(slices.Clone(t.Columns), func(c string) bool { return slices.Contains(t.Derived, c) })
}

// columns are some columns of a table, as rows have them and as they are asked for.
type columns struct {
	names map[string]int
	list  []string
}

func (t *records) pick(names []string) columns {
	c := columns{names: make(map[string]int, len(names))}
	for _, name := range names {
		if _, known := c.names[name]; !known && slices.Contains(t.Columns, name) {
			c.names[name] = len(c.list)
			c.list = append(c.list, name)
		}
	}
	return c
}

// scan hands the rows with some keys to fn, with nil every row; others may come, too.
// What is lost is returned.
func (t *records) scan(ctx context.Context, names []string, keys [][]table.Value, fn func(Row) error) ([]session.Fault, error) {
	c := t.pick(names)
	rows := table.Selection{Table: t.Name, Columns: c.list, Key: t.Key, Keys: keys}
	return t.db.Scan(ctx, rows, func(at table.Place, values []table.Value) error { return fn(Row{at, c.names, values}) })
}

// rows hands the rows at places to fn, with their indexes in the list. Those that cannot
// be read are returned, by index.
func (t *records) rows(ctx context.Context, names []string, places []table.Place, fn func(n int, row Row) error) (unread []int, err error) {
	c := t.pick(names)
	return t.db.Rows(ctx, t.Name, c.list, places, func(n int, values []table.Value) error { return fn(n, Row{places[n], c.names, values}) })
}

// text is the value of a column as text, valid as long as the value.
func text(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return ""
}

// kept is a row that outlives the function that got it.
func (r Row) kept() Row {
	r.values = slices.Clone(r.values)
	for i, v := range r.values {
		r.values[i] = table.Kept(v)
	}
	return r
}
