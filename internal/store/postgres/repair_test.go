//go:build unix

package postgres_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRepair: what a repair makes of a recorded database it makes of a file with the same
// rows, a second one finds nothing, and an undo gives every row back.
func TestRepair(t *testing.T) {
	for _, name := range recorded {
		t.Run(name, func(t *testing.T) {
			url, _ := load(t, name)
			repairedAndBack(t, url)
		})
	}
}

// repairedAndBack repairs a database and undoes that.
func repairedAndBack(t *testing.T, url string) {
	t.Helper()
	t.Chdir(t.TempDir())
	before := rowsOf(t, url)
	out, errors, code := sessctl(t, "repair", url, "--yes", "--assume-dead", "--allow", "reorder", "--fail-on", "never")
	if code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, out, errors)
	}
	if strings.Contains(out, "Nothing to repair") {
		return
	}
	t.Log(out)
	again, errors, code := sessctl(t, "repair", url, "--yes", "--assume-dead", "--allow", "reorder", "--fail-on", "never")
	t.Log(again)
	if code != 0 {
		t.Errorf("again: exit code %d\n%s%s", code, again, errors)
	}
	receipts, err := filepath.Glob("*.receipt.json")
	if err != nil || len(receipts) != 1 {
		t.Fatalf("%v: receipts %q", err, receipts)
	}
	if rows, err := os.ReadFile(strings.TrimSuffix(receipts[0], ".receipt.json")); err != nil || len(rows) == 0 {
		t.Errorf("the backup: %v", err)
	}
	if out, errors, code := sessctl(t, "undo", url, "--yes"); code != 0 {
		t.Fatalf("undo: exit code %d\n%s%s", code, out, errors)
	}
	if now := rowsOf(t, url); now != before {
		t.Errorf("an undo leaves\n%s\nand there was\n%s", now, before)
	}
}

// rowsOf are all rows of the tables of a database, sorted.
func rowsOf(t *testing.T, url string) string {
	t.Helper()
	return execute(t, url, `select string_agg(query_to_xml('select * from '||quote_ident(relname)||' t order by t::text', true, false, '')::text, E'\n' order by relname)
from pg_class c join pg_namespace n on n.oid = relnamespace where nspname = 'public' and relkind = 'r'`)
}
