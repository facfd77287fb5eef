//go:build unix

package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// An undo would lose what was done with a session since, so it is refused; what
// was done with another session is none of its business.
func TestUndoIsRefusedAfterAnyLaterChange(t *testing.T) {
	campaign.ShowsNoRace(t)
	const (
		touched = "(select id from sessions where parent_id is null or parent_id = '' order by rowid limit 1)"
		session = "insert into sessions(id, title, messages, created_at, parent_id) select "
		item    = "insert into session_items(session_id, position, item_type, message_json) select "
	)
	tests := []struct {
		name, statement string
		code            int
	}{
		{"a changed message", "update session_items set message_json = replace(message_json, 'Done.', 'done.') where session_id = " + touched, 5},
		{"a message of other bytes that says the same", "update session_items set message_json = message_json || ' ' where session_id = " + touched, 5},
		{"a new row", item + touched + ", 99, 'message', '{\"message\":{\"role\":\"user\",\"content\":\"more\"}}'", 5},
		{"a new row of the old kind of place", item + touched + ", -1, 'message', null", 5},
		{"a deleted row", "delete from session_items where id = (select max(id) from session_items where session_id = " + touched + ")", 5},
		{"a moved row", "update session_items set position = position + 50 where id = (select max(id) from session_items where session_id = " + touched + ")", 5},
		{"another agent", "update session_items set agent_name = 'x' where session_id = " + touched, 5},
		{"a changed title", "update sessions set title = title || '!' where id = " + touched, 5},
		{"a new child session", session + "'new-child', 'child', '[]', created_at, id from sessions where id = " + touched, 5},
		{"the old column, which only older releases read", "update sessions set messages = '[]' where id = " + touched, 5},
		{"the place of a branch", "update sessions set branch_parent_position = 7 where id = " + touched, 5},
		{"a deleted session", "delete from sessions where id = " + touched, 5},
		{"another session", session + "'other', 'other', '[]', created_at, null from sessions limit 1", 0},
		{"a row of another session", item + "'other', 0, 'message', null", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home, path := leakyHome(t)
			receipt := repaired(t, home, path)
			alter(t, path, tt.statement)
			before := contents(t, home)
			code, stdout, stderr := sessctl(t, home, "undo", receipt)
			if code != tt.code {
				t.Fatalf("code %d, want %d\n%s%s", code, tt.code, stdout, stderr)
			}
			if code == 0 {
				return
			}
			unchanged(t, before, home)
			if !says(stderr, "changed after the repair", "Nothing was changed.", "The backup "+strings.TrimSuffix(receipt, ".receipt.json")) {
				t.Errorf("got %s", stderr)
			}
		})
	}
}

// The bytes that a repair and its undo leave are those of the store, and a
// second repair leaves no trace.
func TestARepairedStoreIsLeftAlone(t *testing.T) {
	campaign.ShowsNoRace(t)
	home, path := leakyHome(t)
	old := dump(t, path)
	receipt := repaired(t, home, path)
	before := storetest.Snapshot(t, home)
	if code, stdout, stderr := sessctl(t, home, "repair", path, "--yes"); code != 0 || stderr != "" || !says(stdout, "There is nothing to repair.") {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
	if diff := cmp.Diff(before, storetest.Snapshot(t, home)); diff != "" {
		t.Errorf("the folder changed (-before +after):\n%s", diff)
	}
	elsewhere := t.TempDir()
	name, err := filepath.Rel(elsewhere, receipt)
	if err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := sessctl(t, elsewhere, "undo", name); code != 0 {
		t.Errorf("undo from another folder: code %d, %s", code, stderr)
	}
	if diff := cmp.Diff(old, dump(t, path)); diff != "" {
		t.Errorf("the undo left a difference:\n%s", diff)
	}
}

// A receipt whose store is gone or cannot be written leads to the backup.
func TestUndoNamesTheBackup(t *testing.T) {
	campaign.ShowsNoRace(t)
	home, path := leakyHome(t)
	receipt := repaired(t, home, path)
	if err := os.Rename(path, path+".gone"); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := sessctl(t, home, "undo", receipt)
	if code != 3 || !says(stderr, "there is no file", "Nothing was changed. The backup") || says(stderr, "--output") {
		t.Errorf("code %d, %s", code, stderr)
	}
}
