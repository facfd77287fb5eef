package eventlog

import (
	"context"
	"errors"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// editor is a database that is opened for changing.
type editor struct {
	*sqlite.Edit
	facts  session.Store
	layout *Layout
	known  *logStore // what the transaction that is open read last: where its events are
}

// Edit opens the database at path for repair or undo.
func Edit(ctx context.Context, path string, reread Reread) (store.Editor, error) {
	edit, err := sqlite.OpenEdit(ctx, path)
	if err != nil {
		return nil, err
	}
	facts, layout, err := reread(ctx, edit.DB(), path)
	if why := facts.ReadOnly; err == nil && why != "" {
		err = problem.New(problem.Unreadable, "Repair what `sessctl export` writes of it.", "%s cannot be repaired in place: %s", path, why)
	}
	if err != nil {
		return nil, errors.Join(edit.DB().Explain(err), edit.Close())
	}
	return &editor{Edit: edit, facts: facts, layout: layout}, nil
}

func (e *editor) Read(ctx context.Context, sessions []string) (store.Store, error) {
	st, err := Open{DB: e.DB(), Facts: e.facts, Layout: e.layout, Sessions: append([]string{}, sessions...)}.read(ctx)
	if err != nil {
		return nil, e.DB().Explain(err)
	}
	e.known = st
	return st, nil
}

func (e *editor) Sums(ctx context.Context, sessions []string) (map[string]store.Sum, error) {
	c, err := newCatalog(ctx, e.DB(), e.layout)
	if err != nil {
		return nil, e.DB().Explain(err)
	}
	sums, err := c.sums(ctx, sessions, c.eventsOf)
	return sums, e.DB().Explain(err)
}

func (e *editor) Write(ctx context.Context, c *store.Change) error {
	all, err := compare(c, e.layout)
	if err != nil {
		return err
	}
	w := writer{edit: e.Edit, write: &e.layout.Write, change: c, created: map[string]*owner{}}
	if st := e.known; st != nil && st.knows(c.Before) {
		w.catalog, w.stored = st.catalog, st.knownEvents
	} else {
		if w.catalog, err = newCatalog(ctx, e.DB(), e.layout); err != nil {
			return e.DB().Explain(err)
		}
		w.stored = w.eventsOf
	}
	return e.DB().Explain(w.all(ctx, all))
}

func (e *editor) Revert(ctx context.Context, journal []byte) error {
	changes, err := sqlite.DecodeChanges(journal)
	if err == nil {
		l := e.layout
		err = sqlite.Within(changes, append([]string{l.Sessions.Name, l.Events.Name}, l.Write.Others...)...)
	}
	if err != nil {
		return err
	}
	return e.Edit.Revert(ctx, changes)
}
