package dockeragent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// openDamaged makes a database with one delegation and long texts, destroys the
// first page of a kind (of dbstat), and opens it.
func openDamaged(t *testing.T, generation int, table, pages string, deep bool) *registry.Opened {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.db")
	db, err := agenttest.Create(path, generation)
	if err != nil {
		t.Fatal(err)
	}
	writeDelegation(db)
	db.Sync()
	long := strings.Repeat("a long text ", 800)
	if _, err := db.SQL.Exec(`update session_items set message_json = json_set(message_json, '$.content', ?1) where session_id = 'P' and position = 3`, long); err != nil {
		t.Fatal(err)
	}
	if generation < 20 {
		_, err := db.SQL.Exec(`update sessions set messages = '[{"summary":"' || ?1 || '"}]' where id = 'P'`, long)
		if err != nil {
			t.Fatal(err)
		}
	}
	var page, size int64
	err = db.SQL.QueryRow("select min(pageno), max(pgsize) from dbstat where name = ? and pagetype = ?", table, pages).Scan(&page, &size)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(content[(page-1)*size : page*size])
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := registry.Open(t.Context(), path, "", nil, store.Options{Deep: deep})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Close() })
	return o
}

// A damaged page costs what stands on it and nothing else.
func TestDamagedPages(t *testing.T) {
	tests := []struct {
		name, table, pages string
		generation         int
		deep               bool
		want               string // the only fault that is expected
		items              int    // of session P
	}{
		{"the text of an item", "session_items", "overflow", 29, false, "damaged: the item (message) cannot be read", 6},
		{"the old column of a session", "sessions", "overflow", 18, false, "damaged: only the id of the session can be read", 6},
		{"an index", "sqlite_autoindex_sessions_1", "leaf", 18, false, "damaged: the index sqlite_autoindex_sessions_1 does not match its table", 6},
		{"the index of the migrations", "sqlite_autoindex_migrations_1", "leaf", 18, false, "damaged: the index sqlite_autoindex_migrations_1 does not match its table", 6},
		{"the migrations", "migrations", "leaf", 29, false, "damaged: row 1 and all after it of migrations cannot be read", 6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := openDamaged(t, tt.generation, tt.table, tt.pages, tt.deep)
			faults, root := faultsOf(t, o)
			switch {
			case tt.want == "" && len(faults) > 0, tt.want != "" && (len(faults) != 1 || !strings.HasPrefix(faults[0], tt.want)):
				t.Errorf("faults\n%s\nwant %q", strings.Join(faults, "\n"), tt.want)
			case root == nil || len(root.Items) != tt.items:
				t.Errorf("root session %+v, want it with %d items", root, tt.items)
			}
		})
	}
}

// The old column is read by row: a damaged index on the ids hides none.
func TestDamagedIndexHidesNoColumn(t *testing.T) {
	o := openDamaged(t, 18, "sqlite_autoindex_sessions_1", "leaf", true)
	faults, _ := faultsOf(t, o)
	for _, f := range faults {
		if !strings.HasPrefix(f, "damaged: ") {
			t.Error(f)
		}
	}
}

// A file may end in the middle of a page, wherever that page belongs to.
func TestCutFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	db, err := agenttest.Create(path, 18)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(3) {
		if _, err := agenttest.WriteLeaky(db, agenttest.Random(seed, 60)); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for size := info.Size() - 1000; size > 1000; size -= 31_000 {
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		o, err := registry.Open(t.Context(), path, "", nil, store.Options{Deep: true})
		if err != nil {
			if !strings.Contains(err.Error(), "truncated") {
				t.Errorf("%d bytes: %v", size, err)
			}
			continue
		}
		if facts := o.Facts(); facts.Incomplete == "" {
			t.Errorf("%d bytes: not reported as truncated", size)
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
}
