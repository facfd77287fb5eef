package eventlog

import (
	"context"
	"slices"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// own changes the session's own row.
func (w *writer) own(ctx context.Context, s *script) error {
	if w.write.Session == nil && len(s.sets) > 0 {
		return problem.New(problem.RolledBack, "", "%s of session %s cannot be set in this store", s.sets[0].Field, s.ID)
	}
	if w.write.Session == nil && !s.adopted {
		return nil
	}
	row, err := w.ownRow(ctx, s.owner)
	if err != nil {
		return err
	}
	var fields []table.FieldChange
	if w.write.Session != nil {
		if fields, err = w.write.Session(row, s.sets); err != nil {
			return err
		}
	}
	if column := w.sessions.Parent; s.adopted {
		fields = append(fields, table.FieldChange{Name: column, Old: row.Value(column), New: w.parentOf(s.Session)})
	}
	if len(fields) == 0 {
		return nil
	}
	return w.edit.Update(ctx, w.sessions.Name, row.Place, fields)
}

// parentOf is what the row of a session says of its parent.
func (w *writer) parentOf(s *session.Session) any {
	switch o := w.ownerOf(s.Parent); {
	case s.Parent == "":
		return nil
	case o != nil:
		return o.key[len(o.key)-1]
	}
	return s.Parent // is created with it
}

// create adds the row of a session that is split from another one.
func (w *writer) create(ctx context.Context, d *difference) error {
	if w.ids == nil {
		w.ids = make(map[string]bool, len(w.list))
		for i := range w.list {
			w.ids[names[0](&w.list[i])] = true
		}
	}
	if w.ownerOf(d.ID) != nil || w.ids[d.ID] {
		return problem.New(problem.RolledBack, "", "session %s cannot be created: the store has one with that id", d.ID)
	}
	like, err := w.ownRow(ctx, w.ownerOf(d.like))
	if err != nil {
		return err
	}
	fields, err := w.write.Create(d.Session, like)
	if err != nil {
		return err
	}
	if column := w.sessions.Parent; column != "" {
		fields = append(fields, table.Field{Name: column, Value: w.parentOf(d.Session)})
	}
	o := &owner{name: d.ID}
	for _, column := range w.sessions.Key {
		at := slices.IndexFunc(fields, func(f table.Field) bool { return f.Name == column })
		if at < 0 {
			return problem.New(problem.RolledBack, "", "session %s cannot be created without %s", d.ID, column)
		}
		o.key = append(o.key, fields[at].Value)
	}
	if o.row, err = w.edit.Insert(ctx, w.sessions.Name, fields); err == nil {
		w.created[d.ID] = o
	}
	return err
}

// ownRow reads the row of a session.
func (w *writer) ownRow(ctx context.Context, o *owner) (Row, error) {
	var stored *Row
	_, err := w.sessions.rows(ctx, w.sessions.Columns, []table.Place{o.row}, func(_ int, row Row) error {
		kept := row.kept()
		stored = &kept
		return nil
	})
	if err != nil {
		return Row{}, err
	}
	if stored == nil {
		return Row{}, stale(w.sessions.Name, o.name)
	}
	return *stored, nil
}
