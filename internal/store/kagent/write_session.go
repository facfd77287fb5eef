package kagent

import (
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// createSession makes the row of a session that is split from another one: it is the
// same agent's and the same user's. Its times are those of its events, as the runtime
// would have them, which touches the session with each one (a2).
func createSession(s *session.Session, like eventlog.Row) ([]table.Field, error) {
	row := newRow{like: like}
	for _, column := range []string{"user_id", "deleted_at", "agent_id", "source"} {
		row.set(column, table.Kept(like.Value(column)))
	}
	row.set("id", s.ID)
	row.set("name", s.Title)
	for _, t := range []struct {
		column string
		of     func(items []session.Item) *session.Item
	}{
		{"created_at", func(items []session.Item) *session.Item { return &items[0] }},
		{"updated_at", func(items []session.Item) *session.Item { return &items[len(items)-1] }},
	} {
		value := table.Kept(like.Value(t.column))
		if len(s.Items) > 0 && value != nil {
			at, err := timeLike(value, t.of(s.Items).Position)
			if _, wrong := parseTime(value); err != nil && wrong != "" {
				return nil, err
			}
			if err == nil { // else the event has no time, and the session keeps that of the other one
				value = at
			}
		}
		row.set(t.column, value)
	}
	return row.fields, nil
}

// newRow collects the values of a new row, for the columns that there are.
type newRow struct {
	like   eventlog.Row // of the same table
	fields []table.Field
}

func (r *newRow) set(column string, value any) {
	if r.like.Has(column) {
		r.fields = append(r.fields, table.Field{Name: column, Value: value})
	}
}

// setColumns gives columns of a row a value that the model does not hold. All that a
// plan can set are texts.
func setColumns(row eventlog.Row, sets []session.Edit) ([]table.FieldChange, error) {
	var list []table.FieldChange
	for _, e := range sets {
		if e.Op != session.Set || !row.Has(e.Field) {
			return nil, problem.New(problem.RolledBack, "", "%s cannot be set: table %s of this store has no such column", e.Field, e.Ref.Table)
		}
		var value any
		if e.Value != nil {
			value = *e.Value
		}
		list = append(list, table.FieldChange{Name: e.Field, Old: table.Kept(row.Value(e.Field)), New: value})
	}
	return list, nil
}
