package kagent_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// build writes a program to a new file.
func build(t *testing.T, p kagenttest.Program, form kagenttest.Form) (path string, truth *kagenttest.Written) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "kagent.db")
	truth, err := p.Build(path, form)
	if err != nil {
		t.Fatal(err)
	}
	return path, truth
}

// changed is a new file without sessions, in the current columns, on
// which statements were run.
func changed(t *testing.T, statements ...string) string {
	t.Helper()
	path, _ := build(t, kagenttest.Program{Name: "nothing"}, kagenttest.Form{Generation: kagenttest.Current, Times: kagenttest.GORM})
	run(t, path, statements...)
	return path
}

func run(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// read reads a file as commands read it, with all bodies.
func read(t *testing.T, path string) (facts *session.Store, trees []*session.Tree) {
	t.Helper()
	opened, err := registry.Open(t.Context(), path, "kagent", nil, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for tree, err := range opened.Trees(t.Context()) {
		if err == nil {
			err = opened.Fill(t.Context(), tree)
		}
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, tree)
	}
	if err := opened.Close(); err != nil {
		t.Fatal(err)
	}
	return opened.Facts(), trees
}

// filterChildren is the one session of a file.
func filterChildren(t *testing.T, path string) *session.Session {
	t.Helper()
	_, trees := read(t, path)
	if len(trees) != 1 || len(trees[0].Sessions) != 1 {
		t.Fatalf("%d trees", len(trees))
	}
	return trees[0].Root()
}
