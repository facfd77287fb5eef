package dockeragent_test

import (
	"bytes"
	"database/sql"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// built makes a database and closes it.
func built(t *testing.T, generation int, write func(db *agenttest.DB)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.db")
	db, err := agenttest.Create(path, generation)
	if err != nil {
		t.Fatal(err)
	}
	write(db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// stored reads all trees of a database with their bodies.
func stored(t *testing.T, path string) []*session.Tree {
	t.Helper()
	o, err := registry.Open(t.Context(), path, "", nil, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	return trees(t, o)
}

// begin opens a database for repair, in a transaction.
func begin(t *testing.T, path string) store.Editor {
	t.Helper()
	e, err := dockeragent.Kind.Edit(t.Context(), storetest.Source(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	if err := e.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e
}

// finish commits and closes, and gives the journal.
func finish(t *testing.T, e store.Editor) []byte {
	t.Helper()
	journal, err := e.Journal()
	if err == nil {
		err = e.Commit(t.Context())
	}
	if err == nil {
		err = e.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return journal
}

// undo takes a journal back.
func undo(t *testing.T, path string, journal []byte) {
	t.Helper()
	e := begin(t, path)
	if err := e.Revert(t.Context(), journal); err != nil {
		t.Fatal(err)
	}
	finish(t, e)
}

// written makes a change and reads the tree again in the same transaction.
func written(t *testing.T, e store.Editor, change *store.Change) *session.Tree {
	t.Helper()
	if err := e.Write(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	return reread(t, e, idsOf(change.After))
}

// reread reads sessions in the transaction; they come as one list.
func reread(t *testing.T, e store.Editor, ids []string) *session.Tree {
	t.Helper()
	st, err := e.Read(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	all := &session.Tree{}
	for tree, err := range st.Trees(t.Context()) {
		if err == nil {
			err = st.Fill(t.Context(), tree)
		}
		if err != nil {
			t.Fatal(err)
		}
		all.Sessions = append(all.Sessions, tree.Sessions...)
	}
	return all
}

func idsOf(tree *session.Tree) []string {
	var ids []string
	for _, s := range tree.Sessions {
		ids = append(ids, s.ID)
	}
	return ids
}

// copied is a tree whose items and index references can be changed.
func copied(tree *session.Tree) *session.Tree {
	c := &session.Tree{}
	for _, s := range tree.Sessions {
		own := *s
		own.Items, own.IndexRefs = slices.Clone(s.Items), slices.Clone(s.IndexRefs)
		c.Sessions = append(c.Sessions, &own)
	}
	return c
}

// expectNumber gives the items of a session dense positions.
func expectNumber(s *session.Session) {
	for i := range s.Items {
		s.Items[i].Position = int64(i)
	}
}

func openSQL(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path}).String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// lines runs a query of one text column.
func lines(t *testing.T, db *sql.DB, query string, args ...any) []string {
	t.Helper()
	rows, err := db.Query(query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var list []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		list = append(list, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// diffTrees compares trees as far as sessions and items go.
func diffTrees(a, b *session.Tree) string {
	return cmp.Diff(a.Sessions, b.Sessions, cmpopts.IgnoreFields(session.Session{}, "Children"), alike)
}

// alike compares bytes at once, and takes no list for an empty one.
var alike = cmp.Options{
	cmp.Comparer(bytes.Equal), cmp.Comparer(bothEmptyOr[session.Call]), cmp.Comparer(bothEmptyOr[session.Result]),
}

func bothEmptyOr[T any](a, b []T) bool { return len(a)+len(b) == 0 || reflect.DeepEqual(a, b) }
