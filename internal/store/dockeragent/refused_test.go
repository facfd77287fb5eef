package dockeragent_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// A change that was planned for other rows, or that the store cannot hold, is
// refused.
func TestRefusedChanges(t *testing.T) {
	text := func(s string) *string { return &s }
	tests := []struct {
		name       string
		generation int
		sql        string
		change     func(c *store.Change)
		want       string
	}{
		{"row moved meanwhile", 29, "update session_items set position = 40 where position = 2", nil, "row 3 of session_items changed after the repair was planned"},
		{"row gone meanwhile", 29, "delete from session_items where id = 3", nil, "row 3 of session_items changed after the repair was planned"},
		{"number changed meanwhile", 29, `update sessions set instruction_context = '{"updates":[{"position":2}]}' where id = 'P'`, nil, "of sessions changed after the repair was planned"},
		{"session vanished", 29, "", func(c *store.Change) { c.After.Sessions = c.After.Sessions[1:] }, "which deletes none"},
		{"no such column", 18, "", func(c *store.Change) {
			c.Sets = []session.Edit{{Op: session.Set, Ref: session.Ref{Table: "sessions", Key: "P"}, Field: "origin", Value: text("run")}}
		}, "table sessions of schema generation 018 has no such column"},
		{"no such record", 18, "", func(c *store.Change) {
			c.Sets = []session.Edit{{Op: session.Set, Ref: session.Ref{Table: "sessions", Key: "X"}, Field: "title", Value: text("t")}}
		}, "record sessions/X"},
		{"no number", 18, "", func(c *store.Change) {
			c.Sets = []session.Edit{{Op: session.Set, Ref: session.Ref{Table: "session_items", Key: "2"}, Field: "implicit", Value: text("yes")}}
		}, "it holds numbers"},
		{"no kept tail", 20, "", func(c *store.Change) {
			c.After.Sessions[0].Items[6].Own().KeptFrom = 3
		}, "first_kept_entry cannot be set"},
		{"new answer", 29, "", func(c *store.Change) {
			c.After.Sessions[0].Items[5].Role = session.Assistant
		}, "cannot add an item"},
		{"items in the column only", 18, "delete from session_items", nil, "messages are only in the old messages column"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := built(t, tt.generation, writeFailed)
			before := treeOf(t, path)
			change := &store.Change{Before: before, After: repaired(before)}
			if tt.change != nil {
				tt.change(change)
			}
			if tt.sql != "" {
				db := openSQL(t, path)
				if _, err := db.Exec(tt.sql); err != nil {
					t.Fatal(err)
				}
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if strings.HasPrefix(tt.sql, "delete from session_items") && !strings.Contains(tt.sql, "where") {
				change.Before = treeOf(t, path)
				change.After = repaired(change.Before)
			}
			was := storetest.Dump(t, path)
			e := begin(t, path)
			err := e.Write(t.Context(), change)
			if err == nil || !strings.Contains(err.Error(), tt.want) || problem.ClassOf(err) != problem.RolledBack {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(was, storetest.Dump(t, path)); diff != "" {
				t.Errorf("something was written:\n%s", diff)
			}
		})
	}
}

// Generations that are never written say why, when they are read and when they
// are to be repaired.
func TestReadOnlyGenerations(t *testing.T) {
	for generation := range agenttest.Latest + 1 {
		path := built(t, generation, func(*agenttest.DB) {})
		o, err := registry.Open(t.Context(), path, "", nil, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		why := o.Facts().ReadOnly
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		e, err := dockeragent.Kind.Edit(t.Context(), storetest.Source(path))
		if editable := generation >= 14; editable != (why == "") || editable != (err == nil) {
			t.Errorf("generation %d: read only %q, edit %v", generation, why, err)
		}
		if err == nil {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			continue
		}
		if problem.ClassOf(err) != problem.Unreadable || !strings.Contains(err.Error(), why) {
			t.Errorf("generation %d: %v", generation, err)
		}
	}
}
