package adk

import (
	"context"
	"strconv"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// openEdit opens the database at path for repair or undo.
func openEdit(ctx context.Context, src *store.Source) (store.Editor, error) {
	return eventlog.Edit(ctx, src, reread)
}

// writes are how rows change. They are the same for all generations: a row tells by
// its columns and by what is in them what form it has.
var writes = eventlog.Write{Insert: insert, Part: part, Update: update, Session: setSession, Set: setColumns}

// setSession changes the row of a session. A table may have event_sequence, by which a
// writer that read the session before sees that others wrote since (google/adk-python#4752).
func setSession(row eventlog.Row, sets []session.Edit) ([]table.FieldChange, error) {
	list, err := setColumns(row, sets)
	if n, counts := row.Value("event_sequence").(int64); counts {
		list = append(list, table.FieldChange{Name: "event_sequence", Old: n, New: n + 1})
	}
	return list, err
}

// setColumns gives columns of a row a value that the model does not hold. A column
// keeps its type: times are numbers in one generation and texts in the others.
func setColumns(row eventlog.Row, sets []session.Edit) ([]table.FieldChange, error) {
	r := revise(row)
	for _, e := range sets {
		if e.Op != session.Set || !row.Has(e.Field) {
			return nil, problem.New(problem.RolledBack, "", "%s cannot be set: table %s of this store has no such column", e.Field, e.Ref.Table)
		}
		value, err := typed(row.Value(e.Field), e)
		if err != nil {
			return nil, err
		}
		r.Set(e.Field, value)
	}
	return r.Changes(), nil
}

func typed(stored any, e session.Edit) (any, error) {
	if e.Value == nil {
		return nil, nil
	}
	switch stored.(type) {
	case []byte:
		return []byte(*e.Value), nil
	case int64:
		if value, err := strconv.ParseInt(*e.Value, 10, 64); err == nil {
			return value, nil
		}
		return nil, problem.New(problem.RolledBack, "", "%s cannot be set: it holds whole numbers", e.Field)
	case float64:
		value, err := strconv.ParseFloat(*e.Value, 64)
		if err != nil {
			return nil, problem.New(problem.RolledBack, "", "%s cannot be set: it holds numbers", e.Field)
		}
		return value, nil
	}
	return *e.Value, nil
}
