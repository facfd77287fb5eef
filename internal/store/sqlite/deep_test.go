package sqlite

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
)

func TestDeepSound(t *testing.T) {
	faults, err := opened(t, rows(100)...).Deep(t.Context())
	if faults != nil || err != nil {
		t.Errorf("%v, %v", faults, err)
	}
}

func TestDeepStructure(t *testing.T) {
	s := newSample(t)
	clear(s.page(s.pages["leaf"][20].number))
	ok(t, os.WriteFile(s.path, s.content, 0o600))
	faults, err := open(t, s.path).Deep(t.Context())
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

// TestTheStructureNamesTheFault: the lines are those of quick_check.
func TestTheStructureNamesTheFault(t *testing.T) {
	structures := map[string]string{"5": "session_items"}
	for line, want := range map[string]string{
		"wrong # of entries in index idx_2":                    "idx_2",
		"row 17 missing from index idx_2":                      "idx_2",
		"Tree 5 page 7: btreeInitPage() returns error code 11": "session_items",
		"Tree 6 page 7 cell 0: Rowid 3 out of order":           "Tree page cell : Rowid out of order",
		"Page 9: never used":                                   "Page : never used",
		"NULL value in session_items.position":                 "NULL value in session_items.position",
	} {
		if got := structureOf(line, structures); got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

func TestDeepForeignKeys(t *testing.T) {
	db := opened(t, "create table parent(id integer primary key)", "create table child(id integer primary key, p references parent)",
		"create table keyed(k text primary key, p references parent) without rowid",
		"insert into child values(4, null), (5, 77)", "insert into keyed values('a', 78)")
	faults, err := db.Deep(t.Context())
	ok(t, err)
	slices.SortFunc(faults, func(a, b session.Fault) int { return strings.Compare(a.Ref.Table, b.Ref.Table) })
	want := []session.Fault{
		{Kind: session.ForeignKey, Item: -1, Ref: session.Ref{Table: "child", Key: "5"}, Detail: "points to a row of parent that does not exist"},
		{Kind: session.ForeignKey, Item: -1, Ref: session.Ref{Table: "keyed"}, Detail: "points to a row of parent that does not exist"},
	}
	if diff := cmp.Diff(want, faults); diff != "" {
		t.Error(diff)
	}
}

func TestDeepForeignKeyMismatch(t *testing.T) {
	db := opened(t, "create table parent(x)", "create table child(p references parent(x))", "insert into child values(1)")
	faults, err := db.Deep(t.Context())
	ok(t, err)
	faultIs(t, faults, session.ForeignKey, "cannot be tested: SQL logic error: foreign key mismatch")
}

func TestDeepEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	db := opened(t, rows(100)...)
	cancel()
	if _, err := db.Deep(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
