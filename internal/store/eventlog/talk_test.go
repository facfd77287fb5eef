package eventlog_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// form is a made-up kind of store: talks with lines.
type form struct {
	name   string
	scoped bool // a talk has an app and a user, too, and lines have their ids within it
	number bool // lines are numbered; else they have times
	schema string
}

var (
	timed = form{"times", true, false, `
		create table talks(app text, user text, id text, note text, version integer not null default 0, primary key(app, user, id));
		create table lines(id text, app text, user text, talk text, at integer, role text, branch text, archived integer, extra, said text,
			primary key(id, app, user, talk), foreign key(app, user, talk) references talks(app, user, id) on delete cascade)`}
	counted = form{"autoincrement", false, true, `
		create table talks(id text primary key, note text, version integer not null default 0);
		create table lines(at integer primary key autoincrement, id text unique, talk text references talks(id) on delete cascade,
			role text, branch text, archived integer, extra, said text)`}
	rowNumbered = form{"integer primary key", false, true, strings.Replace(counted.schema, "autoincrement", "", 1)}
	free        = form{"numbers without a key", false, true, strings.NewReplacer("at integer primary key autoincrement", "at integer not null",
		"id text unique", "id text primary key").Replace(counted.schema)}
	loose = form{"no keys at all", true, false, `
		create table talks(app, user, id, note, version default 0);
		create table lines(id, app, user, talk, at, role, branch, archived, extra, said)`}
	forms = []form{timed, counted, rowNumbered, free, loose}
)

// said is what a line says, as JSON.
type said struct {
	Text    string   `json:"text,omitempty"`
	Calls   []string `json:"calls,omitempty"`
	Results []answer `json:"results,omitempty"`
}

type answer struct {
	Call string `json:"call"`
	Text string `json:"text"`
}

func (f form) layout() *eventlog.Layout {
	key, columns := []string{"id"}, []string{"id", "note", "version"}
	owner := []string{"talk"}
	if f.scoped {
		key, owner = []string{"app", "user", "id"}, []string{"app", "user", "talk"}
		columns = append([]string{"app", "user"}, columns...)
	}
	l := &eventlog.Layout{
		Sessions: eventlog.Table{Name: "talks", Columns: columns, Key: key},
		Events: eventlog.Table{
			Name: "lines", Key: owner, ID: "id",
			Columns: append([]string{"id", "at", "role", "branch", "archived", "extra", "said"}, owner...),
		},
		Place: []string{"at"},
		Order: func(rowid int64, place eventlog.Row) (at, tie int64) {
			at, _ = place.Value("at").(int64)
			return at, -rowid
		},
		Session: func(row eventlog.Row) *session.Session {
			note, _ := row.Value("note").(string)
			s := &session.Session{Title: strings.Clone(note)}
			if note == "" {
				s.Faults = []session.Fault{{Kind: session.RequiredNull, Field: "note"}}
			}
			return s
		},
		Item: decodeLine, Finish: finish,
		Said: []string{"role", "branch", "said"},
		Content: func(column string, value any) any {
			if text, ok := value.(string); ok && column == "said" {
				return strings.TrimSpace(text)
			}
			return value
		},
		Write: eventlog.Write{Insert: f.insert, Part: f.part, Update: f.update, Session: talkAfter, Set: setLine},
	}
	if f.number {
		l.Write.Renumber = []string{"at"}
	}
	return l
}

func decodeLine(row eventlog.Row, it *session.Item, body bool) []session.Fault {
	text, _ := row.Value("said").(string)
	role, _ := row.Value("role").(string)
	branch, _ := row.Value("branch").(string)
	it.Role, it.Branch = session.ParseRole(role), strings.Clone(branch)
	if row.Value("archived") == int64(1) {
		it.Flags |= session.Archived
	}
	if body {
		it.Body = &session.Body{Raw: []byte(text)}
	}
	var doc said
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		it.Kind = session.Other
		return []session.Fault{{Kind: session.Undecodable, Field: "said", Detail: "it is no JSON", Ref: session.Ref{Pointer: "/said"}}}
	}
	var m session.Meaning
	m.Reset(it.Role, "")
	it.Text = session.DigestOf(doc.Text)
	m.Add(it.Text)
	for _, id := range doc.Calls {
		it.Calls = append(it.Calls, session.Call{ID: id})
		m.Add(session.DigestOf(id))
	}
	m.Mark(1)
	for _, r := range doc.Results {
		result := session.Result{CallID: r.Call, Digest: session.DigestOf(r.Text)}
		if body {
			result.Text = r.Text
		}
		it.Results = append(it.Results, result)
		m.Add(session.DigestOf(r.Call))
		m.Add(result.Digest)
	}
	if body {
		it.Body.Text = doc.Text
		for i := range it.Calls {
			it.Calls[i].Args = "{}"
		}
	}
	it.Meaning = m.Digest()
	return nil
}

// finish marks every result but the last one of a call as pending.
func finish(s *session.Session) {
	last := map[string]*session.Result{}
	for i := range s.Items {
		for n := range s.Items[i].Results {
			r := &s.Items[i].Results[n]
			if earlier := last[r.CallID]; earlier != nil {
				earlier.Pending = true
			}
			last[r.CallID] = r
		}
	}
}

func encodeLine(it *session.Item) string {
	doc := said{Text: it.Body.Text}
	for i := range it.Calls {
		doc.Calls = append(doc.Calls, it.Calls[i].ID)
	}
	for i := range it.Results {
		doc.Results = append(doc.Results, answer{it.Results[i].CallID, it.Results[i].Text})
	}
	text, _ := json.Marshal(doc)
	return string(text)
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func (f form) insert(_ *session.Session, it *session.Item, beside *eventlog.Row, id string) ([]sqlite.Field, error) {
	if beside == nil {
		return nil, fmt.Errorf("a talk without lines cannot get one")
	}
	row := []sqlite.Field{
		{Name: "id", Value: id}, {Name: "role", Value: it.Role.String()}, {Name: "branch", Value: orNull(it.Branch)},
		{Name: "archived", Value: int64(0)}, {Name: "said", Value: encodeLine(it)},
	}
	for _, column := range f.layout().Events.Key {
		row = append(row, sqlite.Field{Name: column, Value: beside.Value(column)})
	}
	if !f.number {
		row = append(row, sqlite.Field{Name: "at", Value: it.Position})
	}
	return row, nil
}

func (f form) part(s *session.Session, it *session.Item, row eventlog.Row, nth int, id string) ([]sqlite.Field, error) {
	var doc said
	if err := json.Unmarshal([]byte(row.Value("said").(string)), &doc); err != nil {
		return nil, err
	}
	one := *it
	one.Body = &session.Body{}
	one.Results = []session.Result{{CallID: doc.Results[nth].Call, Text: doc.Results[nth].Text}}
	return f.insert(s, &one, &row, id)
}

func (f form) update(row eventlog.Row, before, after *session.Item, taken []int) ([]sqlite.FieldChange, error) {
	var list []sqlite.FieldChange
	change := func(column string, differs bool, value any) {
		if differs {
			list = append(list, sqlite.FieldChange{Name: column, Old: row.Value(column), New: value})
		}
	}
	change("at", !f.number && before.Position != after.Position, after.Position)
	change("branch", before.Branch != after.Branch, orNull(after.Branch))
	archived := after.Flags.Has(session.Archived)
	change("archived", before.Flags.Has(session.Archived) != archived, map[bool]int64{true: 1}[archived])
	ids := func(it *session.Item) (ids []string) {
		for i := range it.Calls {
			ids = append(ids, it.Calls[i].ID)
		}
		return ids
	}
	if len(taken) > 0 || !slices.Equal(ids(before), ids(after)) {
		change("said", true, encodeLine(after))
	}
	return list, nil
}

func talkAfter(row eventlog.Row, sets []session.Edit) ([]sqlite.FieldChange, error) {
	list := []sqlite.FieldChange{{Name: "version", Old: row.Value("version"), New: row.Value("version").(int64) + 1}}
	for _, e := range sets {
		list = append(list, sqlite.FieldChange{Name: e.Field, Old: row.Value(e.Field), New: *e.Value})
	}
	return list, nil
}

func setLine(row eventlog.Row, sets []session.Edit) ([]sqlite.FieldChange, error) {
	var list []sqlite.FieldChange
	for _, e := range sets {
		list = append(list, sqlite.FieldChange{Name: e.Field, Old: row.Value(e.Field), New: *e.Value})
	}
	return list, nil
}

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
	o := eventlog.Open{DB: db, Facts: session.Store{Path: path}, Layout: f.layout(), Deep: deep, Sessions: sessions}
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
	for tree, err := range st.Trees(context.Background()) {
		if err == nil && bodies {
			err = st.Fill(context.Background(), tree)
		}
		if err != nil {
			t.Fatal(err)
		}
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
