package eventlog

import (
	"context"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/table"
)

// comparison holds two trees against each other.
type comparison struct {
	*store.Change
	layout *Layout
	sets   map[string][]session.Edit // by the row of the record
	stored map[string]*stored        // the events of the tree before, by row
}

// numbers: positions are only an order.
func (c *comparison) numbers() bool { return c.layout.Write.Renumber != nil }

// compare lists what differs, session by session; those that are new come last.
func compare(change *store.Change, layout *Layout) ([]*difference, error) {
	c := &comparison{change, layout, map[string][]session.Edit{}, map[string]*stored{}}
	for _, e := range c.Sets {
		if e.Op != session.Set {
			return nil, problem.New(problem.RolledBack, "", "the edit %q of %s is not one that this store knows", e.Op, e.Ref.Row())
		}
		whole := e.Ref
		whole.Pointer = ""
		c.sets[whole.Row()] = append(c.sets[whole.Row()], e)
	}
	all, err := c.sessions()
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		if err := c.steps(d); err != nil {
			return nil, err
		}
	}
	var differing []*difference
	for _, d := range all {
		differs, err := d.complete(c)
		if err != nil {
			return nil, err
		}
		if differs {
			differing = append(differing, d)
		}
	}
	return differing, nil
}

// sessions makes a difference of every session, with what it was before.
func (c *comparison) sessions() ([]*difference, error) {
	var all []*difference
	befores, afters := byID(c.Before), byID(c.After)
	for _, before := range c.Before.Sessions {
		after := afters[before.ID]
		if after == nil {
			return nil, problem.New(problem.RolledBack, "", "session %s is missing after the repair, which deletes none", before.ID)
		}
		d := &difference{Session: after, was: make([]stored, len(before.Items)), parted: !slices.Equal(before.Runs, after.Runs), adopted: before.Parent != after.Parent}
		if d.parted && c.layout.Write.Beside == nil {
			return nil, problem.New(problem.RolledBack, "", "the runs of session %s change in the repair, and this store holds none", before.ID)
		}
		if d.adopted && c.layout.Sessions.Parent == "" {
			return nil, problem.New(problem.RolledBack, "", "the parent of session %s changes in the repair, and this store records none", before.ID)
		}
		for i := range before.Items {
			d.was[i] = stored{Item: &before.Items[i], session: before.ID, at: i}
			c.stored[before.ItemRef(i).Row()] = &d.was[i]
		}
		all = append(all, d)
	}
	for _, s := range c.After.Sessions {
		if befores[s.ID] != nil {
			continue
		}
		like := c.Split[s.ID]
		if c.layout.Write.Create == nil || befores[like] == nil {
			return nil, problem.New(problem.RolledBack, "", "session %s is new after the repair, and a session of this store cannot be made so", s.ID)
		}
		all = append(all, &difference{Session: s, like: like})
	}
	return all, nil
}

func byID(tree *session.Tree) map[string]*session.Session {
	sessions := make(map[string]*session.Session, len(tree.Sessions))
	for _, s := range tree.Sessions {
		sessions[s.ID] = s
	}
	return sessions
}

// steps finds what is stored of the events of a session.
func (c *comparison) steps(d *difference) error {
	d.fresh = len(d.Items)
	last := -1
	for i := range d.Items {
		s, err := c.find(d.Session, i)
		if err != nil {
			return err
		}
		at := -1
		switch {
		case s.part >= 0:
			s.was.parts = append(s.was.parts, s.part)
		case s.was != nil:
			if s.was.stays {
				return problem.New(problem.RolledBack, "", "%s is in the repaired tree twice", d.ItemRef(i).Row())
			}
			s.was.stays, s.was.moves = true, s.was.session != d.ID
			at = s.was.at
		}
		if !s.stays() || s.moves() || at < last {
			d.fresh = min(d.fresh, i)
		}
		last = max(last, at)
		d.steps = append(d.steps, s)
	}
	return nil
}

// partMark stands in the key of a part of an item between the key of the item and
// the index of the part among its results.
const partMark = "#results/"

// find finds what is stored of an item.
func (c *comparison) find(after *session.Session, i int) (step, error) {
	it, row := &after.Items[i], after.ItemRef(i).Row()
	if it.Table == "" {
		return step{is: it, part: -1}, nil
	}
	if was := c.storedIn(after, row); was != nil {
		return step{was: was, is: it, part: -1}, nil
	}
	if at := strings.LastIndex(row, partMark); at >= 0 {
		nth, err := strconv.Atoi(row[at+len(partMark):])
		if was := c.storedIn(after, row[:at]); was != nil && err == nil && nth < len(was.Results) {
			return step{was: was, is: it, part: nth}, nil
		}
	}
	return step{}, problem.New(problem.RolledBack, "", "%s is in session %s of the repaired tree and was not in it before", row, after.ID)
}

// storedIn is the event of a row that may be one of the session's; nil if there is none.
func (c *comparison) storedIn(s *session.Session, row string) *stored {
	if was := c.stored[row]; was != nil && (was.session == s.ID || c.layout.OneID) {
		return was
	}
	return nil
}

// difference is what a change makes of one session.
type difference struct {
	*session.Session                // as it is to be
	like             string         // of a session that is new: the one that it is split from
	sets             []session.Edit // of its own record
	was              []stored       // its events before
	steps            []step         // what becomes of its events, in their order
	removed          []*session.Item
	// parted: an event went to another session, or a run came or went.
	parted bool
	// adopted: it has another parent than before.
	adopted bool
	// fresh is the index in steps of the first event that has to get a new number,
	// where the store numbers them; the number of steps when none does.
	fresh int
}

// stored is an event of the tree before, and what becomes of it.
type stored struct {
	*session.Item
	session string
	at      int   // its index in the session
	stays   bool  // it is an event afterwards,
	moves   bool  // and one of another session
	parts   []int // those of its results that are events of their own
}

// step is what becomes of one event that is there afterwards.
type step struct {
	was   *stored // that which it is, or of which it was a part; nil when it is new
	is    *session.Item
	part  int   // the index among the results of was, -1 for what is no part
	taken []int // the results of was that it has no longer, in ascending order
	sets  []session.Edit
	edits bool // something of it differs
}

// stays reports whether the event is stored already.
func (s *step) stays() bool { return s.was != nil && s.part < 0 }

// moves reports whether the event is stored in another session.
func (s *step) moves() bool { return s.stays() && s.was.moves }

// complete sets what is known when all sessions have their steps, and reports whether
// the session differs.
func (d *difference) complete(c *comparison) (differs bool, err error) {
	d.sets = c.sets[d.Ref().Row()]
	for i := range d.steps {
		s := &d.steps[i]
		if !s.stays() {
			continue
		}
		if s.taken, err = taken(s.was.Item, s.is, s.was.parts); err != nil {
			return false, err
		}
		s.sets = c.sets[d.ItemRef(i).Row()]
		s.edits = s.moves() || len(s.taken) > 0 || differ(*s.was.Item, *s.is, c.numbers())
		differs = differs || s.edits || len(s.sets) > 0
	}
	for i := range d.was {
		switch was := &d.was[i]; {
		case !was.stays:
			d.removed = append(d.removed, was.Item)
		case was.moves:
			d.parted = true
		}
	}
	return differs || d.like != "" || d.parted || d.adopted || len(d.sets)+len(d.removed) > 0 || d.fresh < len(d.steps), nil
}

// differ reports whether anything of an item that stays differs.
func differ(was, is session.Item, numbers bool) bool {
	if numbers {
		was.Position = is.Position
	}
	return !reflect.DeepEqual(was, is)
}

// taken are the results that an item has no longer: those that are parts of their
// own, and those that left for the receipt. What is left keeps its order, and may
// answer to another id.
func taken(was, is *session.Item, parts []int) ([]int, error) {
	alike := func(a, b *session.Result) bool {
		return a.Digest == b.Digest && a.Name == b.Name && a.IsError == b.IsError
	}
	for _, same := range []func(a, b *session.Result) bool{
		func(a, b *session.Result) bool { return alike(a, b) && a.CallID == b.CallID }, alike,
	} {
		var gone []int
		next := 0
		for n := range was.Results {
			if !slices.Contains(parts, n) && next < len(is.Results) && same(&was.Results[n], &is.Results[next]) {
				next++
				continue
			}
			gone = append(gone, n)
		}
		if next == len(is.Results) {
			return gone, nil
		}
	}
	return nil, problem.New(problem.RolledBack, "", "%s/%s has results in the repaired tree that it did not have before", was.Table, was.Key)
}

// step composes what becomes of one event.
func (w *writer) step(ctx context.Context, s *script, i int) error {
	step := &s.steps[i]
	if !step.stays() {
		fields, err := w.newRow(ctx, s, i)
		if err == nil {
			err = w.inPlace(rowOf(fields), step.is)
		}
		if err == nil {
			s.inserts = append(s.inserts, w.numbers.give(fields))
		}
		return err
	}
	if !step.edits && step.sets == nil && i < s.fresh {
		return nil
	}
	row, updates, err := w.edits(s, step)
	if err == nil {
		err = w.inPlace(row, step.is)
	}
	if err != nil {
		return err
	}
	if i < s.fresh {
		s.updates = append(s.updates, updates...)
		return nil
	}
	// A number can be the place of the row itself, so the row comes again with its new one.
	s.deletes = append(s.deletes, row.Place)
	s.inserts = append(s.inserts, w.numbers.give(w.fieldsOf(row)))
	return nil
}

// inPlace makes sure that an event is read where it is to be: not every place is a time
// that the form of its neighbours can say.
func (w *writer) inPlace(row Row, it *session.Item) error {
	if w.write.Renumber != nil {
		return nil
	}
	if at, _ := w.layout.Order(row.Place, row); at != it.Position {
		return problem.New(problem.RolledBack, "", "an event cannot get its place: the ones beside it have no times that leave room for it")
	}
	return nil
}

func rowOf(fields []table.Field) Row {
	row := Row{names: make(map[string]int, len(fields)), values: make([]table.Value, len(fields))}
	for i, f := range fields {
		row.names[f.Name], row.values[i] = i, f.Value
	}
	return row
}

// newRow makes the row of a new event.
func (w *writer) newRow(ctx context.Context, s *script, i int) ([]table.Field, error) {
	step := &s.steps[i]
	id, err := w.newID(ctx, s, step.is)
	if err != nil {
		return nil, err
	}
	if step.part >= 0 {
		row, _, err := w.within(s, step.was.Key)
		if err != nil {
			return nil, err
		}
		return w.write.Part(s.Session, step.is, row, step.part, id)
	}
	beside := s.neighbour(i)
	if beside == nil {
		return w.write.Insert(s.Session, step.is, nil, id)
	}
	row, _, err := w.within(s, beside.Key)
	if err != nil {
		return nil, err
	}
	return w.write.Insert(s.Session, step.is, &row, id)
}

// within is the row of an event with the key of the session that it goes to, and what
// of it that changes.
func (w *writer) within(s *script, key string) (Row, []table.FieldChange, error) {
	row := s.rows[key]
	var fields []table.FieldChange
	for i, column := range w.events.Key {
		if old := row.Value(column); text(old) != text(s.owner.key[i]) {
			fields = append(fields, table.FieldChange{Name: column, Old: old, New: s.owner.key[i]})
		}
	}
	row, err := w.with(row, fields)
	return row, fields, err
}

// with is a row of an event after a change.
func (w *writer) with(row Row, fields []table.FieldChange) (Row, error) {
	if len(fields) > 0 {
		row.values = slices.Clone(row.values)
	}
	for _, f := range fields {
		if !row.Has(f.Name) {
			return row, problem.New(problem.RolledBack, "", "%s cannot be set: table %s has no such column", f.Name, w.events.Name)
		}
		row.values[row.names[f.Name]] = f.New
	}
	return row, nil
}

// edits are the changes of an event that stays, one after another, and the row
// that comes of them.
func (w *writer) edits(s *script, step *step) (Row, []update, error) {
	row, key, err := w.within(s, step.was.Key)
	if err != nil {
		return row, nil, err
	}
	var updates []update
	if len(key) > 0 {
		updates = append(updates, update{row.Place, key})
	}
	apply := func(fields []table.FieldChange, err error) error {
		if err != nil || len(fields) == 0 {
			return err
		}
		updates = append(updates, update{row.Place, fields})
		row, err = w.with(row, fields)
		return err
	}
	if step.edits {
		if err := apply(w.write.Update(row, step.was.Item, step.is, step.taken)); err != nil {
			return row, nil, err
		}
	}
	if step.sets == nil {
		return row, updates, nil
	}
	if w.write.Set == nil {
		return row, nil, problem.New(problem.RolledBack, "", "%s of an event cannot be set in this store", step.sets[0].Field)
	}
	err = apply(w.write.Set(row, step.sets))
	return row, updates, err
}

// fieldsOf are all values of a row but its numbers.
func (w *writer) fieldsOf(row Row) []table.Field {
	var fields []table.Field
	for _, column := range w.events.Columns {
		if !slices.Contains(w.write.Renumber, column) {
			fields = append(fields, table.Field{Name: column, Value: row.Value(column)})
		}
	}
	return fields
}
