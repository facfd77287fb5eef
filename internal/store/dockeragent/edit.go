package dockeragent

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/sqlite"
	"github.com/sessctl/sessctl/internal/store/table"
)

// editor is a database that is opened for changing.
type editor struct {
	*sqlite.Edit
	schema  schema
	encoder encoder
}

// openEdit opens a database for repair or undo.
func openEdit(ctx context.Context, src *store.Source) (store.Editor, error) {
	path := src.Path
	edit, err := sqlite.OpenEdit(ctx, path)
	if err != nil {
		return nil, err
	}
	sc, _, err := readSchema(ctx, edit.DB())
	if why := sc.explainReadOnly(); err == nil && why != "" {
		err = problem.New(problem.Unreadable, "upgrade sessctl or docker agent, whichever is older; or export the store with `sessctl export` and repair the stream",
			"%s cannot be repaired in place: %s", path, why)
	}
	if err != nil {
		return nil, errors.Join(err, edit.Close())
	}
	return &editor{edit, sc, encoder{sorted: map[string][]byte{}}}, nil
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
	result, err := readSums(ctx, e.DB(), &e.schema, sessions, true)
	return result, e.DB().Explain(err)
}

func (e *editor) Write(ctx context.Context, change *store.Change) error {
	d, err := differenceOf(change, &e.schema)
	if err != nil {
		return err
	}
	w := writer{edit: e.Edit, schema: &e.schema, encoder: &e.encoder, change: change, difference: d}
	return e.DB().Explain(w.writeChange(ctx))
}

func (e *editor) Revert(ctx context.Context, journal []byte) error {
	return e.Edit.Revert(ctx, journal, tableSessions, tableItems)
}

// tie is a reason to leave a row of the item table in its session.
type tie struct {
	where string // the condition, of a row i
	why   string // what such a row has
	moves bool   // it may leave the store: all of it goes to the receipt then
}

// tiedStore is a store with columns or tables beside the known ones that can say something
// of an item. A row that moves keeps its values, and one that leaves is missed where
// something refers to it.
type tiedStore struct{ *agentStore }

// Rehearse implements store.Rehearser.
func (st tiedStore) Rehearse(ctx context.Context, change *store.Change) error {
	d, err := differenceOf(change, &st.schema)
	if err != nil {
		return err
	}
	refused := store.Unwritable{}
	for _, t := range st.schema.ties {
		rows := slices.Clone(d.moved)
		if !t.moves {
			for row := range d.removed {
				rows = append(rows, row)
			}
		}
		list, _ := json.Marshal(rows) // never fails on numbers
		rowid := st.schema.rowid[tableItems]
		some := "select count({scan}(i." + rowid + ")) from session_items i where i." + rowid + amongIDs + " and (" + t.where + ")"
		err := st.db.Scan(ctx, some, func(row []driver.Value) error {
			n, _ := row[0].(int64)
			refused[rowKey(n)] = fmt.Errorf("row %d of session_items %s", n, t.why)
			return nil
		}, string(list))
		if err != nil {
			return st.db.Explain(err)
		}
	}
	if len(refused) > 0 {
		return refused
	}
	return nil
}

// childColumns are the columns of a sub-session beyond what names it, in the
// order of the schema, with the value that docker agent gives them. Where a
// value comes from the parent, the one here stands in for NULL and for what no
// runtime can read. Columns that are not among them get the schema's default.
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
		row, err := w.buildChildRow(ctx, s)
		if err != nil {
			return err
		}
		if _, err := w.edit.Insert(ctx, tableSessions, row); err != nil {
			return err
		}
	}
	return nil
}

// buildChildRow builds the row of a new session, as docker agent would have written it
// below its parent.
func (w *writer) buildChildRow(ctx context.Context, s *session.Session) ([]table.Field, error) {
	columns := []string{"created_at"}
	for _, c := range childColumns {
		if w.schema.has(tableSessions, c.name) {
			columns = append(columns, c.name)
		}
	}
	parent := map[string]any{}
	err := scanRows(ctx, w.edit.DB(), w.schema, tableSessions, "id", columns, idList{s.Parent}.queryParameter(),
		func(_ int64, values []driver.Value) error {
			for i, c := range columns {
				parent[c] = table.CloneValue(values[i])
				if becomes := w.sessions[s.Parent][c]; becomes != nil { // the row is changed later
					parent[c], _ = becomes(values[i])
				}
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	if len(parent) == 0 {
		return nil, problem.New(problem.RolledBack, "", "session %s cannot be created: its parent %s has no row in the store", s.ID, idText(s.Parent))
	}
	var created any = formatTime(s.Created)
	if created == "" {
		created = parent["created_at"]
	}
	row := []table.Field{{Name: "id", Value: s.ID}, {Name: "parent_id", Value: s.Parent}, {Name: "title", Value: s.Title}, {Name: "created_at", Value: created}}
	for _, c := range childColumns {
		value, exists := parent[c.name]
		if !exists {
			continue
		}
		if !c.fromParent || value == nil || !isReadable(c.name, value) {
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
			row = append(row, table.Field{Name: "item_type", Value: "subsession"}, table.Field{Name: "subsession_id", Value: p.item.Child()})
		} else {
			data, err := composeMessage(p.item)
			if err != nil {
				return err
			}
			implicit := int64(0)
			if p.item.Flags.Has(session.Implicit) {
				implicit = 1
			}
			row = append(row, table.Field{Name: "item_type", Value: "message"}, table.Field{Name: "agent_name", Value: p.item.Agent()},
				table.Field{Name: "message_json", Value: string(data)}, table.Field{Name: "implicit", Value: implicit})
		}
		if _, err := w.edit.Insert(ctx, tableItems, row); err != nil {
			return err
		}
	}
	return nil
}

// setColumns notes columns that get values of their own.
func (r rowEdit) setColumns(sets []session.Edit, sc *schema) error {
	for _, e := range sets {
		if e.Ref.Table == tableColumn {
			return columnOnlyError(e.Ref.Session)
		}
		if e.Op != session.Set || !sc.has(e.Ref.Table, e.Field) {
			return noColumnError(e.Ref.Table, e.Field, sc)
		}
		value, err := parseColumnValue(e.Ref.Table, e.Field, e.Value)
		if err != nil {
			return err
		}
		r[e.Field] = replaceKnown(value, func(driver.Value) bool { return true })
	}
	return nil
}

// parseColumnValue parses a value as the column holds it; nil for NULL.
func parseColumnValue(table, column string, text *string) (any, error) {
	if text == nil {
		return nil, nil
	}
	var value any
	var err error
	switch columnsOf(table)[column] {
	case "INTEGER", "BOOLEAN":
		value, err = strconv.ParseInt(*text, 10, 64)
	case "REAL":
		value, err = strconv.ParseFloat(*text, 64)
	default:
		return *text, nil
	}
	if err != nil {
		return nil, problem.New(problem.RolledBack, "", "%s cannot be set to %s: it holds numbers", column, idText(*text))
	}
	return value, nil
}
