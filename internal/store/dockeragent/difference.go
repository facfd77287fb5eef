package dockeragent

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/column"
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
	listed   idList             // sessions whose items changed, moved, came or left
}

// placed is an item in the session that it belongs to.
type placed struct {
	session string
	item    *session.Item
}

// rowEdit is what becomes of some columns of a record.
type rowEdit map[string]rewrite

// rewrite makes the new value of a column from the stored one. ok is false when
// that is not what the change was planned for.
type rewrite func(stored driver.Value) (value any, ok bool)

// replaceKnown sets a value in the place of a known one.
func replaceKnown(value any, known func(stored driver.Value) bool) rewrite {
	return func(stored driver.Value) (any, bool) { return value, known(stored) }
}

// keepKnown leaves a value as it is, which must be the known one.
func keepKnown(known func(stored driver.Value) bool) rewrite {
	return func(stored driver.Value) (any, bool) { return table.CloneValue(stored), known(stored) }
}

// differenceOf is what a change makes of the records.
func differenceOf(c *store.Change, sc *schema) (*difference, error) {
	d := &difference{
		removed: map[int64]string{}, sessions: map[string]rowEdit{}, items: map[int64]rowEdit{},
	}
	sessions, err := change.CompareSessions(c)
	if err != nil {
		return nil, err
	}
	for _, s := range sessions {
		if err := d.compareSession(s, sc); err != nil {
			return nil, err
		}
		if err := d.compareItems(s, sc); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// compareSession notes what becomes of the record of a session itself.
func (d *difference) compareSession(s *change.Session, sc *schema) error {
	if s.Was == nil {
		d.created = append(d.created, s.Is)
		return nil
	}
	r := rowEdit{}
	if err := r.setColumns(s.Sets, sc); err != nil {
		return err
	}
	if s.Is.Parent != s.Was.Parent {
		var parent any
		if s.Is.Parent != "" {
			parent = s.Is.Parent
		}
		r["parent_id"] = replaceKnown(parent, func(v driver.Value) bool { return column.Text(v) == s.Was.Parent })
	}
	noteIndexRefs(r, s.Was.IndexRefs, s.Is.IndexRefs)
	if len(r) > 0 {
		d.sessions[s.Is.ID] = r
	}
	return nil
}

// compareItems notes what becomes of the items of a session.
func (d *difference) compareItems(s *change.Session, sc *schema) error {
	for i := range s.Items {
		it := &s.Items[i]
		if it.Was == nil {
			d.inserted = append(d.inserted, placed{session: s.Is.ID, item: it.Is})
		} else if it.Differs() {
			if err := d.compareItem(it, s.Is.ID, sc); err != nil {
				return err
			}
		}
	}
	for _, it := range s.Removed {
		row, err := rowOf(it, s.Was.ID)
		if err != nil {
			return err
		}
		d.removed[row] = s.Was.ID
	}
	if !s.ListDiffers() {
		return nil
	}
	d.listed = append(d.listed, s.Is.ID)
	return requireRows(s.Was, s.Is)
}

// compareItem notes what becomes of an item that stays, in this session.
func (d *difference) compareItem(it *change.Item, session string, sc *schema) error {
	row, err := rowOf(it.Was, it.From)
	if err != nil {
		return err
	}
	r := rowEdit{
		"session_id": keepKnown(func(v driver.Value) bool { return column.Text(v) == it.From }),
		"position":   keepKnown(func(v driver.Value) bool { return sortKey(v) == it.Was.Position }),
	}
	if err := r.setColumns(it.Sets, sc); err != nil {
		return err
	}
	if it.Moves {
		r["session_id"] = replaceKnown(session, func(v driver.Value) bool { return column.Text(v) == it.From })
		d.moved = append(d.moved, row)
	}
	var texts []rewording
	for _, v := range it.Values {
		if at := textPlaceOf(v); at != nil {
			texts = append(texts, rewording{v, at})
		} else if err := r.setValue(it, v, sc); err != nil {
			return err
		}
	}
	if len(texts) > 0 {
		r["message_json"] = rewordMessage(texts, len(it.Was.Calls))
	}
	d.items[row] = r
	return nil
}

// setValue notes a value that has a column of its own.
func (r rowEdit) setValue(it *change.Item, v change.Value, sc *schema) error {
	switch v.Field {
	case session.FieldPosition:
		r["position"] = replaceKnown(it.Is.Position, func(v driver.Value) bool { return sortKey(v) == it.Was.Position })
	case change.FieldAgent:
		r["agent_name"] = replaceKnown(v.Is, func(stored driver.Value) bool { return column.Text(stored) == v.Was })
	case change.FieldKeptFrom:
		if !sc.has(tableItems, "first_kept_entry") {
			return noColumnError(tableItems, "first_kept_entry", sc)
		}
		r["first_kept_entry"] = replaceKnown(it.Is.KeptFrom(), func(v driver.Value) bool { n, _ := v.(int64); return n == it.Was.KeptFrom() })
	case change.FieldDelegation: // is read of the sub-session items
	default:
		return problem.New(problem.RolledBack, "", "record %s of %s cannot be changed: this kind of store has no place for another %s", idText(it.Was.Key), it.Was.Table(), v.Field)
	}
	return nil
}

// rowOf is the row of a stored item of a session.
func rowOf(it *session.Item, home string) (int64, error) {
	if it.Table() == tableColumn {
		return 0, columnOnlyError(home)
	}
	row, err := strconv.ParseInt(it.Key, 10, 64)
	if err != nil {
		return 0, noRecordError(it.Table(), it.Key)
	}
	return row, nil
}

// requireRows makes sure that all items of a session are rows: one row would hide
// what only the old column holds (docs/stores/docker-agent.md#what-is-read).
func requireRows(lists ...*session.Session) error {
	for _, s := range lists {
		if s == nil {
			continue
		}
		if isColumnOnly(s) {
			return columnOnlyError(s.ID)
		}
	}
	return nil
}

// isColumnOnly reports whether a session has something in the old column and no
// rows: the column is read for no other session.
func isColumnOnly(s *session.Session) bool {
	return slices.ContainsFunc(s.Items, func(it session.Item) bool { return it.Table() == tableColumn }) ||
		slices.ContainsFunc(s.Faults, func(f session.Fault) bool { return f.Field == columnField && f.Item < 0 })
}

func columnOnlyError(session string) error {
	return problem.New(problem.RolledBack, "open the store once with docker agent, which moves them into the item table if it can",
		"session %s cannot be repaired: its messages are only in the old messages column", session)
}

func noColumnError(table, column string, sc *schema) error {
	return problem.New(problem.RolledBack, "", "%s cannot be set: table %s of schema generation %s has no such column", column, table, sc.name())
}

func noRecordError(table, key string) error {
	return problem.New(problem.RolledBack, "", "record %s of %s cannot be changed: it is not in the store under that key", idText(key), table)
}

// rewording gives one text of a stored message another value.
type rewording struct {
	change.Value
	*textPlace
}

// textPlace is where a message holds a text.
type textPlace struct {
	pointer string
	in      func(m *chatMessage) *string
}

// textPlaceOf is where a message holds a value; nil where it is none of a message.
func textPlaceOf(v change.Value) *textPlace {
	call := fmt.Sprint("/tool_calls/", v.Nth)
	switch {
	case v.Of == change.OfCall && v.Field == session.FieldCallID:
		return &textPlace{call + "/id", func(m *chatMessage) *string { return &m.ToolCalls[v.Nth].ID }}
	case v.Of == change.OfCall && v.Field == change.FieldArgs:
		return &textPlace{call + "/function/arguments", func(m *chatMessage) *string { return &m.ToolCalls[v.Nth].Function.Arguments }}
	case v.Of == change.OfResult && v.Field == session.FieldResultID:
		return &textPlace{"/tool_call_id", func(m *chatMessage) *string { return &m.ToolCallID }}
	case v.Of == change.OfItem && v.Field == session.FieldText:
		return &textPlace{"/content", func(m *chatMessage) *string { return &m.Content }}
	}
	return nil
}

// rewordMessage changes a message at the calls of a known number, byte by byte. ok is
// false for one that does not say what was known of it, and for one in which
// docker agent would read something else afterwards than is meant.
func rewordMessage(list []rewording, calls int) rewrite {
	return func(stored driver.Value) (_ any, ok bool) {
		doc := []byte(column.Text(stored))
		var meant, read chatMessage
		if json.Unmarshal(doc, &meant) != nil || len(meant.ToolCalls) != calls {
			return nil, false
		}
		for _, r := range list {
			text := r.in(&meant)
			if *text != r.Was {
				return nil, false
			}
			*text = r.Is
			value, _ := json.Marshal(r.Is) // as docker agent encodes it; never fails on a string
			var err error
			if doc, err = jsonedit.SetValue(doc, r.pointer, value); err != nil {
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
