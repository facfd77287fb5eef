package registry_test

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// Whatever has the ending of a store is one for a folder, however damaged it is, but for
// sound files of other programs.
func TestFoldersKeepWhatIsDamaged(t *testing.T) {
	good, other := database(t), otherDatabase(t)
	tests := []struct {
		name  string
		file  string
		data  []byte
		other bool
	}{
		{"an empty file", "x.db", nil, false},
		{"zeros", "x.db", make([]byte, 20_000), false},
		{"other first bytes", "x.db", append([]byte("XX"), good[2:]...), false},
		{"a cut database", "x.sqlite", good[:200], false},
		{"another database that is cut", "x.db", other[:4096+100], false},
		{"text", "x.sqlite3", []byte("shopping"), false},
		{"a database without tables", "x.db", tableless(t), false},
		{"another database", "x.db", other, true},
		{"an empty stream", "x.ndjson", nil, false},
		{"a stream without a header", "x.ndjson", []byte(`{"type":"session","id":"S"}` + "\n"), false},
		{"a stream with items only", "x.ndjson", []byte(`{"type":"item","session":"S"}` + "\n"), false},
		{"a header of no format", "x.ndjson", []byte(`{"type":"header"}` + "\n"), false},
		{"a header without its type", "x.ndjson", []byte(`{"typ":"header","format":"sessctl.canonical/1"}` + "\n"), false},
		{"a cut header", "x.ndjson", []byte(`{"type":"header","form`), false},
		{"a header without its start", "x.ndjson", []byte(`"type":"header","format":"sessctl.canonical/1"}` + "\n"), false},
		{"other lines", "x.ndjson", []byte(`{"type":"user_message","session_id":"S"}` + "\n"), true},
		{"other lines with another type of type", "x.ndjson", []byte("\n" + `{"type":1}` + "\n{"), true},
		{"text of another kind", "x.db", []byte(`{"a":1}`), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			write(t, "good.ndjson", []byte(stream))
			write(t, tt.file, tt.data)
			want := registry.Expansion{Stores: []string{"good.ndjson", tt.file}}
			if tt.other {
				want = registry.Expansion{Stores: []string{"good.ndjson"}, Others: []string{tt.file}}
			}
			got, err := registry.ExpandPath(t.Context(), ".", "")
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Error(err, diff)
			}
		})
	}
}

// What cannot be opened is kept, too: the error says why.
func TestFoldersKeepWhatCannotBeOpened(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "good.ndjson", []byte(stream))
	if err := os.Symlink("missing", "link.db"); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	if err := os.Mkdir("folder.db", 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := registry.ExpandPath(t.Context(), ".", "")
	if diff := cmp.Diff(registry.Expansion{Stores: []string{"good.ndjson", "link.db"}}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// A folder with nothing but another program's files is said to be one, with these.
func TestFoldersOfOtherPrograms(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "other.db", otherDatabase(t))
	got, err := registry.ExpandPath(t.Context(), ".", "")
	if err == nil || !strings.Contains(err.Error(), "no session store in") {
		t.Error(err)
	}
	if diff := cmp.Diff(registry.Expansion{Others: []string{"other.db"}}, got); diff != "" {
		t.Error(diff)
	}
}

// TestIndexesOfRuntimes: of a database that a runtime makes of its sessions is said that it holds none,
// and where these are.
func TestIndexesOfRuntimes(t *testing.T) {
	const event = `{"type":"session.start","data":{"sessionId":"s","producer":"copilot-agent"},"id":"1","timestamp":"2026-01-01T00:00:00.000Z","parentId":null}`
	for _, tt := range []struct{ table, says, beside, next string }{
		{"turns (id, session_id, turn_index, user_message, assistant_response, timestamp)", "an index that Copilot CLI makes of its sessions", "", "`sessctl stores` lists the folders"},
		{"turns (id, session_id, turn_index, user_message, assistant_response, timestamp)", "an index that Copilot CLI makes of its sessions", "session-state/s/events.jsonl", "Name the folder "},
		{"threads (id, rollout_path, title)", "an index that Codex makes of its sessions", "", "`sessctl stores` lists the folders"},
		{"turns (id, text)", "a SQLite database of another program", "", "sessctl reads these kinds"},
	} {
		folder := t.TempDir()
		path := filepath.Join(folder, "index.db")
		writeTo(t, path, string(sqliteFile(t, "CREATE TABLE "+tt.table)))
		if tt.beside != "" {
			writeTo(t, filepath.Join(folder, tt.beside), event+"\n")
			tt.next += folder
		}
		_, err := registry.Open(t.Context(), path, "", nil, store.Options{})
		p, _ := errors.AsType[*problem.Error](err)
		if p == nil || !strings.Contains(p.What, tt.says) || !strings.Contains(p.Next, tt.next) {
			t.Errorf("%s: %#v", tt.table, p)
		}
	}
}

// At a usual place a link that leads nowhere is a store that cannot be read.
func TestDefaultKeepsWhatCannotBeOpened(t *testing.T) {
	home := t.TempDir()
	t.Chdir(home)
	write(t, "session.db", database(t))
	if err := os.Mkdir(".cagent", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("missing", filepath.Join(".cagent", "session.db")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	got, err := registry.DefaultStores(t.Context(), home, "")
	if diff := cmp.Diff([]string{filepath.Join(home, ".cagent", "session.db"), "session.db"}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// A folder that Claude Code made for its settings is no store; one with a transcript that
// cannot be read is.
func TestDefaultLeavesOutEmptyFolders(t *testing.T) {
	home := t.TempDir()
	t.Chdir(t.TempDir())
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	claude := filepath.Join(home, ".claude")
	for _, folder := range []string{filepath.Join(claude, "projects", "-srv"), filepath.Join(home, ".cagent")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	docker := filepath.Join(home, ".cagent", "session.db")
	write(t, docker, database(t))
	write(t, filepath.Join(claude, "settings.json"), []byte("{}"))
	write(t, filepath.Join(claude, "history.jsonl"), []byte(`{"display":"hello"}`))
	got, err := registry.DefaultStores(t.Context(), home, "")
	if diff := cmp.Diff([]string{docker}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	write(t, filepath.Join(claude, "projects", "-srv", "5e551017-0000-4000-8000-000000000001.jsonl"), []byte("\x00\x00"))
	for kind, want := range map[string][]string{"": {docker, claude}, "claude-code": {claude}, "docker-agent": {docker}} {
		got, err = registry.DefaultStores(t.Context(), home, kind)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Error(kind, err, diff)
		}
	}
	for kind, want := range map[string]string{"goose": "no session store found (looked at ", "loom": "stores of kind loom have no usual place"} {
		if got, err = registry.DefaultStores(t.Context(), home, kind); err == nil || !strings.Contains(err.Error(), want) {
			t.Error(kind, got, err)
		}
	}
}

// database is a store without sessions.
func database(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.db")
	db, err := agenttest.Create(path, agenttest.Latest)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return read(t, path)
}

func otherDatabase(t *testing.T) []byte {
	t.Helper()
	return sqliteFile(t, "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO notes VALUES (1, 'milk')")
}

func tableless(t *testing.T) []byte {
	t.Helper()
	return sqliteFile(t, "CREATE TABLE t (a); DROP TABLE t")
}

// sqliteFile is a database after some statements.
func sqliteFile(t *testing.T, statements string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "other.db")
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	data := read(t, path)
	if !bytes.HasPrefix(data, []byte("SQLite format 3")) {
		t.Fatal("no database was written")
	}
	return data
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
