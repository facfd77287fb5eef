package eventlog

import (
	"context"
	"slices"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/table"
)

// difference is what a change makes of one session.
type difference struct {
	*change.Session
	// parted: an event went to another session, or a run came or went.
	parted bool
	// adopted: it has another parent than before.
	adopted bool
	// anew are the events that have to get a new number, or a new row, where the store
	// numbers them, or orders them by when they were stored; none elsewhere.
	anew []bool
}

// findDifferences finds the sessions that a change changes, those that are new last, and what
// becomes of every session.
func findDifferences(c *store.Change, layout *Layout) ([]*difference, []*change.Session, error) {
	for _, e := range c.Sets {
		if e.Op != session.Set {
			return nil, nil, problem.New(problem.RolledBack, "", "a store of this kind cannot make the change %q of %s", e.Op, e.Ref.Row())
		}
	}
	sessions, err := change.CompareSessions(c)
	if err != nil {
		return nil, nil, err
	}
	var differing []*difference
	for _, s := range sessions {
		d := &difference{Session: s, anew: make([]bool, len(s.Items))}
		if err := d.checkAllowed(c, layout); err != nil {
			return nil, nil, err
		}
		if d.markDifferences(&layout.Write) {
			differing = append(differing, d)
		}
	}
	return differing, sessions, nil
}

// checkAllowed refuses what a store of this layout has no place for.
func (d *difference) checkAllowed(c *store.Change, layout *Layout) error {
	refuse := func(text string, args ...any) error { return problem.New(problem.RolledBack, "", text, args...) }
	if d.Was == nil {
		if layout.Write.Create == nil || c.Before.Session(d.Like) == nil {
			return refuse("the repair adds session %s, and a store of this kind cannot add a session like that", d.Is.ID)
		}
	} else {
		d.parted = d.Left || !slices.Equal(d.Was.Runs, d.Is.Runs)
		d.adopted = d.Was.Parent != d.Is.Parent
		if !slices.Equal(d.Was.Runs, d.Is.Runs) && layout.Write.OtherTables == nil {
			return refuse("the repair changes the runs of session %s, and this store has none", d.Is.ID)
		}
		if d.adopted && layout.Sessions.Parent == "" {
			return refuse("the repair changes the parent of session %s, and this store has none", d.Is.ID)
		}
	}
	if layout.OneID {
		return nil
	}
	for i := range d.Items {
		if it := &d.Items[i]; it.Was != nil && it.From != d.Is.ID {
			return refuse("%s is in session %s of the repaired tree and was not in it before", d.Is.ItemRef(i).Row(), d.Is.ID)
		}
	}
	return nil
}

// markDifferences reports whether anything of the session does. Where events are numbered,
// positions are only an order.
func (d *difference) markDifferences(write *Write) bool {
	differs, last := false, -1
	for i := range d.Items {
		it := &d.Items[i]
		if write.Renumber != nil && write.Tied == nil || write.Renumber == nil && it.Was != nil && write.isTied(it.Was.Position, it.Is.Position) {
			it.Values = slices.DeleteFunc(it.Values, func(v change.Value) bool { return v.Field == session.FieldPosition })
		}
		at := -1
		if it.Stays() {
			at = it.At
			differs = differs || it.Differs()
		}
		stands := it.Stays() && !it.Moves
		differs = differs || !stands || at < last
		switch {
		case write.Renumber == nil:
		case write.Tied == nil:
			d.anew[i] = !stands || at < last || i > 0 && d.anew[i-1]
		default:
			tied := i > 0 && write.Tied(d.Items[i-1].Is.Position, it.Is.Position)
			d.anew[i] = !it.Stays() || !write.Tied(it.Was.Position, it.Is.Position) && !write.keepsNumber(it) || tied && (d.anew[i-1] || !write.comesBehind(it, &d.Items[i-1]))
		}
		last = max(last, at)
	}
	return differs || d.Was == nil || d.parted || d.adopted || len(d.Sets)+len(d.Removed) > 0
}

// comesBehind reports whether an event has a higher number than another one, wherever it was.
func (w *Write) comesBehind(it, other *change.Item) bool {
	if at, before := w.numbered(it), w.numbered(other); at != before || it.Moves || other.Moves {
		return at > before
	}
	return it.At > other.At
}

// numbered is the place of an event with the number that it is stored with.
func (w *Write) numbered(it *change.Item) int64 {
	if w.keepsNumber(it) {
		return it.Is.Position
	}
	return it.Was.Position
}

func (w *Write) keepsNumber(it *change.Item) bool {
	return w.SameNumber != nil && w.SameNumber(it.Was.Position, it.Is.Position)
}

func (w *Write) isTied(before, at int64) bool { return w.Tied != nil && w.Tied(before, at) }

// composeEvent composes what becomes of one event.
func (w *writer) composeEvent(ctx context.Context, s *script, i int) error {
	step := &s.Items[i]
	if !step.Stays() {
		fields, err := w.newRow(ctx, s, i)
		if err == nil {
			err = w.inPlace(rowOf(fields), step.Is)
		}
		if err == nil {
			s.inserts = append(s.inserts, w.numbers.appendNumbers(fields))
		}
		return err
	}
	if !step.Differs() && !s.anew[i] {
		return nil
	}
	row, updates, err := w.composeUpdates(s, step)
	if err == nil {
		err = w.inPlace(row, step.Is)
	}
	if err != nil {
		return err
	}
	if !s.anew[i] && (w.sessions.Count == "" || !step.Moves) {
		s.updates = append(s.updates, updates...)
		return nil
	}
	// A number can be the place of the row itself, so the row comes again with its new one.
	s.deletes = append(s.deletes, row.Place)
	fields := w.fieldsOf(row)
	if s.anew[i] {
		fields = w.numbers.appendNumbers(fields)
	} else { // what stands between other rows tells whose those are
		fields = append(fields, table.Field{Name: table.RowPlace, Value: int64(row.Place)})
	}
	s.inserts = append(s.inserts, fields)
	return nil
}

// inPlace makes sure that an event is read where it is to be: not every place is a time
// that the form of its neighbours can say.
func (w *writer) inPlace(row Row, it *session.Item) error {
	if w.write.Renumber != nil {
		return nil
	}
	if at, _ := w.layout.Order(row.Place, row); at != it.Position && !w.write.isTied(at, it.Position) {
		return problem.New(problem.RolledBack, "", "an event cannot be placed: the times of its neighbors leave no room for it")
	}
	return nil
}

func rowOf(fields []table.Field) Row {
	row := Row{names: new(jsonscan.Names[int]), values: make([]table.Value, len(fields))}
	for i, f := range fields {
		row.names.Set(f.Name, i)
		row.values[i] = f.Value
	}
	return row
}

// newRow makes the row of a new event.
func (w *writer) newRow(ctx context.Context, s *script, i int) ([]table.Field, error) {
	step := &s.Items[i]
	near := s.storedNeighbour(i)
	if step.Part >= 0 {
		near = step.Was
	}
	var like *Row
	if near != nil {
		row, _, err := w.rekeyedRow(s, near.Key)
		if err != nil {
			return nil, err
		}
		like = &row
	}
	id, err := w.newID(ctx, s, step.Is, like)
	if err != nil {
		return nil, err
	}
	var fields []table.Field
	if it := step.Is; step.Part >= 0 {
		r := docedit.NewRow(*like)
		if err = w.write.Update(r, step); err == nil {
			fields, err = w.write.Part(s.Is, step, r, id)
		}
	} else if like == nil || it.Kind != session.Message || it.Role != session.Tool || len(it.Results) == 0 || len(it.Results) > 1 && !w.write.Batches {
		err = problem.New(problem.RolledBack, "", "%s %s cannot be added: a repair can add only results to a store of this kind", it.Kind, it.Role)
	} else {
		fields, err = w.write.Insert(s.Is, it, docedit.NewRow(*like), id)
	}
	fields = w.events.existing(fields)
	for i, value := range s.owner.keyValues() {
		fields = append(fields, table.Field{Name: w.events.Key[i], Value: value})
	}
	if given := func(f table.Field) bool { return f.Name == w.events.ID }; !slices.Contains(w.write.Renumber, w.events.ID) && !slices.ContainsFunc(fields, given) {
		fields = append(fields, table.Field{Name: w.events.ID, Value: id})
	}
	return fields, err
}

// rekeyedRow is the row of an event with the key of the session that it goes to, and what
// of it that changes.
func (w *writer) rekeyedRow(s *script, key string) (Row, []table.FieldChange, error) {
	row := s.rows[key]
	var fields []table.FieldChange
	for i, value := range s.owner.keyValues() {
		name := w.events.Key[i]
		if old := row.Value(name); column.View(old) != column.View(value) {
			fields = append(fields, table.FieldChange{Name: name, Old: old, New: value})
		}
	}
	row, err := w.changedRow(row, fields)
	return row, fields, err
}

// changedRow is a row of an event after a change.
func (w *writer) changedRow(row Row, fields []table.FieldChange) (Row, error) {
	if len(fields) > 0 {
		row.values = slices.Clone(row.values)
	}
	for _, f := range fields {
		if !row.HasColumn(f.Name) {
			return row, problem.New(problem.RolledBack, "", "%s cannot be set: table %s has no such column", f.Name, w.events.Name)
		}
		row.values[*jsonscan.FindName(row.names, f.Name)] = f.New
	}
	return row, nil
}

// composeUpdates composes the changes of an event that stays, one after another, and the row
// that comes of them.
func (w *writer) composeUpdates(s *script, step *change.Item) (Row, []update, error) {
	row, key, err := w.rekeyedRow(s, step.Was.Key)
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
		row, err = w.changedRow(row, fields)
		return err
	}
	if step.Moves || step.Scrubbed || step.Shown || len(step.Taken)+len(step.Values) > 0 {
		r := docedit.NewRow(row)
		err := w.write.Update(r, step)
		if err = apply(r.Changes(), err); err != nil {
			return row, nil, err
		}
	}
	r := docedit.NewRow(row)
	err = w.setFields(r, w.events.Table, step.Sets)
	err = apply(r.Changes(), err)
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
