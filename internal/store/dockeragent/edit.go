package dockeragent

import (
	"context"
	"errors"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/sqlite"
	"github.com/sessctl/sessctl/internal/store/table"
)

// editor is a database that is opened for changing.
type editor struct {
	*sqlite.Edit
	schema schema
}

// openEdit opens a database for repair or undo.
func openEdit(ctx context.Context, src *store.Source) (store.Editor, error) {
	path := src.Path
	edit, err := sqlite.OpenEdit(ctx, path)
	if err != nil {
		return nil, err
	}
	sc, _, err := readSchema(ctx, edit.DB())
	if why := sc.readOnly(); err == nil && why != "" {
		err = problem.New(problem.Unreadable, "upgrade what is older, sessctl or the store; or repair what `sessctl export` writes of it",
			"%s cannot be repaired in place: %s", path, why)
	}
	if err != nil {
		return nil, errors.Join(err, edit.Close())
	}
	return &editor{edit, sc}, nil
}

func (e *editor) Read(ctx context.Context, sessions []string) (store.Store, error) {
	db := e.DB()
	st, err := readSubset(ctx, db, db.File.Path, db.File.Size, sessions)
	if err != nil {
		return nil, db.Explain(err)
	}
	return st, nil
}

func (e *editor) Sums(ctx context.Context, sessions []string) (map[string]store.Sum, error) {
	result, err := sums(ctx, e.DB(), &e.schema, sessions, true)
	return result, e.DB().Explain(err)
}

func (e *editor) Write(ctx context.Context, change *store.Change) error {
	d, err := compare(change, &e.schema)
	if err != nil {
		return err
	}
	w := writer{edit: e.Edit, schema: &e.schema, change: change, difference: d}
	return e.DB().Explain(w.write(ctx))
}

// Without an index of it, every session that is deleted costs a look at each
// item whose reference might have to become NULL.
const (
	referenceIndex   = "sessctl_subsession_id"
	createReferences = "create index " + referenceIndex + " on session_items(subsession_id) where subsession_id is not null"
	dropReferences   = "drop index " + referenceIndex
	fewCreated       = 4 // as many are deleted faster without the index
)

func (e *editor) Revert(ctx context.Context, journal []byte) error {
	changes, err := table.DecodeChanges(journal)
	if err == nil {
		err = sqlite.Within(changes, tableSessions, tableItems)
	}
	if err != nil {
		return err
	}
	created := 0
	for _, c := range changes {
		if c.Table == tableSessions && c.Before == nil {
			created++
		}
	}
	if created <= fewCreated {
		return e.RevertChanges(ctx, changes)
	}
	if err := e.Unbind(ctx); err != nil {
		return err
	}
	if err := e.run(ctx, createReferences); err != nil {
		return err
	}
	if err := e.RevertChanges(ctx, changes); err != nil {
		return err
	}
	return e.run(ctx, dropReferences)
}

// run runs a statement that changes the schema.
func (e *editor) run(ctx context.Context, statement string) error {
	rows, err := e.DB().Query(ctx, statement)
	if err != nil {
		return e.DB().Explain(err)
	}
	return e.DB().Explain(errors.Join(rows.Err(), rows.Close()))
}
