package dockeragent

import (
	"database/sql/driver"
	"slices"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/table"
)

// difference is what a change makes of records.
type difference struct {
	created  []*session.Session // parents first
	inserted []placed           // items that are new
	removed  map[int64]string   // rows of the item table that leave, and the sessions that hold them
	moved    []int64            // rows of it that go to another session
	sessions map[string]rowEdit // by id
	items    map[int64]rowEdit  // by row
	listed   map[string]bool    // sessions whose items changed, moved, came or left
}

// placed is an item in the session that it belongs to.
type placed struct {
	session string
	item    *session.Item
	odd     bool // its stored position is no whole number, whatever place that gives it
}

// rowEdit is what becomes of some columns of a record.
type rowEdit map[string]rewrite

// rewrite makes the new value of a column from the stored one. ok is false when
// that is not what the change was planned for.
type rewrite func(stored driver.Value) (value any, ok bool)

// becomes sets a value in the place of a known one.
func becomes(value any, known func(stored driver.Value) bool) rewrite {
	return func(stored driver.Value) (any, bool) { return value, known(stored) }
}

// stays leaves a value as it is, which must be the known one.
func stays(known func(stored driver.Value) bool) rewrite {
	return func(stored driver.Value) (any, bool) { return table.Kept(stored), known(stored) }
}

// compare finds the difference between the trees of a change.
func compare(c *store.Change, sc *schema) (*difference, error) {
	d := &difference{
		removed: map[int64]string{}, sessions: map[string]rowEdit{}, items: map[int64]rowEdit{}, listed: map[string]bool{},
	}
	homes := map[string]placed{}
	for _, s := range c.Before.Sessions {
		if c.After.Session(s.ID) == nil {
			return nil, problem.New(problem.RolledBack, "", "a repair of a docker agent store deletes no session, and session %s is missing after it", s.ID)
		}
		for i := range s.Items {
			homes[s.ItemRef(i).Row()] = placed{session: s.ID, item: &s.Items[i], odd: oddPosition(s, i)}
		}
	}
	for _, e := range c.Sets {
		if err := d.set(e, homes, sc); err != nil {
			return nil, err
		}
	}
	for _, s := range c.After.Sessions {
		before := c.Before.Session(s.ID)
		if before == nil {
			d.create(s, c)
		} else {
			d.session(before, s)
		}
		if err := d.list(before, s, homes, sc); err != nil {
			return nil, err
		}
	}
	return d, d.remove(homes)
}

// oddPosition reports whether the stored position of an item is no whole number.
func oddPosition(s *session.Session, item int) bool {
	return slices.ContainsFunc(s.Faults, func(f session.Fault) bool { return f.Item == item && f.Field == session.FieldPosition })
}

// create notes a new session, behind its parent.
func (d *difference) create(s *session.Session, c *store.Change) {
	for _, known := range d.created {
		if known == s {
			return
		}
	}
	if parent := c.After.Session(s.Parent); parent != nil && c.Before.Session(s.Parent) == nil {
		d.create(parent, c)
	}
	d.created = append(d.created, s)
}

// session compares the records of a session themselves.
func (d *difference) session(before, after *session.Session) {
	r := d.sessions[after.ID]
	if r == nil {
		r = rowEdit{}
	}
	if after.Parent != before.Parent {
		var parent any
		if after.Parent != "" {
			parent = after.Parent
		}
		r["parent_id"] = becomes(parent, func(v driver.Value) bool { return textOf(v) == before.Parent })
	}
	indexRefs(r, before.IndexRefs, after.IndexRefs)
	if len(r) > 0 {
		d.sessions[after.ID] = r
	}
}

// list compares the items of a session; before is nil for a new one. What is
// left in homes at the end is nowhere in the new tree.
func (d *difference) list(before, after *session.Session, homes map[string]placed, sc *schema) error {
	changed := before == nil || len(before.Items) != len(after.Items)
	for i := range after.Items {
		it := &after.Items[i]
		if it.Table == "" {
			d.inserted = append(d.inserted, placed{session: after.ID, item: it, odd: oddPosition(after, i)})
			changed = true
			continue
		}
		row := after.ItemRef(i).Row()
		home, ok := homes[row]
		if !ok {
			return problem.New(problem.RolledBack, "", "%s stands twice in the repaired tree, or was not in it before", row)
		}
		delete(homes, row)
		moved, err := d.item(home, placed{session: after.ID, item: it, odd: oddPosition(after, i)}, sc)
		if err != nil {
			return err
		}
		changed = changed || moved
	}
	d.listed[after.ID] = d.listed[after.ID] || changed
	if !changed {
		return nil
	}
	return inRows(before, after)
}

// remove notes what is left of the old tree.
func (d *difference) remove(homes map[string]placed) error {
	for _, p := range homes {
		row, err := rowOf(p)
		if err != nil {
			return err
		}
		d.removed[row] = p.session
		d.listed[p.session] = true
		delete(d.items, row)
	}
	return nil
}
