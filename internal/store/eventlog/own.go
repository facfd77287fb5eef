package eventlog

import (
	"context"
	"slices"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// own changes the session's own row.
func (w *writer) own(ctx context.Context, s *script) error {
	if w.write.Session == nil {
		if len(s.sets) == 0 {
			return nil
		}
		return problem.New(problem.RolledBack, "", "%s of session %s cannot be set in this store", s.sets[0].Field, s.ID)
	}
	row, err := w.ownRow(ctx, s.owner)
	if err != nil {
		return err
	}
	fields, err := w.write.Session(row, s.sets)
	if err != nil || len(fields) == 0 {
		return err
	}
	return w.edit.Update(ctx, w.sessions.Name, row.ID, fields)
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
	o := &owner{name: d.ID}
	for _, column := range w.sessions.Key {
		at := slices.IndexFunc(fields, func(f sqlite.Field) bool { return f.Name == column })
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
	_, err := w.sessions.rows(ctx, w.sessions.pick(w.sessions.Columns), []int64{o.row}, func(_ int, row Row) error {
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
