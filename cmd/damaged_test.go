package cmd_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/cmd"
	"github.com/sessctl/sessctl/internal/schematest"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// run runs the program in this process.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	environment := map[string]string{"HOME": t.TempDir(), "COLUMNS": "80"}
	getenv := func(name string) string { return environment[name] }
	code = cmd.Main(args, strings.NewReader(""), &out, &err, getenv)
	schematest.RequireValid(t, out.Bytes())
	return code, out.String(), err.String()
}

// buildDB writes a database of generation 18.
func buildDB(t *testing.T, path string, write func(*agenttest.DB) error, options ...agenttest.Option) {
	t.Helper()
	db, err := agenttest.Create(path, 18, options...)
	if err == nil {
		err = write(db)
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// destroyPage clears the last page of a table.
func destroyPage(t *testing.T, db *agenttest.DB, table string) {
	t.Helper()
	var page, size int64
	err := db.SQL.QueryRow("select max(pageno), max(pgsize) from dbstat where name = ? and pagetype = 'leaf'", table).Scan(&page, &size)
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(db.Path)
	if err != nil {
		t.Fatal(err)
	}
	clear(content[(page-1)*size : page*size])
	if err := os.WriteFile(db.Path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// damagedDB is a database in which some rows of the item table are lost.
func damagedDB(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.db")
	db, err := agenttest.Create(path, 18)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := agenttest.WriteFixed(db, agenttest.Random(3, 80)); err != nil {
		t.Fatal(err)
	}
	db.Sync()
	destroyPage(t, db, "session_items")
	return path
}

// lostRows is what check says of the rows of a damagedDB that are lost, and the rowids of
// the first and the last of them.
func lostRows(t *testing.T, path string) (said string, first, last int) {
	t.Helper()
	_, out, _ := run(t, "check", path)
	said = regexp.MustCompile(`rows \d+ to \d+ of session_items cannot be read`).FindString(strings.Join(strings.Fields(out), " "))
	if _, err := fmt.Sscanf(said, "rows %d to %d of", &first, &last); err != nil {
		t.Fatalf("check says nothing of lost rows: %s", out)
	}
	return said, first, last
}

// Every command says that rows are lost, and still gives the rest.
func TestDamagedPagesAreNamed(t *testing.T) {
	path := damagedDB(t)
	said, _, _ := lostRows(t, path)
	code, out, _ := run(t, "check", path, "--full")
	if code != 3 || !strings.Contains(out, "error SC001") || !strings.Contains(out, "of session_items cannot be read") {
		t.Errorf("check: code %d\n%s", code, out)
	}
	code, out, stderr := run(t, "export", path)
	if code != 3 || !strings.Contains(out, `"type":"item"`) || !strings.Contains(stderr, "the stream lacks a part") {
		t.Errorf("export: code %d, %d bytes, %s", code, len(out), stderr)
	}
	for _, args := range [][]string{{"ls", path}, {"view", path, "-1"}, {"view", path, "-1", "--model-input"}, {"view", path, "-1", "--all"}} {
		code, out, stderr := run(t, args...)
		if code != 3 || out == "" || !strings.Contains(strings.Join(strings.Fields(stderr), " "), "is incomplete: "+said) {
			t.Errorf("%v: code %d, %d bytes, %s", args, code, len(out), stderr)
		}
	}
}

// Damage comes before a repair: nobody is led to one, and who asks for it is told the way
// out.
func TestADamagedStoreIsRecoveredFirst(t *testing.T) {
	path := damagedDB(t)
	if code, out, _ := run(t, "check", path); code != 3 || strings.Contains(out, "sessctl repair") || !strings.Contains(out, ".recover") {
		t.Errorf("check: code %d\n%s", code, out)
	}
	for _, flag := range []string{"--dry-run", "--yes"} {
		code, out, stderr := run(t, "repair", path, flag)
		if code != 3 || !strings.Contains(stderr, ".recover") || strings.Contains(out+stderr, "malformed") {
			t.Errorf("repair %s: code %d\n%s%s", flag, code, out, stderr)
		}
	}
	if left, err := filepath.Glob(path + ".*"); err != nil || len(left) > 0 {
		t.Errorf("beside the store: %v %v", left, err)
	}
}

// Of a damaged store everything that can be read is compared, and where the rest is, is told.
func TestDamagedStoresAreCompared(t *testing.T) {
	path := damagedDB(t)
	for _, args := range [][]string{{"diff", path, path}, {"diff", path, path, "--session", "-1"}} {
		code, out, stderr := run(t, args...)
		said := strings.Join(strings.Fields(stderr), " ")
		if code != 3 || !strings.Contains(out, "Nothing differs") || !strings.Contains(said, "the comparison is incomplete: a part of "+path+" cannot be read") {
			t.Errorf("%v: code %d\n%s%s", args, code, out, stderr)
		}
	}
}

// The export of a damaged store, its redacted export and the export of these say
// what is missing as the store itself does.
func TestAnIncompleteExportSaysSo(t *testing.T) {
	path, folder := damagedDB(t), t.TempDir()
	lost, first, last := lostRows(t, path)
	want := fmt.Sprintf(`{"type":"fault","table":"session_items","key":"%d","count":%d,"detail":"%s: a page of the file is damaged"}`, first, last-first+1, lost)
	for i, redact := range []string{"--redact=false", "--redact"} {
		once, twice := filepath.Join(folder, fmt.Sprint(i, "a.ndjson")), filepath.Join(folder, fmt.Sprint(i, "b.ndjson"))
		run(t, "export", path, redact, "--output", once)
		if code, _, stderr := run(t, "export", once, redact, "--output", twice); code != 3 {
			t.Errorf("export of the export: code %d, %s", code, stderr)
		}
		for _, file := range []string{once, twice} {
			content, err := os.ReadFile(file)
			if err != nil || strings.Count(string(content), want) != 1 {
				t.Errorf("%s has %d such lines, %v", file, strings.Count(string(content), want), err)
			}
			for _, args := range [][]string{{"check", file}, {"ls", file}, {"view", file, "-1"}, {"diff", file, path}} {
				code, out, stderr := run(t, args...)
				if said := strings.Join(strings.Fields(out+stderr), " "); code != 3 || !strings.Contains(said, lost) {
					t.Errorf("%v: code %d, %s", args, code, said)
				}
			}
			if _, out, _ := run(t, "check", file); !strings.Contains(out, fmt.Sprint("error SC001 store-damaged  store:session_items/", first)) {
				t.Errorf("check %s: %s", file, out)
			}
		}
	}
}

// What an export could save stays, wherever it was written to.
func TestAnIncompleteExportIsKept(t *testing.T) {
	path := damagedDB(t)
	_, want, _ := run(t, "export", path)
	file := filepath.Join(t.TempDir(), "saved.ndjson")
	if code, _, stderr := run(t, "export", path, "--output", file); code != 3 || !strings.Contains(stderr, "the stream lacks a part") {
		t.Errorf("code %d, %s", code, stderr)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%d bytes, want %d (%v)", len(got), len(want), err)
	}
}

// Sessions whose parents form a loop have no root, and can be viewed all the
// same.
func TestTheNewestSessionOfALoop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	buildDB(t, path, func(db *agenttest.DB) error {
		a := db.Root(agenttest.SessionRow{ID: "A", Title: "first"})
		a.User("hello")
		b := a.Child(agenttest.SessionRow{ID: "B", Title: "second"})
		b.User("hello")
		return db.Damage("ParentCycle", "B", "A")
	})
	if code, out, stderr := run(t, "view", path, "-1"); code != 0 || !strings.Contains(out, "first") {
		t.Errorf("code %d, %s%s", code, out, stderr)
	}
}

// TestDamageIsCountedAlike: a repair counts the damage of a store as a check of it does, and names
// the command that lists it.
func TestDamageIsCountedAlike(t *testing.T) {
	const reported = "../../shared/cases/reports/goose-foreign-wal"
	foreign := filepath.Join(t.TempDir(), "foreign")
	if err := os.CopyFS(foreign, os.DirFS(reported)); err != nil {
		t.Skip("the shared reports are not beside this checkout")
	}
	path := filepath.Join(foreign, "sessions.db")
	_, checked, _ := run(t, "check", path)
	_, planned, _ := run(t, "repair", path, "--dry-run")
	count := regexp.MustCompile(`(?m)^(\d+ errors?) in the store itself`).FindStringSubmatch(checked)
	if count == nil || !strings.Contains(strings.Join(strings.Fields(planned), " "), "Not repaired: "+count[1]+" (see `sessctl check "+path+"`)") {
		t.Errorf("check says\n%s\nand repair\n%s", checked, planned)
	}
}
