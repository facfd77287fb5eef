//go:build unix

package cmd_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/cmd"
	"github.com/sessctl/sessctl/internal/schematest"
)

// dump is everything that a database says: its schema, rows and sequences. It
// looks at a copy, so that the folder stays what it is.
func dump(t *testing.T, path string) string {
	t.Helper()
	same := filepath.Join(t.TempDir(), "copy.db")
	for _, suffix := range []string{"", "-wal", "-journal"} {
		content, err := os.ReadFile(path + suffix)
		if os.IsNotExist(err) && suffix != "" {
			continue
		}
		if err == nil {
			err = os.WriteFile(same+suffix, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", "file:"+same)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	var text strings.Builder
	for _, line := range lines(t, db, "pragma integrity_check") {
		if line != "ok" {
			t.Errorf("integrity of %s: %s", path, line)
		}
	}
	for _, line := range lines(t, db, "select coalesce(sql, name) from sqlite_schema order by 1") {
		fmt.Fprintln(&text, line)
	}
	for _, table := range lines(t, db, "select name from sqlite_schema where type = 'table' order by name") {
		columns := lines(t, db, "select 'quote(\"' || name || '\")' from pragma_table_info(?)", table)
		for _, line := range lines(t, db, "select "+strings.Join(columns, "||','||")+" from \""+table+"\" order by 1") {
			fmt.Fprintln(&text, table, line)
		}
	}
	return text.String()
}

// lines are the values of a query with one column.
func lines(t *testing.T, db *sql.DB, query string, args ...any) []string {
	t.Helper()
	rows, err := db.Query(query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	var list []string
	for rows.Next() {
		var value string
		if err := rows.Scan(&value); err != nil {
			t.Fatal(err)
		}
		list = append(list, value)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// leakyHome is a folder with a database that needs a repair.
func leakyHome(t *testing.T) (home, path string) {
	t.Helper()
	home = t.TempDir()
	path = filepath.Join(home, "session.db")
	buildDB(t, path, storing("leaky"))
	return home, path
}

// sessctl runs the program in a folder, within the test.
func sessctl(t *testing.T, home string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Chdir(home)
	var out, errors bytes.Buffer
	environment := map[string]string{"HOME": home, "COLUMNS": "80", "NO_COLOR": "1"}
	code = cmd.Main(args, strings.NewReader(""), &out, &errors, func(name string) string { return environment[name] })
	schematest.RequireValid(t, out.Bytes())
	return code, out.String(), errors.String()
}

// repaired repairs a database and returns the receipt.
func repaired(t *testing.T, home, path string) (receipt string) {
	t.Helper()
	if code, stdout, stderr := sessctl(t, home, "repair", path, "--yes"); code != 0 {
		t.Fatalf("repair: code %d\n%s%s", code, stdout, stderr)
	}
	return receipts(t, path)[0]
}

func receipts(t *testing.T, path string) []string {
	t.Helper()
	list, err := filepath.Glob(path + ".sessctl-*.receipt.json")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// says reports whether a text holds all parts, wherever its lines break.
func says(text string, parts ...string) bool {
	flat := strings.Join(strings.Fields(text), " ")
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(flat, part) })
}

// listing are the names in a folder.
func listing(t *testing.T, folder string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, strings.TrimPrefix(path, folder+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// contents are the files in a folder.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range listing(t, folder) {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(content)
	}
	return files
}

// unchanged holds a folder against what it was, by the names of what differs.
func unchanged(t *testing.T, before map[string]string, folder string) {
	t.Helper()
	after := contents(t, folder)
	for name := range before {
		if _, there := after[name]; !there {
			t.Errorf("%s is gone", name)
		}
	}
	for name, content := range after {
		if was, there := before[name]; !there {
			t.Errorf("%s was left behind", name)
		} else if was != content {
			t.Errorf("%s changed", name)
		}
	}
}

// copyStore copies a closed database.
func copyStore(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
