package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDefinition(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	const table = `CREATE TABLE "t x"(a TEXT PRIMARY KEY, b INTEGER NOT NULL DEFAULT (1 + 1), c NOT NULL DEFAULT '', d AS (b * 2), e UNIQUE, f REFERENCES p, ` +
		`g, FOREIGN KEY (g, b) REFERENCES p(y, z) ON DELETE CASCADE)`
	create(t, path, table, "create table p(x primary key, y, z, unique (y, z))", `create unique index part on "t x"(c, abs(b)) where b > 0`,
		`create index plain on "t x"(c)`, "create table q(r references gone, s references P(x))")
	db := open(t, path)
	defer func() { _ = db.Close() }()
	got, err := db.Definition(t.Context(), "t x")
	ok(t, err)
	want := Definition{
		Columns: []Column{
			{Name: "a", Type: "TEXT", Key: true},
			{Name: "b", Type: "INTEGER", Default: "1 + 1", NotNull: true}, {Name: "c", Default: "''", NotNull: true},
			{Name: "d", Generated: true}, {Name: "e"}, {Name: "f"}, {Name: "g"},
		},
		Unique: []Index{{"part", []string{"c", "an expression"}}, {"sqlite_autoindex_t x_2", []string{"e"}}},
		SQL:    table,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
	keys, err := db.ForeignKeys(t.Context())
	ok(t, err)
	if diff := cmp.Diff([]ForeignKey{
		{"q", "P", []string{"s"}, []string{"x"}}, {"q", "gone", []string{"r"}, []string{""}},
		{"t x", "p", []string{"g", "b"}, []string{"y", "z"}}, {"t x", "p", []string{"f"}, []string{"x"}},
	}, keys); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
	if _, err := db.Definition(t.Context(), "none"); err == nil {
		t.Error("a table that is not there has a definition")
	}
}
