package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
)

func TestDeepSound(t *testing.T) {
	faults, err := opened(t, rows(100)...).FindDeepFaults(t.Context())
	if faults != nil || err != nil {
		t.Errorf("%v, %v", faults, err)
	}
}

// TestDeepBeside: beside other reading it finds the same.
func TestDeepBeside(t *testing.T) {
	s := newSample(t)
	clear(s.page(s.pages["leaf"][20].number))
	ok(t, os.WriteFile(s.path, s.content, 0o600))
	db := open(t, s.path)
	want, err := db.FindDeepFaults(t.Context())
	ok(t, err)
	result, err := db.BeginDeep(t.Context())
	ok(t, err)
	_, err = db.ScanTable(t.Context(), "t", []string{"x"}, func(int64, []driver.Value) error { return nil })
	ok(t, err)
	got, err := result()
	ok(t, err)
	if diff := cmp.Diff(want, got); diff != "" || want == nil {
		t.Error(diff)
	}
}

func TestDeepStructure(t *testing.T) {
	s := newSample(t)
	clear(s.page(s.pages["leaf"][20].number))
	ok(t, os.WriteFile(s.path, s.content, 0o600))
	faults, err := open(t, s.path).FindDeepFaults(t.Context())
	ok(t, err)
	if len(faults) == 0 {
		t.Fatal("no fault")
	}
	for _, f := range faults {
		if f.Kind != session.StoreDamaged || f.Item != -1 || strings.Contains(f.Detail, "***") {
			t.Errorf("%+v", f)
		}
	}
}

// TestTheStructureNamesTheFault: the lines are those of integrity_check.
func TestTheStructureNamesTheFault(t *testing.T) {
	found := structureFaults{structures: map[string]structure{"5": {name: "session_items", table: true}}}
	for line, want := range map[string]string{
		"wrong # of entries in index idx_2":                    "idx_2",
		"row 17 missing from index idx_2":                      "idx_2",
		"Tree 5 page 7: btreeInitPage() returns error code 11": "session_items",
		"Tree 6 page 7 cell 0: Rowid 3 out of order":           "Tree page cell : Rowid out of order",
		"Page 9: never used":                                   "Page : never used",
		"NULL value in session_items.position":                 "NULL value in session_items.position",
	} {
		if got := found.structureOf(line).name; got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

// What is damaged, and what can be done about it, depends on the lines; those of one structure
// are one fault.
func TestDeepWords(t *testing.T) {
	found := structureFaults{structures: map[string]structure{"5": {name: "session_items", table: true}, "6": {name: "idx_1", index: true}}}
	for _, line := range []string{
		"*** in database main ***", "Tree 5 page 7 cell 3: Rowid 3 out of order", "Tree 5 page 9: btreeInitPage() returns error code 11",
		"Tree 6 page 8 cell 0: Offset 9 out of range", "wrong # of entries in index idx_2", "Page 9: never used",
		"NULL value in session_items.position", "CHECK constraint failed in t", "ok",
	} {
		found.addLine(line)
	}
	var got strings.Builder
	for _, f := range found.listFaults() {
		fmt.Fprintf(&got, "%t %d %s %t\n", f.Kind == session.StoreDamaged, f.Count, f.Detail, strings.Contains(f.Remedy, "REINDEX"))
	}
	want := `true 2 the pages of session_items are damaged: Tree 5 page 7 cell 3: Rowid 3 out of order, and 1 more line of integrity_check false
true 1 the index idx_1 does not match its table (Tree 6 page 8 cell 0: Offset 9 out of range): programs that use it miss rows (sessctl reads without it) true
true 1 the index idx_2 does not match its table (wrong # of entries in index idx_2): programs that use it miss rows (sessctl reads without it) true
true 1 the structure of the file is damaged: Page 9: never used false
false 1 some rows do not match the definition of their table: NULL value in session_items.position false
false 1 some rows do not match the definition of their table: CHECK constraint failed in t false
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}

// Rows that lack in an index are damage that quick_check does not see; a value that
// should not be NULL is none.
func TestDeepIndexesAndNulls(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	redefine := func(name, sql string) []string {
		return []string{"pragma writable_schema = 1", "update sqlite_schema set sql = '" + sql + "' where name = '" + name + "'"}
	}
	create(t, path, append([]string{
		"create table t(id integer primary key, x)", "create index i on t(x)", "create table other(y, z)",
		"insert into t values(1, 'a'), (2, 'b')", "insert into other values(null, 1)",
	}, redefine("i", "CREATE INDEX i on t(x) WHERE x IS NULL")...)...)
	create(t, path, append(append([]string{"insert into t values(3, 'c')"}, redefine("i", "CREATE INDEX i on t(x)")...),
		redefine("other", "CREATE TABLE other(y not null, z)")...)...)
	faults, err := open(t, path).FindDeepFaults(t.Context())
	ok(t, err)
	var damage, rest []string
	for _, f := range faults {
		if f.Kind == session.StoreDamaged {
			damage = append(damage, f.Detail)
		} else {
			rest = append(rest, f.Detail)
		}
	}
	if len(damage) != 1 || !strings.Contains(damage[0], "index i does not match") || len(rest) != 1 {
		t.Errorf("damage %q, rest %q", damage, rest)
	}
}

func TestDeepForeignKeys(t *testing.T) {
	db := opened(t, "create table parent(id integer primary key)", "create table child(id integer primary key, p references parent)",
		"create table keyed(k text primary key, p references parent) without rowid",
		"insert into child values(4, null), (5, 77)", "insert into keyed values('a', 78)")
	faults, err := db.FindDeepFaults(t.Context())
	ok(t, err)
	slices.SortFunc(faults, func(a, b session.Fault) int { return strings.Compare(a.Ref.Table, b.Ref.Table) })
	want := []session.Fault{
		{Kind: session.ForeignKey, Item: -1, Deep: true, Ref: session.Ref{Table: "child", Key: "5"}, Detail: "points to a row of parent that does not exist"},
		{Kind: session.ForeignKey, Item: -1, Deep: true, Ref: session.Ref{Table: "keyed"}, Detail: "points to a row of parent that does not exist"},
	}
	if diff := cmp.Diff(want, faults); diff != "" {
		t.Error(diff)
	}
}

func TestDeepForeignKeyMismatch(t *testing.T) {
	db := opened(t, "create table parent(x)", "create table child(p references parent(x))", "insert into child values(1)")
	faults, err := db.FindDeepFaults(t.Context())
	ok(t, err)
	faultIs(t, faults, session.ForeignKey, "cannot be checked: SQL logic error: foreign key mismatch")
}

func TestDeepEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	db := opened(t, rows(100)...)
	cancel()
	if _, err := db.FindDeepFaults(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
