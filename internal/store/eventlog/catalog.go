package eventlog

import (
	"context"
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// catalog is what has to be known of a store before one of its sessions can be
// read: how they are called, and so their events.
type catalog struct {
	*owners
	layout   *Layout
	schema   table.Schema
	sessions records
	events   records
	doubled  map[table.Place]bool // rows of events whose id another event has as well
}

func newCatalog(ctx context.Context, db table.Reader, layout *Layout) (*catalog, error) {
	c := &catalog{layout: layout, sessions: records{&layout.Sessions, db}, events: records{&layout.Events, db}}
	var err error
	if layout.Prepare != nil {
		if err = layout.Prepare(ctx, db); err != nil {
			return nil, err
		}
	}
	if c.schema, err = db.Schema(ctx); err != nil {
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
	if id == "" || c.doubled[row.Place] {
		key += "#" + strconv.FormatInt(int64(row.Place), 10)
	}
	return key
}

// findDoubled finds the events that share an id, where no index forbids it.
func (c *catalog) findDoubled(ctx context.Context) error {
	c.doubled = map[table.Place]bool{}
	same := []string{c.events.ID}
	if c.scoped() {
		same = append(same, c.events.Key...)
	}
	if c.schema.Tables[c.events.Name].Unique(same...) {
		return nil
	}
	first := map[digest]table.Place{}
	var buf []byte
	_, err := c.events.db.Scan(ctx, table.Selection{Table: c.events.Name, Columns: same, Glance: true}, func(at table.Place, row []table.Value) error {
		buf = buf[:0]
		for _, value := range row {
			buf = table.AppendExactly(buf, value)
		}
		sum := sha256.Sum256(buf)
		if other, known := first[sum]; known {
			c.doubled[other], c.doubled[at] = true, true
		} else {
			first[sum] = at
		}
		return nil
	})
	return err
}

// reading is a way to find the events of some sessions: see eventsOf.
type reading func(ctx context.Context, list []int, names []string, fn func(owner int, row Row) error) ([]session.Fault, error)

// eventsOf hands the events of some sessions to fn, with the session's index; of
// all of them for a nil list, and then those of no session as well, with -1. names
// are the columns that are read besides the key.
func (c *catalog) eventsOf(ctx context.Context, list []int, names []string, fn func(owner int, row Row) error) ([]session.Fault, error) {
	wanted := make(map[int]bool, len(list))
	for _, i := range list {
		wanted[i] = true
	}
	key := make([]table.Value, len(c.events.Key))
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
	if list == nil {
		return c.events.scan(ctx, names, nil, each)
	}
	keys := make([][]table.Value, len(list))
	for i, n := range list {
		keys[i] = c.list[n].key
	}
	return c.events.scan(ctx, names, keys, each)
}

// of are a row's values for a list of columns, in its order.
func (r Row) of(names []string) []table.Value {
	list := make([]table.Value, len(names))
	for i, name := range names {
		list[i] = r.Value(name)
	}
	return list
}
