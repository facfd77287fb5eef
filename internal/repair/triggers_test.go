package repair_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// effects are what somebody's trigger does; TABLE is a table of the store, ROW the row
// that set it off, old or new.
var effects = []string{
	"update TABLE set rowid = rowid + 1000 where rowid = (select max(rowid) from TABLE)",
	"update TABLE set rowid = rowid",
	"update TABLE set rowid = rowid where rowid = ROW.rowid",
	"delete from TABLE where rowid = (select max(rowid) from TABLE)",
	"insert into beside values (ROW.rowid)",
	"delete from beside",
	"delete from beside where x = -1", // nothing
	"update sqlite_sequence set seq = seq + 10",
	"select raise(ignore)",
	"select raise(abort, 'no')",
	"select 1",
}

// TestWhatUndoCannotTakeBackIsNotDone: whatever triggers, keys that act, unique indexes
// and generated columns a database has, a repair of each kind of store can be undone to
// the last value, or is not made.
func TestWhatUndoCannotTakeBackIsNotDone(t *testing.T) {
	for _, kind := range slices.Sorted(maps.Keys(oddStores)) {
		t.Run(kind, func(t *testing.T) {
			campaign.Checks(t, 40, 3000)
			folder, n := t.TempDir(), 0
			rapid.Check(t, func(t *rapid.T) {
				n++
				path := filepath.Join(folder, fmt.Sprint(n, ".db"))
				defer removeAll(path)
				oddStores[kind](t, path)
				addRules(t, path)
				before := storetest.Dump(t, path)
				plan, receipt, err := repairtest.Repair(path)
				if err != nil && problem.ClassOf(err) != problem.RolledBack && problem.ClassOf(err) != problem.Unreadable {
					t.Fatalf("%v\n%s", err, toldOf(plan))
				}
				if receipt != nil {
					if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
						t.Fatalf("undo: %v\n%s", err, toldOf(plan))
					}
				}
				if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
					t.Fatalf("after the undo: %s", diff)
				}
			})
		})
	}
}

// addRules gives a database rules that its runtime does not make.
func addRules(t *rapid.T, path string) {
	db := openPlain(t, path)
	defer func() { _ = db.Close() }()
	var tables []string
	for _, r := range rowsOf(t, db, "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name not like '%migrations%' order by 1") {
		tables = append(tables, r[0].(string))
	}
	table := func(label string) string { return rapid.SampledFrom(tables).Draw(t, label) }
	statements := []string{"create table beside(x)", "insert into beside values (1)"}
	for i := range rapid.IntRange(0, 2).Draw(t, "triggers") {
		event, row := rapid.SampledFrom([]string{"insert", "update", "delete"}).Draw(t, "event"), "new"
		if event == "delete" {
			row = "old"
		}
		effect := strings.NewReplacer("TABLE", fmt.Sprintf("%q", table("changed")), "ROW", row).Replace(rapid.SampledFrom(effects).Draw(t, "effect"))
		statements = append(statements, fmt.Sprintf("create trigger tr%d %s %s on %q begin %s; end", i,
			rapid.SampledFrom([]string{"before", "after"}).Draw(t, "when"), event, table("table"), effect))
	}
	if rapid.Bool().Draw(t, "generated column") {
		statements = append(statements, fmt.Sprintf("alter table %q add column made as (1 + 1)", table("table")))
	}
	if of := table("table"); rapid.Bool().Draw(t, "acting key") {
		column := rowsOf(t, db, fmt.Sprintf("select name from pragma_table_info(%q) order by pk = 0, cid limit 1", of))[0][0]
		statements = append(statements,
			fmt.Sprintf("create table dependent(of references %q(%q) on delete %s on update cascade)", of, column,
				rapid.SampledFrom([]string{"cascade", "set null", "set default", "restrict", "no action"}).Draw(t, "action")),
			fmt.Sprintf("insert into dependent select %q from %q", column, of))
	}
	if rapid.Bool().Draw(t, "unique index") {
		of := table("table")
		statements = append(statements, fmt.Sprintf("create unique index only on %q(%s)", of, uniqueOf(t, path, of)))
	}
	for _, statement := range statements {
		spoilt(t, db, statement)
	}
}

// uniqueOf are two columns of a table.
func uniqueOf(t *rapid.T, path, table string) string {
	db := openPlain(t, path)
	defer func() { _ = db.Close() }()
	var columns []string
	for _, r := range rowsOf(t, db, fmt.Sprintf("select name from pragma_table_info(%q)", table)) {
		columns = append(columns, fmt.Sprintf("%q", r[0]))
	}
	some := rapid.Permutation(columns).Draw(t, "columns")
	return strings.Join(some[:min(2, len(some))], ", ")
}
