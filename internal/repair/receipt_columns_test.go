package repair_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// TestUndoSeesEveryColumn changes, after a repair, one column after the other of the
// rows that the repair wrote: an undo that did not notice would lose the change or
// leave a mixture, and say that all is as before.
func TestUndoSeesEveryColumn(t *testing.T) {
	for name, build := range damagedStores {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			build(t, path)
			_, receipt, err := repairtest.Repair(path, "split")
			if err != nil {
				t.Fatal(err)
			}
			repaired, err1 := os.ReadFile(path)
			sealed, err2 := os.ReadFile(receipt.Path())
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			columns := 0
			rows := writtenRows(t, string(sealed))
			for _, table := range slices.Sorted(maps.Keys(rows)) {
				plain := openPlain(t, path)
				names := rowsOf(t, plain, "select name, pk from pragma_table_info('"+table+"')")
				_ = plain.Close()
				for _, column := range names {
					if err := os.WriteFile(path, repaired, 0o600); err != nil {
						t.Fatal(err)
					}
					db := openPlain(t, path)
					_, err := db.Exec(fmt.Sprintf("update %q set %q = case when typeof(%[2]q) = 'integer' then %[2]q + 1000 else 'other' end where rowid = %d", table, column[0], rows[table]))
					_ = db.Close()
					if err != nil {
						t.Fatal(table, column, err)
					}
					before := strings.Join(storetest.Dump(t, path), "\n")
					n, err := repairtest.Undo(path, receipt.Path())
					if problem.ClassOf(err) != problem.Busy || n != 0 {
						t.Errorf("%s.%s: undo of %d sessions, %v", table, column[0], n, err)
					}
					if strings.Join(storetest.Dump(t, path), "\n") != before {
						t.Errorf("%s.%s: something was changed", table, column[0])
					}
					columns++
				}
			}
			t.Logf("%d columns of %d tables", columns, len(rows))
			if len(rows) == 0 {
				t.Errorf("the repair writes nothing")
			}
		})
	}
}

// writtenRows is for each table a row that a repair changed or added.
func writtenRows(t *testing.T, receipt string) map[string]int64 {
	t.Helper()
	rows := map[string]int64{}
	for line := range strings.Lines(receipt) {
		var batch struct {
			Journal []struct {
				Table string
				Row   int64
				After json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(line), &batch); err != nil {
			t.Fatal(err)
		}
		for _, c := range batch.Journal {
			if c.Table != "sqlite_sequence" && string(c.After) != "null" {
				rows[c.Table] = c.Row
			}
		}
	}
	return rows
}
