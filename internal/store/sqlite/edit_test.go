package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/table"
)

// agentTables are the tables of docker agent that matter for writing: rowids
// with and without a name, a sequence, and foreign keys that act.
var agentTables = []string{
	`create table sessions(id text primary key, title text default '', starred boolean default 0, cost real default 0,
		created datetime, parent_id text references sessions(id) on delete cascade)`,
	`create table session_items(id integer primary key autoincrement, session_id text not null references sessions(id) on delete cascade,
		position integer not null, message_json text, implicit boolean default 0, extra,
		subsession_id text references sessions(id) on delete set null)`,
	`insert into sessions(id, created) values('a', '2026-01-02T03:04:05Z')`,
	`insert into sessions(id, parent_id, cost) values('b', 'a', 5)`,
	`insert into session_items(session_id, position, message_json, implicit) values('a', 0, '{}', 1), ('a', 1, 'call', 0), ('b', 0, 'answer', 0)`,
}

func agentStore(t *testing.T, journal string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.db")
	create(t, path, append([]string{"pragma journal_mode=" + journal}, agentTables...)...)
	return path
}

func openEdit(t *testing.T, path string) *Edit {
	t.Helper()
	e, err := OpenEdit(t.Context(), path)
	ok(t, err)
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func begun(t *testing.T, path string) *Edit {
	t.Helper()
	e := openEdit(t, path)
	ok(t, e.Begin(t.Context()))
	return e
}

// dump is everything that a database says, read by SQLite's own rules alone.
func dump(t *testing.T, path string) string {
	t.Helper()
	db := open(t, path)
	defer func() { ok(t, db.Close()) }()
	columns, err := db.Columns(t.Context())
	ok(t, err)
	var b strings.Builder
	for _, table := range slices.Sorted(mapKeys(columns)) {
		var parts []string
		for _, c := range columns[table] {
			parts = append(parts, "quote("+Quoted(c)+")", "hex("+Quoted(c)+")", "typeof("+Quoted(c)+")")
		}
		rows, err := db.Query(t.Context(), "select rowid || ': ' || concat_ws(', ', "+strings.Join(parts, ", ")+") from "+Quoted(table)+" order by rowid")
		ok(t, err)
		for rows.Next() {
			var line string
			ok(t, rows.Scan(&line))
			fmt.Fprintln(&b, table, line)
		}
		ok(t, errors.Join(rows.Err(), rows.Close()))
	}
	return b.String()
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// throughJSON is what a receipt keeps of changes.
func throughJSON(t interface{ Fatal(...any) }, changes []table.RowChange) []table.RowChange {
	b, err := json.Marshal(changes)
	if err != nil {
		t.Fatal(err)
	}
	var again []table.RowChange
	if err := json.Unmarshal(b, &again); err != nil {
		t.Fatal(err)
	}
	return again
}

var modes = []string{"wal", "delete"}

func TestEditAndRevert(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			path, ctx := agentStore(t, mode), t.Context()
			before := dump(t, path)

			e := begun(t, path)
			row, err := e.Insert(ctx, "sessions", []table.Field{{Name: "id", Value: "c"}, {Name: "title", Value: "x\x00y\xff"}, {Name: "parent_id", Value: "a"}})
			ok(t, err)
			item, err := e.Insert(ctx, "session_items", []table.Field{{Name: "session_id", Value: "c"}, {Name: "position", Value: int64(0)}, {Name: "message_json", Value: []byte{}}})
			ok(t, err)
			ok(t, e.Update(ctx, "session_items", 2, []table.FieldChange{
				{Name: "session_id", Old: "a", New: "c"}, {Name: "position", Old: int64(1), New: int64(7)}, {Name: "subsession_id", Old: nil, New: "c"}}))
			ok(t, e.Update(ctx, "session_items", 2, []table.FieldChange{{Name: "position", Old: int64(7), New: int64(1)}}))
			ok(t, e.Delete(ctx, "session_items", 3))
			ok(t, e.Delete(ctx, "sessions", 2))
			var title string
			ok(t, e.DB().QueryRow(ctx, "select title from sessions where rowid = ?", row).Scan(&title))
			if title != "x\x00y\xff" || item != 4 {
				t.Errorf("reads %q, item %d", title, item)
			}
			changes, err := e.Changes()
			ok(t, err)
			ok(t, e.Commit(ctx))
			ok(t, errors.Join(e.Close(), e.Close()))
			hasNoNeighbours(t, path)

			want := []string{"session_items 2", "session_items 3", "session_items 4", "sessions 2", "sessions 3", "sqlite_sequence 0"}
			var got []string
			for _, c := range changes {
				got = append(got, fmt.Sprint(c.Table, " ", c.Row))
			}
			if !slices.Equal(got, want) {
				t.Errorf("changes of %v, want %v", got, want)
			}
			if len(changes[0].After) != 2 { // the position is what it was
				t.Errorf("%v", changes[0].After)
			}

			e = begun(t, path)
			ok(t, e.RevertChanges(ctx, throughJSON(t, changes)))
			ok(t, e.Commit(ctx))
			ok(t, e.Close())
			if after := dump(t, path); after != before {
				t.Errorf("after the undo:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}

func hasNoNeighbours(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	ok(t, err)
	if len(entries) != 1 {
		t.Errorf("the folder holds %v", entries)
	}
}

// The first row of an AUTOINCREMENT table makes its sequence; undo removes it.
func TestRevertRemovesSequence(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "s.db"), t.Context()
	create(t, path, "create table t(id integer primary key autoincrement, x)")
	before := dump(t, path)
	e := begun(t, path)
	_, err := e.Insert(ctx, "t", nil)
	ok(t, err)
	changes, err := e.Changes()
	ok(t, err)
	ok(t, e.RevertChanges(ctx, changes))
	if changes, err := e.Changes(); err != nil || len(changes) > 0 {
		t.Errorf("%v remain (%v)", changes, err)
	}
	ok(t, e.Commit(ctx))
	ok(t, e.Close())
	if after := dump(t, path); after != before {
		t.Errorf("%s, want %s", after, before)
	}
}

// A sequence that went on since is left alone.
func TestRevertLeavesSequenceThatWentOn(t *testing.T) {
	path, ctx := agentStore(t, "wal"), t.Context()
	e := begun(t, path)
	_, err := e.Insert(ctx, "session_items", []table.Field{{Name: "session_id", Value: "a"}, {Name: "position", Value: int64(2)}})
	ok(t, err)
	changes, err := e.Changes()
	ok(t, err)
	ok(t, errors.Join(e.Commit(ctx), e.Close()))
	create(t, path, "insert into session_items(session_id, position) values('a', 3)")
	e = begun(t, path)
	ok(t, e.RevertChanges(ctx, changes))
	ok(t, errors.Join(e.Commit(ctx), e.Close()))
	if after := dump(t, path); !strings.Contains(after, "5: ") || !strings.Contains(after, ", 5, 35, integer") {
		t.Errorf("the sequence is not 5:\n%s", after)
	}
}

// A cancelled context ends the transaction, and no later change slips through
// outside of it.
func TestEditCancelled(t *testing.T) {
	path := agentStore(t, "wal")
	before := dump(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	e := begun(t, path)
	_, err := e.Insert(ctx, "sessions", []table.Field{{Name: "id", Value: "z"}})
	ok(t, err)
	cancel()
	if _, err := e.Insert(ctx, "sessions", []table.Field{{Name: "id", Value: "y"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := e.Insert(t.Context(), "sessions", []table.Field{{Name: "id", Value: "x"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := e.Commit(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	ok(t, e.Begin(t.Context()))
	_, err = e.Insert(t.Context(), "sessions", []table.Field{{Name: "id", Value: "z"}})
	ok(t, err)
	if err := e.Commit(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	ok(t, e.Close())
	if after := dump(t, path); after != before {
		t.Errorf("%s, want %s", after, before)
	}
}

// SQLite itself ends a transaction that does not fit on the disk.
func TestEditDiskFull(t *testing.T) {
	for _, mode := range modes {
		path, ctx := agentStore(t, mode), t.Context()
		before := dump(t, path)
		e := openEdit(t, path)
		var pages int
		ok(t, e.DB().QueryRow(ctx, "pragma max_page_count=20").Scan(&pages))
		ok(t, e.Begin(ctx))
		_, err := e.Insert(ctx, "sessions", []table.Field{{Name: "id", Value: "z"}, {Name: "title", Value: strings.Repeat("x", 1<<20)}})
		isProblem(t, err, problem.Unreadable, "the disk is full")
		isProblem(t, e.Commit(ctx), problem.Unreadable, "the disk is full")
		ok(t, e.Close())
		if after := dump(t, path); after != before {
			t.Errorf("%s, want %s", after, before)
		}
	}
}

func TestOpenEditRefusesDamage(t *testing.T) {
	for name, damage := range map[string]func(path string){
		"truncated": func(path string) {
			create(t, path, walRows(500)...)
			edit(t, path, func(b []byte) []byte { return b[:len(b)/2] })
		},
		"-wal": func(path string) {
			commits(t, path, 20)
			edit(t, path+"-wal", func(b []byte) []byte { b[walHeaderSize+7*testFrame+500] ^= 4; return b })
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			damage(path)
			before := folder(t, filepath.Dir(path))
			_, err := OpenEdit(t.Context(), path)
			isProblem(t, err, problem.Unreadable, "not repaired in place")
			if p, found := errors.AsType[*problem.Error](err); found && !strings.Contains(p.Next, "--output") {
				t.Errorf("next: %q", p.Next)
			}
			if after := folder(t, filepath.Dir(path)); after != before {
				t.Errorf("%s, want %s", after, before)
			}
		})
	}
}

func TestOpenEditNeverCreates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.db")
	_, err := OpenEdit(t.Context(), path)
	isProblem(t, err, problem.Unreadable, "there is no file")
	if _, err := os.Stat(path); err == nil {
		t.Error("created")
	}
}
