package eventlog

import (
	"context"
	"slices"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

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
