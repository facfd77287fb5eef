package builder_test

import (
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/store/builder"
)

const file = `-- A file.

--- one makes a table
-- It has one column;
CREATE TABLE a (
	x TEXT -- kept
);
INSERT INTO a VALUES ('; ');

--- two
`

func TestSections(t *testing.T) {
	got := builder.ParseSections(file)
	want := []builder.Section{
		{Name: "one", About: "makes a table", Statements: []string{"CREATE TABLE a (\n\tx TEXT -- kept\n)", "INSERT INTO a VALUES ('; ')"}},
		{Name: "two"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, builder.ParseSections(strings.ReplaceAll(file, "\n", "\r\n"))); diff != "" {
		t.Errorf("with the line ends of Windows: %s", diff)
	}
	if diff := cmp.Diff(want[0].Statements, builder.StatementsOf(got, "two", "one")); diff != "" {
		t.Error(diff)
	}
}

// A file that cannot be written wholly is left without a table.
func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	schema := builder.StatementsOf(builder.ParseSections(file), "one")
	err := builder.Create(path, schema, func(db *builder.DB) { db.Insert("a", builder.Object{{"y", nil}}) })
	if err == nil || !strings.Contains(err.Error(), "no column named y") {
		t.Fatalf("error %v", err)
	}
	err = builder.Create(path, schema, func(db *builder.DB) { db.Insert("a", builder.Object{{"x", "v"}}) })
	if err != nil {
		t.Fatal(err)
	}
}

func TestStyle(t *testing.T) {
	value := builder.Object{{"a_name", "<é🙂>"}, {"list", builder.List{1.5, nil, builder.Object{}}}}
	for want, style := range map[string]builder.Style{
		`{"a_name":"<é🙂>","list":[1.5,null,{}]}`:                      {},
		`{"a_name": "<\u00e9\ud83d\ude42>", "list": [1.5, null, {}]}`: {Spaced: true},
		`{"aName":"\u003cé🙂\u003e","list":[1.5,null,{}]}`:             {HTML: true, Camel: true},
	} {
		if got := style.Text(value); got != want {
			t.Errorf("%+v: %s, want %s", style, got, want)
		}
	}
}

func TestUUID(t *testing.T) {
	version4 := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		if id := builder.UUID(rng); !version4.MatchString(id) {
			t.Errorf("%s is no UUID of version 4", id)
		}
	}
}
