package eventlog

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// catalog is what has to be known of a store before one of its sessions can be
// read: how they are called, and so their events.
type catalog struct {
	*owners
	layout   *Layout
	sessions table
	events   table
	doubled  map[int64]bool // rows of events whose id another event has as well
}

func newCatalog(ctx context.Context, db *sqlite.DB, layout *Layout) (*catalog, error) {
	c := &catalog{layout: layout}
	var err error
	if layout.Prepare != nil {
		if err = layout.Prepare(ctx, db); err != nil {
			return nil, err
		}
	}
	if c.sessions, err = newTable(ctx, db, &layout.Sessions); err != nil {
		return nil, err
	}
	if c.events, err = newTable(ctx, db, &layout.Events); err != nil {
		return nil, err
	}
	if c.owners, err = readOwners(ctx, &c.sessions); err != nil {
		return nil, err
	}
	return c, c.findDoubled(ctx)
}

// scoped reports whether ids of events mean something within a session only.
func (c *catalog) scoped() bool { return len(c.events.Key) > 1 && !c.layout.OneID }

// key is the key of an event: session.Item.Key.
func (c *catalog) key(o *owner, row Row) string {
	id := text(row.Value(c.events.ID))
	key := strings.Clone(id)
	if c.scoped() {
		key = o.name + "/" + id
	}
	if id == "" || c.doubled[row.ID] {
		key += "#" + strconv.FormatInt(row.ID, 10)
	}
	return key
}

// findDoubled finds the events that share an id, where no index forbids it.
func (c *catalog) findDoubled(ctx context.Context) error {
	c.doubled = map[int64]bool{}
	same := []string{c.events.ID}
	if c.scoped() {
		same = append(same, c.events.Key...)
	}
	unique, err := c.unique(ctx, same)
	if err != nil || unique {
		return err
	}
	err = c.rowids(ctx, "select r from (select "+c.events.rowid+" as r, count(*) over (partition by "+
		strings.Join(sqlite.QuotedAll(same), ", ")+") as n from "+c.events.quotedName()+" not indexed) where n > 1")
	_, err = sqlite.Readable(err) // damage is told of when the rows are read
	return err
}

func (c *catalog) rowids(ctx context.Context, query string) error {
	rows, err := c.events.db.Query(ctx, query)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var row int64
		if err := rows.Scan(&row); err != nil {
			return err
		}
		c.doubled[row] = true
	}
	return rows.Err()
}

// unique reports whether an index keeps these columns from being equal twice.
func (c *catalog) unique(ctx context.Context, columns []string) (bool, error) {
	list, _ := json.Marshal(columns) // never fails on strings
	var found bool
	err := c.events.db.QueryRow(ctx, `select exists(select 1 from pragma_index_list(?) l where l."unique" and not l.partial and not exists(
		select 1 from pragma_index_info(l.name) i where i.name is null or i.name not in (select value from json_each(?))))`,
		c.events.Name, string(list)).Scan(&found)
	return found, err
}

// reading is a way to find the events of some sessions: see eventsOf.
type reading func(ctx context.Context, list []int, names []string, fn func(owner int, row Row) error) ([]sqlite.Range, error)

// eventsOf hands the events of some sessions to fn, with the session's index; of
// all of them for a nil list, and then those of no session as well, with -1. names
// are the columns that are read besides the key.
func (c *catalog) eventsOf(ctx context.Context, list []int, names []string, fn func(owner int, row Row) error) ([]sqlite.Range, error) {
	wanted := make(map[int]bool, len(list))
	for _, i := range list {
		wanted[i] = true
	}
	key := make([]driver.Value, len(c.events.Key))
	var joined, last []byte
	number := -1
	each := func(row Row) error {
		for i, column := range c.events.Key {
			key[i] = row.Value(column)
		}
		joined = joinedKey(joined[:0], key)
		if last == nil || string(joined) != string(last) { // events of one session mostly come together
			last = append(last[:0], joined...)
			var ok bool
			if number, ok = c.byKey[string(joined)]; !ok {
				number = -1
			}
		}
		if list != nil && !wanted[number] {
			return nil
		}
		return fn(number, row)
	}
	names = append(slices.Clone(c.events.Key), names...)
	if parameter, ok := c.parameter(list); ok {
		return nil, c.events.scan(ctx, c.events.pick(names), c.among(), each, parameter)
	}
	return c.events.all(ctx, names, each)
}

// among is the condition that an event belongs to one of the sessions of a
// parameter. It uses an index where there is one.
func (c *catalog) among() string {
	key := sqlite.QuotedAll(c.events.Key)
	values := make([]string, len(key))
	for i := range key {
		values[i] = "json_extract(value, '$[" + strconv.Itoa(i) + "]')"
	}
	return "(" + strings.Join(key, ", ") + ") in (select " + strings.Join(values, ", ") + " from json_each(?))"
}

// parameter are the keys of sessions in JSON. ok is false for those that JSON
// cannot hold exactly, and for all sessions.
func (c *catalog) parameter(list []int) (_ string, ok bool) {
	if list == nil {
		return "", false
	}
	keys := make([][]driver.Value, len(list))
	for i, n := range list {
		keys[i] = c.list[n].key
		for _, value := range keys[i] {
			s, isText := value.(string)
			if !isText || !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
				return "", false
			}
		}
	}
	text, err := json.Marshal(keys)
	return string(text), err == nil
}

// of are a row's values for a list of columns, in its order.
func (r Row) of(names []string) []driver.Value {
	list := make([]driver.Value, len(names))
	for i, name := range names {
		list[i] = r.Value(name)
	}
	return list
}
