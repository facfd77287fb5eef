package kagenttest

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Every script can be written in every form; what is written is sound, and what Build
// says of it is what plain SQL finds.
func TestEveryFormHoldsTheScripts(t *testing.T) {
	for name, form := range Forms {
		t.Run(name, func(t *testing.T) {
			for _, p := range Scripts() {
				if p.After != nil {
					build(t, p, form)
				}
				p.After = nil
				db, w := build(t, p, form)
				if got := rows(t, db, "PRAGMA integrity_check"); got[0] != "ok" {
					t.Errorf("%s: %v", p.Name, got)
				}
				for _, text := range rows(t, db, "SELECT data FROM event UNION ALL SELECT data FROM task") {
					document(t, text, form)
				}
				hold(t, db, w)
			}
		})
	}
}

func TestTruthOfRandomPrograms(t *testing.T) {
	folder := t.TempDir()
	names := slices.Sorted(maps.Keys(Forms))
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		form := Forms[rapid.SampledFrom(names).Draw(t, "form")]
		p := Random(rapid.Uint64().Draw(t, "seed"))
		path := filepath.Join(folder, fmt.Sprint(n, ".db"))
		w, err := p.Build(path, form)
		if err != nil {
			t.Fatal(err)
		}
		db := open(t, path)
		hold(t, db, w)
		if err := errors.Join(db.Close(), os.Remove(path)); err != nil {
			t.Fatal(err)
		}
	})
}

// tester is a test or a case of a property.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// hold compares the truth with the database.
func hold(t tester, db *sql.DB, w *Written) {
	t.Helper()
	for _, s := range w.Sessions {
		of := fmt.Sprintf("'%s' AND user_id = '%s'", s.ID, s.User)
		got := rows(t, db, "SELECT agent_id FROM session WHERE id = "+of)
		if diff := cmp.Diff([]string{s.Agent}, got); diff != "" {
			t.Errorf("session %s: %s", s.ID, diff)
		}
		events := rows(t, db, "SELECT id FROM event WHERE session_id = "+of+" ORDER BY created_at")
		if !slices.Equal(s.Events, events) {
			t.Errorf("events of %s are %v, want %v", s.ID, events, s.Events)
		}
	}
	total := func(table string) string { return rows(t, db, "SELECT count(*) FROM "+table)[0] }
	if got := total("session"); got != fmt.Sprint(len(w.Sessions)) {
		t.Errorf("%s sessions, want %d", got, len(w.Sessions))
	}
	tasks := 0
	for _, s := range w.Sessions {
		tasks += len(s.Tasks)
	}
	if got := total("task"); got != fmt.Sprint(tasks) {
		t.Errorf("%s tasks, want %d", got, tasks)
	}
	for _, c := range w.Calls {
		holdCall(t, db, c)
	}
}

func holdCall(t tester, db *sql.DB, c Worked) {
	t.Helper()
	holds := func(where, id, text string) bool {
		return rows(t, db, fmt.Sprintf("SELECT instr(data, '%s') > 0 FROM %s WHERE id = '%s'", text, where, id))[0] == "1"
	}
	if c.CallEvent != "" && c.Parent != "" && !holds("event", c.CallEvent, c.Call) {
		t.Errorf("the event of call %s does not make it", c.Call)
	}
	named := false
	for _, id := range c.Responses {
		if !holds("event", id, c.Call) {
			t.Errorf("event %s does not answer call %s", id, c.Call)
		}
		named = named || c.Child != "" && holds("event", id, "subagent_session_id") && holds("event", id, c.Child)
	}
	if c.Named && !named {
		t.Errorf("no response of call %s names session %s", c.Call, c.Child)
	}
	if c.Task == "" {
		return
	}
	if !holds("task", c.Task, c.Child) || rows(t, db, "SELECT session_id FROM task WHERE id = '"+c.Task+"'")[0] != c.Child {
		t.Errorf("task %s is not of session %s", c.Task, c.Child)
	}
	for _, id := range c.Events {
		said := func(invocation string) bool { return holds("event", id, invocation) }
		if c.Invocations != nil && !slices.ContainsFunc(c.Invocations, said) {
			t.Errorf("event %s is of no invocation of call %s", id, c.Call)
		}
	}
	if c.Marker != "" && !holds("event", c.Marker, Secret) {
		t.Errorf("event %s has no headers", c.Marker)
	}
}

// The same program and form give the same rows.
func TestBuildIsDeterministic(t *testing.T) {
	const everything = "SELECT id, created_at, data FROM event UNION ALL SELECT id, updated_at, data FROM task UNION ALL SELECT id, created_at, name FROM session"
	for name, form := range Forms {
		one, first := build(t, Random(7), form)
		two, second := build(t, Random(7), form)
		if diff := cmp.Diff(first, second) + cmp.Diff(rows(t, one, everything), rows(t, two, everything)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Rows are in the order of their times, as the runtimes wrote them, also where times
// are compared as texts.
func TestRowsAreInTheOrderOfTimes(t *testing.T) {
	for name, form := range Forms {
		db, _ := build(t, Script("nested"), form)
		if diff := cmp.Diff(rows(t, db, "SELECT id FROM event ORDER BY rowid"), rows(t, db, "SELECT id FROM event ORDER BY created_at")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestFormsOfTimes(t *testing.T) {
	at := time.Date(2026, 11, 20, 21, 41, 51, 126_593_100, time.UTC)
	for times, want := range map[Times][2]string{
		GORM:    {"2026-11-20 21:41:51.1265931+00:00", "2026-11-20 21:41:51+00:00"},
		RFC3339: {"2026-11-20T21:41:51.126593100Z", "2026-11-20T21:41:51.000000000Z"},
		Named:   {"2026-11-20 21:41:51.1265931 +0000 UTC", "2026-11-20 21:41:51 +0000 UTC"},
		Bare:    {"2026-11-20 21:41:51.126593", "2026-11-20 21:41:51"},
	} {
		w := &world{form: Form{Times: times}}
		if got := [2]string{w.formatTime(at), w.formatTime(at.Truncate(time.Second))}; got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

// build writes a database and opens it.
func build(t *testing.T, p Program, form Form) (*sql.DB, *Written) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kagent.db")
	w, err := p.Build(path, form)
	if err != nil {
		t.Fatal(err)
	}
	db := open(t, path)
	t.Cleanup(func() { _ = db.Close() })
	return db, w
}

func open(t tester, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path}).String())
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// document decodes a column with a document.
func document(t *testing.T, text string, form Form) map[string]any {
	t.Helper()
	if form.Quoted {
		var inner string
		if err := json.Unmarshal([]byte(text), &inner); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		text = inner
	}
	var o map[string]any
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return o
}

// rows are the rows of a query, their values with blanks between.
func rows(t tester, db *sql.DB, query string) []string {
	t.Helper()
	found, err := db.Query(query)
	if err != nil {
		t.Fatal(query, err)
	}
	defer func() { _ = found.Close() }()
	columns, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for found.Next() {
		values, into := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := found.Scan(into...); err != nil {
			t.Fatal(err)
		}
		var line []string
		for _, v := range values {
			line = append(line, string(v))
		}
		all = append(all, strings.Join(line, " "))
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
