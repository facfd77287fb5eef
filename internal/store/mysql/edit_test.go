//go:build unix

package mysql_test

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/mysql"
	"github.com/sessctl/sessctl/internal/store/table"
)

// edit opens a database for changing, in a transaction.
func edit(t *testing.T, at string) table.Editor {
	t.Helper()
	name, _, err := mysql.RegisterName(at)
	if err != nil {
		t.Fatal(err)
	}
	e, err := mysql.Opener(name)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	if err := e.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e
}

// placeOf is the place of the first row of a table that has a value in a column.
func placeOf(t *testing.T, e table.Editor, name, column, value string) (at table.Place) {
	t.Helper()
	at = -1
	_, err := e.Reader().Scan(t.Context(), table.Selection{Table: name, Columns: []string{column}}, func(place table.Place, row []table.Value) error {
		if row[0] == value && at < 0 {
			at = place
		}
		return nil
	})
	if err != nil || at < 0 {
		t.Fatalf("no %s %s: %v", name, value, err)
	}
	return at
}

// TestARowGetsAnotherKey: its place stays, and an undo finds it.
func TestARowGetsAnotherKey(t *testing.T) {
	at := untied(t, "adk-python-v1")
	before := rowsOf(t, at)
	e, ctx := edit(t, at), t.Context()
	event := placeOf(t, e, "events", "session_id", "orphan")
	for _, to := range [][2]string{{"orphan", "clean"}, {"clean", "tail"}} {
		if err := e.Update(ctx, "events", event, []table.FieldChange{{Name: "session_id", Old: to[0], New: to[1]}}); err != nil {
			t.Fatal(err)
		}
		unread, err := e.Reader().Rows(ctx, "events", []string{"session_id"}, []table.Place{event}, func(_ int, row []table.Value) error {
			if row[0] != to[1] {
				t.Errorf("%v, not %s", row[0], to[1])
			}
			return nil
		})
		if err != nil || unread != nil {
			t.Fatal(err, unread)
		}
	}
	journal, err := e.Journal()
	if err == nil {
		err = e.Commit(ctx)
	}
	if err != nil || rowsOf(t, at) == before {
		t.Fatal(err)
	}
	if err := e.Begin(ctx); err != nil {
		t.Fatal(err)
	}
	if err := e.Revert(ctx, journal, "events"); err != nil {
		t.Fatal(err)
	}
	if err := e.Commit(ctx); err != nil || rowsOf(t, at) != before {
		t.Error(err)
	}
}

// TestWhatNoEditDoes: rows that others lead to stay, and so do rows that are not what they were said
// to be; after any of these errors the transaction can only be rolled back.
func TestWhatNoEditDoes(t *testing.T) {
	at := untied(t, "adk-python-v1")
	execute(t, at, "set foreign_key_checks = 0", "insert into events select 'lost', app_name, user_id, 'gone', invocation_id, timestamp, event_data from events where session_id = 'orphan' limit 1")
	before := rowsOf(t, at)
	for name, do := range map[string]func(e table.Editor) error{
		"a session with events": func(e table.Editor) error {
			return e.Delete(t.Context(), "sessions", placeOf(t, e, "sessions", "id", "orphan"))
		},
		"the key of a session with events": func(e table.Editor) error {
			return e.Update(t.Context(), "sessions", placeOf(t, e, "sessions", "id", "orphan"), []table.FieldChange{{Name: "id", Old: "orphan", New: "other"}})
		},
		"a session that events lack": func(e table.Editor) error {
			_, err := e.Insert(t.Context(), "sessions", []table.Field{
				{Name: "app_name", Value: execute(t, at, "select app_name from events where id = 'lost'")}, {Name: "user_id", Value: execute(t, at, "select user_id from events where id = 'lost'")}, {Name: "id", Value: "gone"}, {Name: "state", Value: "{}"},
				{Name: "create_time", Value: "2026-01-01 00:00:00.000000"}, {Name: "update_time", Value: "2026-01-01 00:00:00.000000"},
			})
			return err
		},
		"an event without a session": func(e table.Editor) error {
			return e.Delete(t.Context(), "events", placeOf(t, e, "events", "session_id", "gone"))
		},
		"the session of an event without one": func(e table.Editor) error {
			return e.Update(t.Context(), "events", placeOf(t, e, "events", "session_id", "gone"), []table.FieldChange{{Name: "session_id", Old: "gone", New: "orphan"}})
		},
		"another value": func(e table.Editor) error {
			return e.Update(t.Context(), "sessions", placeOf(t, e, "sessions", "id", "orphan"), []table.FieldChange{{Name: "state", Old: "[]", New: "{}"}})
		},
		"a row that is gone": func(e table.Editor) error {
			event := placeOf(t, e, "events", "session_id", "orphan")
			if err := e.Delete(t.Context(), "events", event); err != nil {
				t.Fatal(err)
			}
			return e.Delete(t.Context(), "events", event)
		},
		"a key that another row has": func(e table.Editor) error {
			_, err := e.Insert(t.Context(), "app_states", []table.Field{{Name: "app_name", Value: "app"}, {Name: "state", Value: "{}"}, {Name: "update_time", Value: "2026-01-01 00:00:00.000000"}})
			if err == nil {
				_, err = e.Insert(t.Context(), "app_states", []table.Field{{Name: "app_name", Value: "app"}, {Name: "state", Value: "{}"}, {Name: "update_time", Value: "2026-01-01 00:00:00.000000"}})
			}
			return err
		},
		"a time that is none": func(e table.Editor) error {
			_, err := e.Insert(t.Context(), "app_states", []table.Field{{Name: "app_name", Value: "new"}, {Name: "state", Value: "{}"}, {Name: "update_time", Value: "never"}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := edit(t, at)
			if err := do(e); problem.ClassOf(err) != problem.RolledBack || strings.Contains(err.Error(), "Duplicate entry") {
				t.Errorf("%v", err)
			}
			if err := e.Commit(t.Context()); err == nil {
				t.Error("it was committed")
			}
			if rowsOf(t, at) != before {
				t.Fatal("other rows")
			}
		})
	}
}
