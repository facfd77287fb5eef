package agenttest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// columnChanges lists what each migration does to the columns: "+table.column"
// or "-table.column". It is written down a second time on purpose.
var columnChanges = map[int]string{
	0: "+sessions.id +sessions.messages +sessions.created_at",
	1: "+sessions.tools_approved", 2: "+sessions.input_tokens", 3: "+sessions.output_tokens", 4: "+sessions.title",
	5: "+sessions.cost", 6: "+sessions.send_user_message", 7: "+sessions.max_iterations", 8: "+sessions.working_dir",
	9: "+sessions.starred", 10: "+sessions.permissions", 11: "+sessions.agent_model_overrides",
	12: "+sessions.custom_models_used", 13: "+sessions.thinking",
	14: "+sessions.parent_id +session_items.id +session_items.session_id +session_items.position +session_items.item_type " +
		"+session_items.agent_name +session_items.message_json +session_items.implicit +session_items.subsession_id +session_items.summary_text",
	16: "+sessions.branch_parent_session_id +sessions.branch_parent_position +sessions.branch_created_at",
	17: "+sessions.split_diff_view",
	19: "-sessions.branch_parent_session_id -sessions.branch_parent_position -sessions.branch_created_at -sessions.split_diff_view",
	20: "-sessions.messages", 21: "+session_items.first_kept_entry", 22: "+sessions.instruction_context",
	23: "+session_items.cost", 24: "+sessions.safety_policy", 25: "+session_items.model +session_items.usage_json",
	26: "+sessions.attributes", 27: "+sessions.origin",
}

func TestSchemaOfEveryGeneration(t *testing.T) {
	var want []string
	for generation := range Latest + 1 {
		for _, change := range strings.Fields(columnChanges[generation]) {
			if change[0] == '+' {
				want = append(want, change[1:])
			} else {
				want = slices.DeleteFunc(want, func(c string) bool { return c == change[1:] })
			}
		}
		db := create(t, generation)
		root := db.Root(SessionRow{Title: "t", ToolsApproved: true})
		root.User("hello")
		closed(t, db)
		file := reopen(t, db.Path)
		got := strings.Fields(query(t, file, `SELECT m.name || '.' || c.name FROM sqlite_master m, pragma_table_info(m.name) c
			WHERE m.name IN ('sessions', 'session_items') ORDER BY m.rowid, c.cid`))
		for i := range got {
			got[i] = strings.TrimSuffix(got[i], "|")
		}
		slices.Sort(got)
		sorted := slices.Sorted(slices.Values(want))
		if !slices.Equal(got, sorted) {
			t.Errorf("generation %d: columns %v, want %v", generation, got, sorted)
		}
		recorded := query(t, file, "SELECT COUNT(*), COALESCE(MAX(id), 0), COALESCE(MIN(applied_at), '') FROM migrations")
		applied := "2026-02-14T09:00:00+01:00"
		if generation == 0 {
			applied = ""
		}
		if want := fmt.Sprintf("%d|%d|%s|\n", generation, generation, applied); recorded != want {
			t.Errorf("generation %d: migrations %s, want %s", generation, recorded, want)
		}
	}
}

func TestIndexes(t *testing.T) {
	tests := map[int]string{
		13: "",
		14: "idx_session_items_session|\nidx_sessions_parent_id|\n",
		16: "idx_session_items_session|\nidx_sessions_branch_parent|\nidx_sessions_parent_id|\n",
		18: "idx_session_items_session|\nidx_session_items_session_type|\nidx_sessions_branch_parent|\nidx_sessions_parent_id|\n",
		29: "idx_session_items_session|\nidx_session_items_session_type|\nidx_sessions_parent_id|\n",
	}
	for generation, want := range tests {
		db := create(t, generation)
		if got := query(t, db.SQL, "SELECT name FROM sqlite_master WHERE type = 'index' AND name LIKE 'idx%' ORDER BY name"); got != want {
			t.Errorf("generation %d: %s, want %s", generation, got, want)
		}
		closed(t, db)
	}
}

func TestOptions(t *testing.T) {
	zone := time.FixedZone("", -5*3600)
	db := create(t, 18, RollbackJournal(), StartAt(time.Date(2025, 9, 1, 8, 0, 0, 0, zone)), StepBy(time.Minute), Seed(9))
	root := db.Root(SessionRow{})
	root.User("one")
	db.Wait(time.Hour)
	root.User("two")
	got := query(t, db.SQL, "PRAGMA journal_mode") + query(t, db.SQL, "PRAGMA foreign_keys") +
		query(t, db.SQL, "SELECT message_json->>'created_at' FROM session_items ORDER BY id")
	if want := "delete|\n1|\n2025-09-01T08:00:00-05:00|\n2025-09-01T09:01:00-05:00|\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if other := create(t, 18).Root(SessionRow{}); other.ID == root.ID {
		t.Error("another seed drew the same id")
	}
	closed(t, db)
}

func TestCreateRefuses(t *testing.T) {
	taken := filepath.Join(t.TempDir(), "taken.db")
	if err := os.WriteFile(taken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, path, want string
		generation       int
	}{
		{"a file that exists", taken, "exists already", 18},
		{"a generation nobody knows", filepath.Join(t.TempDir(), "x.db"), "between 0 and 30", 31},
		{"a folder that does not exist", filepath.Join(t.TempDir(), "none", "x.db"), "unable to open database file", 18},
	}
	for _, tt := range tests {
		if _, err := Create(tt.path, tt.generation); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		}
	}
}

// TestFirstErrorStays: later calls do nothing, and Close says what was wrong.
func TestFirstErrorStays(t *testing.T) {
	db := create(t, 18)
	root := db.Root(SessionRow{})
	db.Root(SessionRow{ID: root.ID})
	root.User("never stored")
	if err := db.Close(); err == nil || !strings.Contains(err.Error(), "UNIQUE constraint failed: sessions.id") {
		t.Errorf("error %v", err)
	}
	if got := query(t, reopen(t, db.Path), "SELECT COUNT(*) FROM session_items"); got != "0|\n" {
		t.Errorf("items %s", got)
	}
}
