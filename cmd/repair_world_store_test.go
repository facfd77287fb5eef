//go:build unix

package cmd_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
)

// foreign are databases that somebody else than the runtime has had in hand.
// All of them can be repaired.
var foreign = []struct {
	name       string
	statements []string
	left       bool // something that no repair is for
}{
	{name: "pages of 512 bytes", statements: rebuilt("page_size = 512")},
	{name: "pages of 65536 bytes", statements: rebuilt("page_size = 65536")},
	{name: "auto_vacuum", statements: rebuilt("auto_vacuum = full")},
	{name: "incremental auto_vacuum", statements: rebuilt("auto_vacuum = incremental")},
	{name: "a journal that is truncated", statements: []string{"pragma journal_mode = truncate", touch}},
	{name: "a journal that is kept", statements: []string{"pragma journal_mode = persist", touch}},
	{name: "no indexes", statements: []string{"drop index idx_session_items_session", "drop index idx_session_items_session_type"}},
	{name: "more columns, tables, indexes and views", statements: []string{
		"alter table session_items add column mine blob default x'00ff'", "alter table sessions add column mine text default 'z'",
		"create table extra(a integer references session_items(id))", "create view v as select * from session_items",
		"create index of_mine on session_items(message_json)", "create unique index places on session_items(session_id, position)",
	}},
	{name: "a trigger that does nothing", statements: []string{"create trigger t after delete on session_items when 0 begin select 1; end"}},
	{name: "a foreign key that is broken elsewhere", left: true, statements: []string{
		"insert into session_items(session_id, position, item_type, message_json) values ('ghost', 0, 'message', '{}')",
	}},
	{name: "positions with gaps, from below zero", statements: []string{"update session_items set position = position * 7 - 20"}},
	{name: "positions in pairs", statements: []string{"update session_items set position = position / 2"}},
	{name: "one position for all", statements: []string{"update session_items set position = 0"}},
	{name: "ids and titles that are hostile", statements: renamed("char(27) || '[31m' || char(10) || char(0) || ''');drop table sessions;--\"'")},
	{name: "ids of 20,000 bytes", statements: renamed("replace(hex(zeroblob(10000)), '00', 'xy')")},
}

// rebuilt sets what only a rebuilt database takes over.
func rebuilt(setting string) []string {
	return []string{"pragma journal_mode = delete", "pragma " + setting, "vacuum", "pragma journal_mode = wal"}
}

// renamed puts a text in front of every id and title.
func renamed(prefix string) []string {
	return []string{
		"update sessions set messages = '[]', title = " + prefix + " || title, id = " + prefix + " || id, parent_id = " + prefix + " || parent_id",
		"update session_items set session_id = " + prefix + " || session_id, subsession_id = " + prefix + " || subsession_id",
	}
}

func TestForeignDatabasesAreRepairedAndSetBack(t *testing.T) {
	campaign.ShowsNoRace(t)
	for _, tt := range foreign {
		t.Run(tt.name, func(t *testing.T) {
			home, path := leakyHome(t)
			alter(t, path, tt.statements...)
			old := dump(t, path)
			code, stdout, stderr := sessctl(t, home, "repair", path, "--yes")
			if left := code == 1; code > 1 || left != tt.left || stderr != "" || !says(stdout, "verified: ") {
				t.Fatalf("repair: code %d\n%s%s", code, stdout, stderr)
			}
			if strings.ContainsFunc(stdout, func(r rune) bool { return r < ' ' && r != '\n' }) || len(stdout) > 3000 {
				t.Errorf("what is printed could drive a terminal or flood it: %d bytes", len(stdout))
			}
			before := contents(t, home)
			if again, stdout, _ := sessctl(t, home, "repair", path, "--yes"); again != code || !says(stdout, "There is nothing ") {
				t.Errorf("again: code %d\n%s", again, stdout)
			}
			unchanged(t, before, home)
			if code, stdout, stderr := sessctl(t, home, "undo", receipts(t, path)[0]); code != 0 {
				t.Fatalf("undo: code %d\n%s%s", code, stdout, stderr)
			}
			if diff := cmp.Diff(old, dump(t, path)); diff != "" {
				t.Errorf("the undo left a difference:\n%s", diff)
			}
		})
	}
}

// A database that would do more than it is told, or less, is left as it is,
// and so is a copy of it.
func TestDatabasesThatInterfereAreRefused(t *testing.T) {
	campaign.ShowsNoRace(t)
	tests := map[string]string{
		"a trigger that writes":            "create trigger t after delete on session_items begin insert into migrations(id, name) values (99, 'x'); end",
		"a trigger that changes a session": "create trigger t after delete on session_items begin update sessions set title = 'x'; end",
		"a trigger that ignores":           "create trigger t before delete on session_items begin select raise(ignore); end",
		"a trigger that refuses":           "create trigger t before delete on session_items begin select raise(abort, 'no'); end",
		"a trigger that rolls back":        "create trigger t before delete on session_items begin select raise(rollback, 'no'); end",
	}
	for name, statement := range tests {
		t.Run(name, func(t *testing.T) {
			home, path := leakyHome(t)
			alter(t, path, statement)
			before := contents(t, home)
			for _, args := range [][]string{{"repair", path, "--yes"}, {"repair", path, "--output", "copy.db"}} {
				code, _, stderr := sessctl(t, home, args...)
				if code != 4 || !says(stderr, ".db was not changed: ", "If somebody added a trigger, a foreign key or another rule") || says(stderr, ".sessctl-") {
					t.Errorf("%v: code %d, %s", args, code, stderr)
				}
			}
			unchanged(t, before, home)
		})
	}
}

// A row to which another table refers neither goes nor moves, and the finding says why.
func TestRowsThatOthersReferToStay(t *testing.T) {
	for name, reference := range map[string]string{"rows that would go too": " on delete cascade", "rows that need theirs": ""} {
		t.Run(name, func(t *testing.T) {
			home, path := leakyHome(t)
			alter(t, path, "create table extra(a integer references session_items(id)"+reference+")", "insert into extra select id from session_items")
			old := dump(t, path)
			code, stdout, stderr := sessctl(t, home, "repair", path, "--yes")
			if code != 1 || stderr != "" || !says(stdout, "extra") {
				t.Errorf("code %d\n%s%s", code, stdout, stderr)
			}
			if diff := cmp.Diff(old, dump(t, path)); diff != "" {
				t.Errorf("rows changed:\n%s", diff)
			}
		})
	}
}
