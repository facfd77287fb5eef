package dockeragent

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/jsonedit"
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

// item compares what may change of an item that stays, and says whether
// anything does.
func (d *difference) item(from, to placed, sc *schema) (bool, error) {
	was, now := from.item, to.item
	inSession := func(v driver.Value) bool { return textOf(v) == from.session }
	atPosition := func(v driver.Value) bool { return sortKey(v) == was.Position }
	edits := rowEdit{}
	if from.session != to.session {
		edits["session_id"] = becomes(to.session, inSession)
	}
	if now.Position != was.Position || from.odd && !to.odd {
		edits["position"] = becomes(now.Position, atPosition)
	}
	if now.Agent != was.Agent {
		edits["agent_name"] = becomes(now.Agent, func(v driver.Value) bool { return textOf(v) == was.Agent })
	}
	if now.KeptFrom != was.KeptFrom {
		if !sc.has(tableItems, "first_kept_entry") {
			return false, noColumn(tableItems, "first_kept_entry", sc)
		}
		edits["first_kept_entry"] = becomes(now.KeptFrom, func(v driver.Value) bool { n, _ := v.(int64); return n == was.KeptFrom })
	}
	said, err := rewordings(was, now)
	if err != nil {
		return false, err
	}
	if len(said) > 0 {
		edits["message_json"] = reword(said, len(was.Calls))
	}
	if len(edits) == 0 {
		return false, nil
	}
	row, err := rowOf(from)
	if err != nil {
		return false, err
	}
	all := rowEdit{"session_id": stays(inSession), "position": stays(atPosition)}
	maps.Copy(all, d.items[row]) // values of their own
	maps.Copy(all, edits)
	if from.session != to.session {
		d.moved = append(d.moved, row)
	}
	d.items[row] = all
	return true, nil
}

// rowOf is the row of a stored item.
func rowOf(p placed) (int64, error) {
	if p.item.Table == tableColumn {
		return 0, onlyInColumn(p.session)
	}
	row, err := strconv.ParseInt(p.item.Key, 10, 64)
	if err != nil {
		return 0, noRecord(p.item.Table, p.item.Key)
	}
	return row, nil
}

// inRows makes sure that all items of a session are rows: one row would hide
// what only the old column holds (2.4).
func inRows(lists ...*session.Session) error {
	for _, s := range lists {
		if s == nil {
			continue
		}
		if columnOnly(s) {
			return onlyInColumn(s.ID)
		}
	}
	return nil
}

// columnOnly reports whether a session has something in the old column and no
// rows: the column is read for no other session.
func columnOnly(s *session.Session) bool {
	return slices.ContainsFunc(s.Items, func(it session.Item) bool { return it.Table == tableColumn }) ||
		slices.ContainsFunc(s.Faults, func(f session.Fault) bool { return f.Field == columnField && f.Item < 0 })
}

func onlyInColumn(session string) error {
	return problem.New(problem.RolledBack, "start the docker agent that wrote the store once: it moves them into the item table when it can",
		"session %s cannot be repaired: its items exist only in the old messages column", session)
}

func noColumn(table, column string, sc *schema) error {
	return problem.New(problem.RolledBack, "", "%s cannot be set: table %s of schema generation %s has no such column", column, table, sc.name())
}

func noRecord(table, key string) error {
	return problem.New(problem.RolledBack, "", "record %s of %s cannot be changed: it is not in the store under that key", idText(key), table)
}

// rewording gives one text of a stored message another value.
type rewording struct {
	pointer string
	in      func(m *chatMessage) *string
	was, is string
}

// rewordings lists what an item says in another way than it did. Texts are
// compared where they are loaded: an item whose text or arguments change has its
// body.
func rewordings(was, now *session.Item) ([]rewording, error) {
	if was.Role != now.Role || len(was.Calls) != len(now.Calls) || len(was.Results) != len(now.Results) {
		return nil, problem.New(problem.RolledBack, "", "record %s of %s cannot become a message of another form", idText(was.Key), was.Table)
	}
	all := []rewording{}
	for i := range was.Calls {
		a, b, call := &was.Calls[i], &now.Calls[i], fmt.Sprint("/tool_calls/", i)
		all = append(all,
			rewording{call + "/id", func(m *chatMessage) *string { return &m.ToolCalls[i].ID }, a.ID, b.ID},
			rewording{call + "/function/arguments", func(m *chatMessage) *string { return &m.ToolCalls[i].Function.Arguments }, a.Args, b.Args})
	}
	for i := range was.Results {
		all = append(all, rewording{"/tool_call_id", func(m *chatMessage) *string { return &m.ToolCallID }, was.Results[i].CallID, now.Results[i].CallID})
	}
	if was.Body != nil && now.Body != nil {
		all = append(all, rewording{"/content", func(m *chatMessage) *string { return &m.Content }, was.Body.Text, now.Body.Text})
	}
	return slices.DeleteFunc(all, func(r rewording) bool { return r.was == r.is }), nil
}

// reword changes a message at the calls of a known number, byte by byte. ok is
// false for one that does not say what was known of it, and for one in which
// docker agent would read something else afterwards than is meant.
func reword(list []rewording, calls int) rewrite {
	return func(stored driver.Value) (_ any, ok bool) {
		doc := []byte(textOf(stored))
		var meant, read chatMessage
		if json.Unmarshal(doc, &meant) != nil || len(meant.ToolCalls) != calls {
			return nil, false
		}
		for _, r := range list {
			text := r.in(&meant)
			if *text != r.was {
				return nil, false
			}
			*text = r.is
			value, _ := json.Marshal(r.is) // as docker agent encodes it; never fails on a string
			var err error
			if doc, err = jsonedit.Set(doc, r.pointer, value); err != nil {
				return nil, false
			}
		}
		if json.Unmarshal(doc, &read) != nil || !reflect.DeepEqual(meant, read) {
			return nil, false
		}
		if _, blob := stored.([]byte); blob {
			return doc, true
		}
		return string(doc), true
	}
}
