//go:build unix

package mysql_test

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

	"github.com/sessctl/sessctl/internal/store/mysql"
	"github.com/sessctl/sessctl/internal/store/table"
)

// open opens a database for reading.
func open(t *testing.T, at string) *mysql.DB {
	t.Helper()
	name, _, err := mysql.RegisterName(at)
	if err != nil {
		t.Fatal(err)
	}
	db, err := mysql.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// twin makes a SQLite database with the rows of one of MySQL, in the order in which they are
// stored there.
func twin(t *testing.T, at string) string {
	t.Helper()
	ctx := t.Context()
	from := open(t, at)
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

func copyTable(ctx context.Context, t *testing.T, from *mysql.DB, to *sql.Tx, name string, of table.Table) {
	t.Helper()
	var columns, places, names []string
	for _, c := range of.Columns {
		kind := c.Type
		if c.Given { // what a row cannot do without as it is everywhere else
			kind = "integer primary key autoincrement"
		}
		columns, places, names = append(columns, fmt.Sprintf("%q %s", c.Name, kind)), append(places, "?"), append(names, c.Name)
	}
	for _, x := range of.Indexes {
		if x.Unique {
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

// alike compares what a command prints of both, in place of the word STORE.
func alike(t *testing.T, at, file string, args ...string) {
	t.Helper()
	of := func(store string) []string {
		words := slices.Clone(args)
		words[slices.Index(words, "STORE")] = store
		return words
	}
	a, errorsA, codeA := sessctl(t, of(at)...)
	b, errorsB, codeB := sessctl(t, of(file)...)
	name, _, err := mysql.RegisterName(at)
	if err != nil {
		t.Fatal(err)
	}
	plain := func(text string) string { // without the breaks of lines, which a longer sentence moves
		text = strings.NewReplacer("'"+strings.Replace(name, "://", "://root@", 1)+"'", "STORE", "'"+name+"'", "STORE", name, "STORE", file, "STORE").Replace(variable.ReplaceAllString(text, "…"))
		text = leads.ReplaceAllString(place.ReplaceAllString(flat(text), ""), "sessctl …")
		return strings.ReplaceAll(text, ". ", ".\n")
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
			at := untied(t, name)
			file := twin(t, at)
			for _, args := range [][]string{
				{"check", "--format", "json", "--severity", "info", "STORE"},
				{"ls", "--format", "json", "STORE"},
				{"export", "STORE"},
			} {
				alike(t, at, file, args...)
			}
			for _, id := range sessions(t, file) {
				alike(t, at, file, "view", "STORE", id, "--all")
				alike(t, at, file, "view", "STORE", id, "--model-input")
			}
		})
	}
}

// TestParts: what is left out on the server is what is left out of a file with the same rows.
func TestParts(t *testing.T) {
	for _, name := range recorded {
		t.Run(name, func(t *testing.T) {
			at := untied(t, name)
			file := twin(t, at)
			check := []string{"check", "--format", "json", "--severity", "info", "--fail-on", "never", "STORE"}
			for _, part := range [][]string{
				{"--app", "shop"}, {"--app", "Shop", "--user", "u"}, {"--user", "nobody"}, {"--jobs", "3"},
				{"--since", "2020-01-01"}, {"--since", "3000-01-01"}, {"--shard", "1/3"}, {"--shard", "3/3", "--since", "1d"},
			} {
				alike(t, at, file, slices.Concat(check, part)...)
			}
			for _, id := range sessions(t, file) {
				alike(t, at, file, slices.Concat(check, []string{"--session", id})...)
				alike(t, at, file, "export", "--session", id, "STORE")
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
