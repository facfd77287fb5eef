package adk

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// database makes a SQLite file of SQL.
func database(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sessions.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(script)
	if closing := db.Close(); err != nil || closing != nil {
		t.Fatal(err, closing)
	}
	return path
}

func source(t *testing.T, path string) *store.Source {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return &store.Source{Path: path, DB: db.Reader(), Bytes: db.File.Size}
}

// read opens a database and gives all of its sessions with their bodies.
func read(t *testing.T, path string) (session.Store, map[string]*session.Session) {
	t.Helper()
	st, err := Kind.Open(t.Context(), source(t, path), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sessions := map[string]*session.Session{}
	for tree, err := range st.Trees(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Fill(t.Context(), tree); err != nil {
			t.Fatal(err)
		}
		sessions[tree.Root().ID] = tree.Root()
	}
	return *st.Facts(), sessions
}

// row is a row of the table events for the decoder.
type row map[string]any

func (r row) columns(column string) any { return r[column] }

// decoded decodes one event with its body.
func decoded(g generation, r row) (session.Item, []session.Fault) {
	if _, has := r["timestamp"]; !has {
		r["timestamp"] = map[bool]any{true: "2026-11-20 21:40:00.000001", false: "2026-11-20 21:40:00.000001+00:00"}[g.isPython()]
		if g == ps {
			r["timestamp"] = 1795210800.000001
		}
	}
	if _, has := r["actions"]; !has && g == p0 {
		r["actions"] = []byte("\x80\x05N.")
	}
	it := session.Item{Shared: &session.Shared{Table: tableEvents}, Key: "k"}
	list := g.decodeItem(r.columns, &it, true, &notes{})
	return it, list
}
