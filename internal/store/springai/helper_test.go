package springai_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/springai/springtest"
)

// tester is what testing and rapid have in common.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
}

// built is the path of a new file with the session of a script.
func built(t tester, folder, script string, form springtest.Form) string {
	t.Helper()
	path := filepath.Join(folder, "sessions.db")
	if err := springtest.FindScript(script).Build(path, form); err != nil {
		t.Fatal(err)
	}
	return path
}

// change runs statements on a file.
func change(t tester, path string, statements ...string) {
	t.Helper()
	db := plain(t, path)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func plain(t tester, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=foreign_keys(0)&_pragma=synchronous(off)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return db
}

// lines are the rows of a query, each of whose values is a text.
func lines(t tester, path, query string) []string {
	t.Helper()
	db := plain(t, path)
	defer func() { _ = db.Close() }()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	columns, _ := rows.Columns()
	values, targets := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	var list []string
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		row := make([]string, len(values))
		for i := range values {
			row[i] = values[i].String
		}
		list = append(list, strings.Join(row, " | "))
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	return list
}

// trees are those of a file, with bodies.
func trees(t tester, path string) []*session.Tree {
	t.Helper()
	opened, err := registry.Open(context.Background(), path, "", nil, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var list []*session.Tree
	for tree, err := range opened.Trees(context.Background()) {
		if err == nil {
			err = opened.Fill(context.Background(), tree)
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, tree)
	}
	if err := opened.Close(); err != nil {
		t.Fatal(err)
	}
	return list
}

// left are the findings of a plan above info, as rule and item.
func left(plan *repair.Plan) []string {
	var list []string
	for _, f := range plan.Findings {
		if f.Severity > rules.Info {
			list = append(list, fmt.Sprint(f.Rule.ID, " ", f.Item))
		}
	}
	return list
}

// opened are the facts of a file, read with every test that there is.
func opened(t tester, path string) *session.Store {
	t.Helper()
	o, err := registry.Open(context.Background(), path, "", nil, store.Options{Deep: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	return o.Facts()
}
