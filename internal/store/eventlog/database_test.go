package eventlog_test

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// tester is what a test and a check of rapid have in common.
type tester interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// make writes a database with statements.
func (f form) make(t tester, folder string, statements ...string) string {
	t.Helper()
	path := filepath.Join(folder, "talks.db")
	db := openSQL(t, path)
	for _, s := range append([]string{f.schema}, statements...) {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func openSQL(t tester, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: "_pragma=synchronous(0)"}).String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func run(t tester, path string, statements ...string) {
	t.Helper()
	db := openSQL(t, path)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// reading opens a database, for the sessions named or for all.
func (f form) reading(t tester, path string, deep bool, sessions ...string) store.Store {
	t.Helper()
	db, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	o := eventlog.Open{DB: db.Reader(), Layout: f.layout(), Options: store.Options{Deep: deep}, Sessions: sessions}
	st, err := o.Store(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// sessionsOf reads all sessions of a store.
func sessionsOf(t tester, st store.Store, bodies bool) []*session.Session {
	t.Helper()
	var list []*session.Session
	for _, tree := range treesOf(t, st, bodies) {
		if len(tree.Sessions) != 1 {
			t.Fatalf("a tree has %d sessions", len(tree.Sessions))
		}
		list = append(list, tree.Root())
	}
	return list
}

// lines runs a query of one text column.
func lines(t tester, db *sql.DB, query string, args ...any) []string {
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
