package dockeragent

import (
	"context"
	"database/sql/driver"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// childColumns are the columns of a sub-session beyond what names it, in the
// order of the schema, with the value that docker agent gives them. Where a
// value comes from the parent, the one here stands in for NULL. Columns that
// are not among them get the schema's default.
var childColumns = []struct {
	name       string
	value      any
	fromParent bool
}{
	{"tools_approved", int64(0), true},
	{"input_tokens", int64(0), false},
	{"output_tokens", int64(0), false},
	{"cost", 0.0, false},
	{"send_user_message", int64(0), false},
	{"max_iterations", int64(0), false},
	{"working_dir", "", true},
	{"starred", int64(0), false},
	{"permissions", "", false},
	{"agent_model_overrides", "{}", false},
	{"custom_models_used", "[]", false},
	{"thinking", int64(0), false},
	{"instruction_context", "", false},
	{"safety_policy", "", false},
	{"attributes", "{}", true},
	{"origin", "run", true},
}

// createSessions writes the rows of new sessions.
func (w *writer) createSessions(ctx context.Context) error {
	for _, s := range w.created {
		row, err := w.childRow(ctx, s)
		if err != nil {
			return err
		}
		if _, err := w.edit.Insert(ctx, tableSessions, row); err != nil {
			return err
		}
	}
	return nil
}

// childRow is the row of a new session, as docker agent would have written it
// below its parent.
func (w *writer) childRow(ctx context.Context, s *session.Session) ([]table.Field, error) {
	columns := []string{"created_at"}
	for _, c := range childColumns {
		if w.schema.has(tableSessions, c.name) {
			columns = append(columns, c.name)
		}
	}
	parent := map[string]any{}
	err := scanRows(ctx, w.edit.DB(), w.schema, tableSessions, "id", columns, idList{s.Parent}.parameter(),
		func(_ int64, values []driver.Value) error {
			for i, c := range columns {
				parent[c] = table.Kept(values[i])
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	if len(parent) == 0 {
		return nil, problem.New(problem.RolledBack, "", "session %s cannot be created: its parent %s has no row in the store", s.ID, idText(s.Parent))
	}
	var created any = stamp(s.Created)
	if created == "" {
		created = parent["created_at"]
	}
	row := []table.Field{{Name: "id", Value: s.ID}, {Name: "parent_id", Value: s.Parent}, {Name: "title", Value: s.Title}, {Name: "created_at", Value: created}}
	for _, c := range childColumns {
		value, exists := parent[c.name]
		if !exists {
			continue
		}
		if !c.fromParent || value == nil {
			value = c.value
		}
		row = append(row, table.Field{Name: c.name, Value: value})
	}
	return row, nil
}

// insertItems writes the rows of new items; their other columns get the
// schema's defaults, as docker agent leaves them.
func (w *writer) insertItems(ctx context.Context) error {
	for _, p := range w.inserted {
		row := []table.Field{{Name: "session_id", Value: p.session}, {Name: "position", Value: p.item.Position}}
		if p.item.Kind == session.SubSession {
			row = append(row, table.Field{Name: "item_type", Value: "subsession"}, table.Field{Name: "subsession_id", Value: p.item.Child})
		} else {
			data, err := compose(p.item)
			if err != nil {
				return err
			}
			implicit := int64(0)
			if p.item.Flags.Has(session.Implicit) {
				implicit = 1
			}
			row = append(row, table.Field{Name: "item_type", Value: "message"}, table.Field{Name: "agent_name", Value: p.item.Agent},
				table.Field{Name: "message_json", Value: string(data)}, table.Field{Name: "implicit", Value: implicit})
		}
		if _, err := w.edit.Insert(ctx, tableItems, row); err != nil {
			return err
		}
	}
	return nil
}
