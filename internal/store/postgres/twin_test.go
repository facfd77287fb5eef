//go:build unix

package postgres_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	difference "github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/store/postgres"
	"github.com/sessctl/sessctl/internal/store/table"
)

// twin makes a SQLite database with the rows of a database of PostgreSQL, in the order in
// which they are stored there.
func twin(t *testing.T, url string) string {
	t.Helper()
	ctx := t.Context()
	name, _, err := postgres.RegisterName(url)
	if err != nil {
		t.Fatal(err)
	}
	from, err := postgres.Open(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = from.Close() }()
	path := filepath.Join(t.TempDir(), "twin.db")
	to, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = to.Close() }()
	rows, err := to.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := from.Schema(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range schema.Names() {
		copyTable(ctx, t, from, rows, name, schema.Tables[name])
	}
	if err := rows.Commit(); err != nil {
		t.Fatal(err)
	}
	return path
}

func copyTable(ctx context.Context, t *testing.T, from *postgres.DB, to *sql.Tx, name string, of table.Table) {
	t.Helper()
	var columns, places, names []string
	for _, c := range of.Columns {
		kind, _, _ := strings.Cut(c.Type, " with") // time zone
		if c.Given {                               // what a row cannot do without as it is everywhere else
			kind = "integer primary key autoincrement"
		}
		columns, places, names = append(columns, fmt.Sprintf("%q %s", c.Name, kind)), append(places, "?"), append(names, c.Name)
	}
	for _, x := range of.Indexes {
		if x.Unique && !x.Partial {
			columns = append(columns, `unique ("`+strings.Join(x.Columns, `","`)+`")`)
		}
	}
	if _, err := to.ExecContext(ctx, fmt.Sprintf("create table %q (%s)", name, strings.Join(columns, ", "))); err != nil {
		t.Fatal(err)
	}
	insert := fmt.Sprintf("insert into %q values (%s)", name, strings.Join(places, ", "))
	lost, err := from.Scan(ctx, table.Selection{Table: name, Columns: names}, func(_ table.Place, row []table.Value) error {
		values := make([]any, len(row))
		for i, v := range row {
			values[i] = table.CloneValue(v)
		}
		_, err := to.ExecContext(ctx, insert, values...)
		return err
	})
	if err != nil || lost != nil {
		t.Fatal(name, err, lost)
	}
}

// variable is what differs between two databases with the same rows.
var variable = regexp.MustCompile(`"(duration_ms|seconds|bytes|path|store|message_bytes)":\s?("[^"]*"|[0-9.]+)|^.*sessctl (why|repair|view|export).*$|[0-9.,]+ [kMG]?B|startTimeUtc": "[^"]*"|in [0-9.]+ s\)`)

// place is what only a file says of a row: there it stays.
var place = regexp.MustCompile(`, from row [0-9]+ on,`)

// leads are the commands that lead to a repair: a server's store is exported before.
var leads = regexp.MustCompile(`sessctl (repair STORE --dry-run what a repair would do|export STORE --output \S+ a stream, which can be repaired)`)

// moving are sentences about tied events in place of what is said of a file: only there an undo
// brings their order back, so that their repair needs no word.
var moving = strings.NewReplacer(`, "allow": [ "reorder" ]`, "", "They come in the order in which they lie in the table, and an update of one changes it",
	"Their order is not guaranteed; sessctl shows the one that runtimes load today", "lie in the table, and an update of one changes it", "were written")

// alike compares what a command prints of both, in place of the word STORE.
func alike(t *testing.T, url, file string, args ...string) {
	t.Helper()
	of := func(store string) []string {
		words := slices.Clone(args)
		words[slices.Index(words, "STORE")] = store
		return words
	}
	a, errorsA, codeA := sessctl(t, of(url)...)
	b, errorsB, codeB := sessctl(t, of(file)...)
	name, _, err := postgres.RegisterName(url)
	if err != nil {
		t.Fatal(err)
	}
	plain := func(text string) string { // without the breaks of lines, which a longer sentence moves
		text = strings.NewReplacer("'"+name+"'", "STORE", name, "STORE", file, "STORE").Replace(variable.ReplaceAllString(text, "…"))
		text = leads.ReplaceAllString(place.ReplaceAllString(flat(text), ""), "sessctl …")
		return strings.ReplaceAll(moving.Replace(text), ". ", ".\n")
	}
	if codeB > 1 && strings.Contains(errorsB, "unknown") {
		t.Fatalf("sessctl %s: exit code %d\n%s%s", strings.Join(args, " "), codeB, b, errorsB)
	}
	if diff := difference.Diff(plain(b+errorsB), plain(a+errorsA)); diff != "" || codeA != codeB {
		t.Errorf("sessctl %s: exit codes %d and %d\n%s", strings.Join(args, " "), codeB, codeA, diff)
	}
}

// TestSameRowsInSQLite: every command that reads says the same of the same rows.
func TestSameRowsInSQLite(t *testing.T) {
	for _, name := range recorded {
		t.Run(name, func(t *testing.T) {
			url, _ := load(t, name)
			file := twin(t, url)
			for _, args := range [][]string{
				{"check", "--format", "json", "--severity", "info", "STORE"},
				{"ls", "--format", "json", "STORE"},
				{"export", "STORE"},
			} {
				alike(t, url, file, args...)
			}
			for _, id := range sessions(t, file) {
				alike(t, url, file, "view", "STORE", id, "--all")
				alike(t, url, file, "view", "STORE", id, "--model-input")
			}
		})
	}
}

// sessions are the ids of a store's sessions.
func sessions(t *testing.T, path string) (ids []string) {
	t.Helper()
	out, errors, code := sessctl(t, "ls", "--format", "json", path)
	var list struct{ Sessions []struct{ ID string } }
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Sessions) == 0 {
		t.Fatalf("%v (exit code %d)\n%s%s", err, code, out, errors)
	}
	for _, s := range list.Sessions {
		ids = append(ids, s.ID)
	}
	return ids
}
