package eventlog

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/table"
)

// writer writes one change.
type writer struct {
	*catalog
	edit    table.Writer
	write   *Write
	changed []*change.Session // what becomes of every session
	stored  reading
	places  map[string]table.Place // of the events of the sessions that change, by session.Item.Key
	created map[string]*owner
	ids     map[string]bool // the sessions' own ids, when one is created
	numbers numbers
}

// writeAll writes the differences of all sessions: everything is read and composed before
// the first event changes.
func (w *writer) writeAll(ctx context.Context, all []*difference) error {
	if err := w.locateEvents(ctx, all); err != nil {
		return err
	}
	if err := w.numbers.loadNumbers(ctx, w, all); err != nil {
		return err
	}
	scripts := make([]*script, len(all))
	for i, d := range all {
		if d.Was == nil {
			if err := w.createSession(ctx, d); err != nil {
				return err
			}
		}
		scripts[i] = &script{difference: d, owner: w.ownerOf(d.Is.ID), given: map[string]bool{}}
	}
	for _, s := range scripts {
		if err := w.composeRows(ctx, s); err != nil {
			return err
		}
	}
	for _, s := range scripts {
		if err := w.setCount(ctx, s); err != nil {
			return err
		}
	}
	for _, s := range scripts {
		if err := w.writeRows(ctx, s); err != nil {
			return err
		}
	}
	if w.write.OtherTables == nil {
		return nil
	}
	return w.write.OtherTables(ctx, w.edit, w.changed)
}

// locateEvents finds the rows of the events of sessions that change.
func (w *writer) locateEvents(ctx context.Context, all []*difference) error {
	var ids []string
	for _, d := range all {
		if d.Was == nil {
			continue
		}
		ids = append(ids, d.Is.ID)
		if _, ok := w.numberByName(d.Is.ID); !ok {
			return problem.New(problem.RolledBack, "", "session %s cannot be changed: the store has no session with that id", d.Is.ID)
		}
	}
	w.places = map[string]table.Place{}
	_, err := w.stored(ctx, append([]int{}, w.findSessions(ids)...), []string{w.events.ID}, func(owner int, row Row) error {
		w.places[w.eventKey(&w.list[owner], row)] = row.Place
		return nil
	})
	return err
}

// ownerOf is the row of a session, one that was created included; nil when there is none.
func (w *writer) ownerOf(id string) *owner {
	if i, ok := w.numberByName(id); ok {
		return &w.list[i]
	}
	return w.created[id]
}

// script are the rows that one session's events become.
type script struct {
	*difference
	owner   *owner
	rows    map[string]Row // as they are stored, by key
	given   map[string]bool
	deletes []table.Place
	updates []update
	inserts [][]table.Field
}

// update is one change of a row.
type update struct {
	row    table.Place
	fields []table.FieldChange
}

// composeRows makes the rows of one session.
func (w *writer) composeRows(ctx context.Context, s *script) error {
	if err := w.loadRows(ctx, s); err != nil {
		return err
	}
	refused := store.Unwritable{}
	for i := range s.Items {
		if err := ctx.Err(); err != nil { // a document can be large
			return err
		}
		err := w.composeEvent(ctx, s, i)
		if p, ok := errors.AsType[*problem.Error](err); ok && p.Class == problem.RolledBack {
			refused[s.Items[i].Is.Key] = err
		} else if err != nil {
			return err
		}
	}
	if len(refused) > 0 {
		return refused
	}
	for _, it := range s.Removed {
		s.deletes = append(s.deletes, s.rows[it.Key].Place)
	}
	return nil
}

// setCount sets the counter of a session's events right: one that is too low could keep a
// trigger from counting down.
func (w *writer) setCount(ctx context.Context, s *script) error {
	if w.sessions.Count == "" || s.Was == nil {
		return nil
	}
	row, err := w.ownRow(ctx, s.owner)
	if err != nil {
		return err
	}
	stored, events := row.Value(w.sessions.Count), int64(len(s.Was.Items))
	if stored == events {
		return nil
	}
	return w.edit.Update(ctx, w.sessions.Name, row.Place, []table.FieldChange{{Name: w.sessions.Count, Old: stored, New: events}})
}

// writeRows writes the rows of one session.
func (w *writer) writeRows(ctx context.Context, s *script) error {
	for _, row := range s.deletes {
		if err := w.edit.Delete(ctx, w.events.Name, row); err != nil {
			return err
		}
	}
	for _, u := range s.updates {
		if err := w.edit.Update(ctx, w.events.Name, u.row, u.fields); err != nil {
			return err
		}
	}
	for _, row := range s.inserts {
		if _, err := w.edit.Insert(ctx, w.events.Name, row); err != nil {
			return err
		}
	}
	changes := s.Was != nil && (s.parted || len(s.deletes)+len(s.updates)+len(s.inserts) > 0)
	if !changes && !s.adopted && len(s.Sets) == 0 {
		return nil
	}
	return w.updateOwnRow(ctx, s)
}

// loadRows reads the rows that decide what is written, and makes sure that those
// which change say what they said when the change was planned.
func (w *writer) loadRows(ctx context.Context, s *script) error {
	planned := map[string]*session.Item{} // to be compared
	needed := map[string]bool{}
	for i := range s.Items {
		step := &s.Items[i]
		if step.Was == nil {
			if near := s.storedNeighbour(i); near != nil {
				needed[near.Key] = true
			}
		} else if !step.Stays() || step.Differs() || s.anew[i] {
			needed[step.Was.Key], planned[step.Was.Key] = true, step.Was
		}
	}
	for _, it := range s.Removed {
		needed[it.Key], planned[it.Key] = true, it
	}
	var keys []string
	var places []table.Place
	for key := range needed {
		at, ok := w.places[key]
		if !ok {
			return staleError(w.events.Name, key)
		}
		keys, places = append(keys, key), append(places, at)
	}
	s.rows = make(map[string]Row, len(keys))
	unread, err := w.events.readRows(ctx, w.events.Columns, places, func(n int, row Row) error {
		if it := planned[keys[n]]; it != nil && !w.matchesItem(row, it) {
			return staleError(w.events.Name, it.Key)
		}
		s.rows[keys[n]] = row.cloneValues()
		return nil
	})
	if err == nil && len(unread) > 0 {
		err = staleError(w.events.Name, keys[unread[0]])
	}
	return err
}

// matchesItem reports whether a row is what was read as an item.
func (w *writer) matchesItem(row Row, it *session.Item) bool {
	at, _ := w.layout.Order(row.Place, row)
	now := session.Item{Shared: &session.Shared{Table: it.Table()}, Key: it.Key, Position: at}
	w.layout.Item(row, &now, false)
	return now.Meaning == it.Meaning && now.Position == it.Position
}

// storedNeighbour is the stored event before a new one, or else the next behind it; nil
// where the session has none.
func (d *difference) storedNeighbour(i int) *session.Item {
	for n := i - 1; n >= 0; n-- {
		if d.Items[n].Was != nil {
			return d.Items[n].Was
		}
	}
	for n := i + 1; n < len(d.Items); n++ {
		if d.Items[n].Was != nil {
			return d.Items[n].Was
		}
	}
	return nil
}

func staleError(table, key string) error {
	return problem.New(problem.RolledBack, "Check the store again. If no other program wrote to it, repair the other sessions one by one with --session.",
		"%s changed after the repair was planned", fmt.Sprintf("%s/%.60s", table, key))
}

// updateOwnRow changes the session's own row.
func (w *writer) updateOwnRow(ctx context.Context, s *script) error {
	if w.write.Session == nil && len(s.Sets) == 0 && !s.adopted {
		return nil
	}
	row, err := w.ownRow(ctx, s.owner)
	if err != nil {
		return err
	}
	r := docedit.NewRow(row)
	if err := w.setFields(r, w.sessions.Table, s.Sets); err != nil {
		return err
	}
	if w.write.Session != nil {
		if err := w.write.Session(r, s.Session); err != nil {
			return err
		}
	}
	if s.adopted {
		r.Set(w.sessions.Parent, w.parentOf(s.Is))
	}
	fields := r.Changes()
	if len(fields) == 0 {
		return nil
	}
	return w.edit.Update(ctx, w.sessions.Name, row.Place, fields)
}

// setFields gives columns of a row what a plan sets in them.
func (w *writer) setFields(r *docedit.Row, of *Table, sets []session.Edit) error {
	for _, e := range sets {
		name, _, inside := strings.Cut(e.Field, "/")
		own := of.ownColumns()
		at := slices.IndexFunc(own, func(c string) bool { return strings.EqualFold(c, name) })
		if at < 0 {
			return problem.New(problem.RolledBack, "", "%s cannot be set: table %s has no such column", e.Field, of.Name)
		}
		if inside || e.Value == nil || w.write.Typed == nil {
			if err := r.SetField(own[at]+strings.TrimPrefix(e.Field, name), e.Value); err != nil {
				return err
			}
			continue
		}
		value, err := w.write.Typed(name, *e.Value)
		if err != nil {
			return err
		}
		r.Set(own[at], value)
	}
	return nil
}

// parentOf is what the row of a session says of its parent.
func (w *writer) parentOf(s *session.Session) any {
	switch o := w.ownerOf(s.Parent); {
	case s.Parent == "":
		return nil
	case o != nil:
		return o.keyID()
	}
	return s.Parent // is created with it
}

// createSession adds the row of a session that is split from another one.
func (w *writer) createSession(ctx context.Context, d *difference) error {
	if w.ids == nil {
		w.ids = make(map[string]bool, len(w.list))
		for i := range w.list {
			w.ids[names[0](&w.list[i])] = true
		}
	}
	if w.ownerOf(d.Is.ID) != nil || w.ids[d.Is.ID] {
		return problem.New(problem.RolledBack, "", "session %s cannot be created: the store already has a session with that id", d.Is.ID)
	}
	like, err := w.ownRow(ctx, w.ownerOf(d.Like))
	if err != nil {
		return err
	}
	fields, err := w.write.Create(d.Is, like)
	if err != nil {
		return err
	}
	if column := w.sessions.Parent; column != "" {
		fields = append(fields, table.Field{Name: column, Value: w.parentOf(d.Is)})
	}
	fields = w.sessions.existing(fields)
	var key []table.Value
	for _, column := range w.sessions.Key {
		at := slices.IndexFunc(fields, func(f table.Field) bool { return f.Name == column })
		if at < 0 {
			return problem.New(problem.RolledBack, "", "session %s cannot be created without %s", d.Is.ID, column)
		}
		key = append(key, fields[at].Value)
	}
	last := len(key) - 1
	within := key[:last:last]
	o := &owner{name: d.Is.ID, within: &within, odd: &odd{id: key[last]}}
	if o.row, err = w.edit.Insert(ctx, w.sessions.Name, fields); err == nil {
		w.created[d.Is.ID] = o
	}
	return err
}

// ownRow reads the row of a session.
func (w *writer) ownRow(ctx context.Context, o *owner) (Row, error) {
	var stored *Row
	_, err := w.sessions.readRows(ctx, w.sessions.Columns, []table.Place{o.row}, func(_ int, row Row) error {
		kept := row.cloneValues()
		stored = &kept
		return nil
	})
	if err != nil {
		return Row{}, err
	}
	if stored == nil {
		return Row{}, staleError(w.sessions.Name, o.name)
	}
	return *stored, nil
}

// newID is an id for a new event of a session, in the form of a random UUID (RFC
// 9562, version 4) or of the short ids of adk-js, whichever the event beside it has. It
// follows from the session and the call that the event answers, so that a plan makes the
// same store each time.
func (w *writer) newID(ctx context.Context, s *script, it *session.Item, neighbour *Row) (string, error) {
	call, form := "", derivedUUID
	if neighbour != nil && shortID().MatchString(column.Text(neighbour.Value(w.events.ID))) {
		form = derivedShortID
	}
	switch {
	case len(it.Results) > 0:
		call = it.Results[0].CallID
	case len(it.Calls) > 0:
		call = it.Calls[0].ID
	}
	for n := 0; ; n++ {
		id := form(fmt.Sprintf("%q %q %d", s.owner.keyPath(), call, n))
		used, err := w.isIDUsed(ctx, s.owner, id)
		if err != nil {
			return "", err
		}
		if !used && !s.given[id] {
			s.given[id] = true
			return id, nil
		}
	}
}

func derivedUUID(seed string) string {
	b := sha256.Sum256([]byte(seed))
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// shortID is the form that adk-js gives ids of events (event.ts): 8 letters and digits.
var shortID = pattern.Lazy(`^[A-Za-z0-9]{8}$`)

func derivedShortID(seed string) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	b := sha256.Sum256([]byte(seed))
	id := make([]byte, 8)
	for i := range id {
		id[i] = letters[int(b[i])%len(letters)]
	}
	return string(id)
}

// isIDUsed reports whether an event has this id, where it would be taken for the same.
func (w *writer) isIDUsed(ctx context.Context, o *owner, id string) (found bool, _ error) {
	events := table.Selection{
		Table: w.events.Name, Columns: append([]string{w.events.ID}, w.events.Key...),
		Key: []string{w.events.ID}, Keys: [][]table.Value{{id}},
	}
	_, err := w.edit.Reader().Scan(ctx, events, func(_ table.Place, row []table.Value) error {
		same := column.View(row[0]) == id && (!w.hasScopedIDs() || string(joinedKey(nil, row[1:])) == string(joinedKey(nil, o.keyValues())))
		found = found || same
		return nil
	})
	return found, err
}

// numbers gives out the numbers of events (Write.Renumber): each higher than all
// that were ever given out as far as the store knows.
type numbers struct {
	columns []string
	left    [][]int64 // of each column
}

// loadNumbers gets the numbers that a change needs.
func (n *numbers) loadNumbers(ctx context.Context, w *writer, all []*difference) error {
	n.columns = w.write.Renumber
	count := 0
	for _, d := range all {
		for _, anew := range d.anew {
			if anew {
				count++
			}
		}
	}
	n.left = make([][]int64, len(n.columns))
	for i, column := range n.columns {
		var err error
		if n.left[i], err = w.edit.ReserveNumbers(ctx, w.events.Name, column, count); err != nil {
			return err
		}
	}
	return nil
}

// appendNumbers adds the next number to a new row.
func (n *numbers) appendNumbers(row []table.Field) []table.Field {
	for i, column := range n.columns {
		row = append(row, table.Field{Name: column, Value: n.left[i][0]})
		n.left[i] = n.left[i][1:]
	}
	return row
}
