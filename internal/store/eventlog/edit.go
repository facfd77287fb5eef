package eventlog

import (
	"context"
	"errors"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/table"
)

// editor is a database that is opened for changing.
type editor struct {
	table.Editor
	facts  session.Store
	layout *Layout
	known  *logStore // what the transaction that is open read last: where its events are
}

// Edit opens a database for repair or undo.
func Edit(ctx context.Context, src *store.Source, reread Reread) (store.Editor, error) {
	edit, err := src.Edit(ctx)
	if err != nil {
		return nil, err
	}
	facts, layout, err := reread(ctx, edit.Reader())
	if why := facts.ReadOnly; err == nil && why != "" {
		err = problem.New(problem.Unreadable, "Repair what `sessctl export` writes of it.", "%s cannot be repaired in place: %s", src.Path, why)
	}
	if err == nil {
		err = errors.Join(edit.Derived(ctx, layout.Sessions.Name, layout.Sessions.Derived...), edit.Derived(ctx, layout.Events.Name, layout.Events.Derived...))
	}
	if err != nil {
		return nil, errors.Join(edit.Reader().Explain(err), edit.Close())
	}
	return &editor{Editor: edit, facts: facts, layout: layout}, nil
}

func (e *editor) Read(ctx context.Context, sessions []string) (store.Store, error) {
	st, err := Open{DB: e.Reader(), Facts: e.facts, Layout: e.layout, Sessions: append([]string{}, sessions...)}.read(ctx)
	if err != nil {
		return nil, e.Reader().Explain(err)
	}
	e.known = st
	return st, nil
}

func (e *editor) Sums(ctx context.Context, sessions []string) (map[string]store.Sum, error) {
	c, err := newCatalog(ctx, e.Reader(), e.layout)
	if err != nil {
		return nil, e.Reader().Explain(err)
	}
	sums, err := c.sums(ctx, sessions, c.eventsOf)
	return sums, e.Reader().Explain(err)
}

func (e *editor) Write(ctx context.Context, c *store.Change) error {
	all, err := compare(c, e.layout)
	if err != nil {
		return err
	}
	w := writer{edit: e.Editor, write: &e.layout.Write, change: c, created: map[string]*owner{}}
	if st := e.known; st != nil && st.knows(c.Before) {
		w.catalog, w.stored = st.catalog, st.knownEvents
	} else {
		if w.catalog, err = newCatalog(ctx, e.Reader(), e.layout); err != nil {
			return e.Reader().Explain(err)
		}
		w.stored = w.eventsOf
	}
	return e.Reader().Explain(w.all(ctx, all))
}

func (e *editor) Revert(ctx context.Context, journal []byte) error {
	l := e.layout
	return e.Editor.Revert(ctx, journal, append([]string{l.Sessions.Name, l.Events.Name}, l.Write.Others...)...)
}
