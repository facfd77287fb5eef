//go:build unix

package mysql_test

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
			at := untied(t, name)
			repairedAndBack(t, at)
		})
	}
}

// repairedAndBack repairs a database as it does a file, and undoes that.
func repairedAndBack(t *testing.T, at string) {
	t.Helper()
	t.Chdir(t.TempDir())
	before := rowsOf(t, at)
	file := twin(t, at)
	repair := func(store string) (out string) {
		out, errors, code := sessctl(t, "repair", store, "--yes", "--assume-dead", "--allow", "reorder", "--fail-on", "never")
		if code != 0 {
			t.Fatalf("exit code %d\n%s%s", code, out, errors)
		}
		return out
	}
	out := repair(at)
	if strings.Contains(out, "Nothing to repair") {
		t.Fatal(out)
	}
	t.Log(out)
	if again := repair(at); !strings.Contains(again, "Nothing to repair") && !strings.Contains(again, "0 repaired") {
		t.Log(again)
	}
	receipts, err := filepath.Glob("*.receipt.json")
	if err != nil || len(receipts) != 1 {
		t.Fatalf("%v: receipts %q", err, receipts)
	}
	if rows, err := os.ReadFile(strings.TrimSuffix(receipts[0], ".receipt.json")); err != nil || len(rows) == 0 {
		t.Errorf("the backup: %v", err)
	}
	repair(file)
	alike(t, at, file, "check", "--format", "json", "--severity", "info", "--fail-on", "never", "STORE")
	for _, id := range sessions(t, file) {
		alike(t, at, file, "view", "STORE", id, "--all")
	}
	if out, errors, code := sessctl(t, "undo", at, "--yes"); code != 0 {
		t.Fatalf("undo: exit code %d\n%s%s", code, out, errors)
	}
	if now := rowsOf(t, at); now != before {
		t.Errorf("an undo leaves\n%s\nand there was\n%s", now, before)
	}
}

// rowsOf are all rows of the tables of a database, sorted.
func rowsOf(t testing.TB, at string) (all string) {
	t.Helper()
	names := execute(t, at, "select group_concat(table_name order by table_name) from information_schema.tables where table_schema = database()")
	for name := range strings.SplitSeq(names, ",") {
		columns := execute(t, at, "select group_concat('ifnull(quote(\"' || column_name || '\"), ''NULL'')' order by ordinal_position separator ', '', '', ') from information_schema.columns where table_schema = database() and table_name = '"+name+"'")
		all += name + "\n" + execute(t, at, "select group_concat(concat("+columns+") order by concat("+columns+") separator '\n') from \""+name+"\"") + "\n"
	}
	return all
}
