package sqlite

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// scanned are the rows of a selection, as texts, and what is lost.
func scanned(t *testing.T, r table.Reader, s table.Selection, most int) (rows []string, lost []session.Fault) {
	t.Helper()
	lost, err := r.Scan(t.Context(), s, func(at table.Place, row []table.Value) error {
		if len(rows) == most {
			return table.Enough
		}
		rows = append(rows, fmt.Sprint(at, row))
		return nil
	})
	ok(t, err)
	return rows, lost
}

func TestReaderScan(t *testing.T) {
	path := t.TempDir() + "/session.db"
	create(t, path, `create table "a ""b"(id text, "x y" text, n, primary key(id, "x y"))`,
		`insert into "a ""b" values('1', 'a', 1), ('1', 'b', 2.5), ('2', 'a', x'00'), ('3', null, null)`, `insert into "a ""b" values(x'31', 'a', 9)`)
	r := open(t, path).Reader()
	all := []string{"1 [1 a 1]", "2 [1 b 2.5]", "3 [2 a [0]]", "4 [3 <nil> <nil>]", "5 [[49] a 9]"}
	columns, key := []string{"id", "x y", "n"}, []string{"id", "x y"}
	for _, c := range []struct {
		name string
		s    table.Selection
		most int
		want []string
	}{
		{"all", table.Selection{}, -1, all},
		{"a glance", table.Selection{Glance: true}, -1, all},
		{"enough of one", table.Selection{Glance: true}, 2, all[:2]},
		{"enough", table.Selection{Key: key}, 1, all[:1]},
		{"by key", table.Selection{Key: key, Keys: [][]table.Value{{"1", "b"}, {"2", "a"}, {"9", "a"}}}, -1, all[1:3]},
		{"by a part of the key", table.Selection{Key: key[:1], Keys: [][]table.Value{{"1"}}}, -1, all[:2]},
		{"by no key", table.Selection{Key: key, Keys: [][]table.Value{}}, -1, nil},
		{"by one that is no text: others may come", table.Selection{Key: key, Keys: [][]table.Value{{[]byte("1"), "a"}}}, -1, all},
		{"by one that JSON cannot hold", table.Selection{Key: key[:1], Keys: [][]table.Value{{"\xff"}}}, -1, all},
	} {
		c.s.Table, c.s.Columns = `a "b`, columns
		rows, lost := scanned(t, r, c.s, c.most)
		if diff := cmp.Diff(c.want, rows); diff != "" || lost != nil {
			t.Errorf("%s: %s\nlost %v", c.name, diff, lost)
		}
	}
	var rows []string
	unread, err := r.Rows(t.Context(), `a "b`, columns[2:], []table.Place{4, 77, 1}, func(n int, row []table.Value) error {
		rows = append(rows, fmt.Sprint(n, row))
		return nil
	})
	ok(t, err)
	if diff := cmp.Diff([]string{"2 [1]", "0 [<nil>]"}, rows); diff != "" || !cmp.Equal(unread, []int{1}) {
		t.Errorf("%s\nunread %v", diff, unread)
	}
}

// Of a row whose long value lies on a damaged page the rest is handed over, if the key is.
func TestReaderSalvages(t *testing.T) {
	s := newSample(t)
	for _, p := range s.pages["overflow"] {
		clear(s.page(p.number))
	}
	ok(t, os.WriteFile(s.path, s.content, 0o600))
	r := open(t, s.path).Reader()
	for _, c := range []struct {
		name       string
		key        []string
		rows, lost int
	}{{"without a key", nil, 999, 1}, {"with one that can be read", []string{"id"}, 1000, 0}, {"with the damaged one", []string{"x"}, 999, 1}} {
		rows, lost := scanned(t, r, table.Selection{Table: "t", Columns: []string{"id", "x"}, Key: c.key}, -1)
		if len(rows) != c.rows || len(lost) != c.lost {
			t.Errorf("%s: %d rows, lost %v", c.name, len(rows), lost)
		}
		if c.lost == 0 && rows[len(rows)-1] != "500 [500 <nil>]" {
			t.Errorf("%s: the last row is %s", c.name, rows[len(rows)-1])
		}
	}
	if rows, lost := scanned(t, r, table.Selection{Table: "t", Columns: []string{"x"}, Glance: true}, -1); len(rows) != 499 || lost == nil {
		t.Errorf("a glance: %d rows, lost %v", len(rows), lost)
	}
}

func TestSchema(t *testing.T) {
	path := t.TempDir() + "/session.db"
	create(t, path, "create table s(id text primary key, n INT)", "create table e(seq integer primary key, id VARCHAR(9), s)",
		"create unique index one on e(s, id) where s > 1", "create index two on e(lower(id), s)", "create view v as select 1",
		"create trigger tr after insert on e begin delete from s; end")
	got, err := open(t, path).Reader().Schema(t.Context())
	ok(t, err)
	want := table.Schema{
		Tables: map[string]table.Table{
			"s": {
				Columns: []table.Column{{Name: "id", Type: "TEXT"}, {Name: "n", Type: "INT"}},
				Indexes: []table.Index{{Name: "sqlite_autoindex_s_1", Columns: []string{"id"}, Unique: true}},
			},
			"e": {
				Columns: []table.Column{{Name: "seq", Type: "INTEGER", Given: true}, {Name: "id", Type: "VARCHAR(9)"}, {Name: "s"}},
				Indexes: []table.Index{{Name: "two", Columns: []string{"", "s"}}, {Name: "one", Columns: []string{"s", "id"}, Unique: true, Partial: true}},
			},
		},
		Triggers: []session.Trigger{{Name: "tr", Table: "e", When: "after insert"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Rows that only a scan of all reaches, past the damage, are found again.
func TestReaderFindsRowsOutOfReach(t *testing.T) {
	path := t.TempDir() + "/session.db"
	create(t, path, "create table t(id integer primary key, x)",
		"with recursive n(i) as (select 1 union all select i+1 from n where i < 100) insert into t select i, printf('%0400d', i) from n")
	sound, err := os.ReadFile(path)
	ok(t, err)
	size := int(sound[16])<<8 | int(sound[17])
	for at := size; at < 3*size; at++ { // the page above all rows, and the first below it
		if at%size > 40 {
			continue
		}
		content := slices.Clone(sound)
		content[at] ^= 0x0b
		ok(t, os.WriteFile(path, content, 0o600))
		db, err := Open(t.Context(), path, Options{})
		if err != nil {
			continue
		}
		r := db.Reader()
		var places []table.Place
		_, err = r.Scan(t.Context(), table.Selection{Table: "t", Columns: []string{"x"}}, func(at table.Place, _ []table.Value) error {
			places = append(places, at)
			return nil
		})
		ok(t, err)
		unread, err := r.Rows(t.Context(), "t", []string{"x"}, places, func(int, []table.Value) error { return nil })
		if err != nil || unread != nil {
			t.Errorf("byte %d: of %d rows these are not found again: %v, %v", at, len(places), unread, err)
		}
		ok(t, db.Close())
	}
}
