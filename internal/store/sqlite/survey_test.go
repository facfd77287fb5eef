package sqlite

import (
	"database/sql/driver"
	"encoding/binary"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
)

func TestVarint(t *testing.T) {
	for _, test := range []struct {
		bytes []byte
		value int64
		n     int
	}{
		{[]byte{0x7f}, 127, 1}, {[]byte{0x81, 0x00}, 128, 2}, {[]byte{0x81}, 0, 0}, {nil, 0, 0},
		{[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, -1, 9}, {slices.Repeat([]byte{0x80}, 8), 0, 0},
	} {
		if value, n := readVarint(test.bytes); value != test.value || n != test.n {
			t.Errorf("%x: %d, %d bytes", test.bytes, value, n)
		}
	}
}

// What SQLite follows without an error, or without a word about what it passes over: every
// change of one number in a page is damage, and what is lost is in the ranges.
func TestSurveyOfOneNumber(t *testing.T) {
	leaf := func(s *sample) []byte { return s.page(s.pages["leaf"][20].number) }
	cellAt := func(page []byte, i int) int { return int(binary.BigEndian.Uint16(page[8+2*i:])) }
	tests := []struct {
		name   string
		damage func(s *sample)
		most   int64 // rows that may be called lost
	}{
		{"a pointer into another cell", func(s *sample) { leaf(s)[9+2*1] += 3 }, 3},
		{"a pointer to the next cell", func(s *sample) { p := leaf(s); copy(p[8+2:10+2], p[8+4:10+4]) }, 3},
		{"two pointers that changed places", func(s *sample) {
			p := leaf(s)
			a, b := slices.Clone(p[10:12]), slices.Clone(p[12:14])
			copy(p[10:], b)
			copy(p[12:], a)
		}, 3},
		{"fewer cells", func(s *sample) { leaf(s)[4]-- }, 3},
		{"more cells", func(s *sample) { leaf(s)[4]++ }, 3},
		{"one column more", func(s *sample) { p := leaf(s); p[cellAt(p, 1)+2]++ }, 3},
		{"a text that is longer", func(s *sample) { p := leaf(s); p[cellAt(p, 1)+4] += 2 }, 3},
		{"a row that is longer", func(s *sample) { p := leaf(s); p[cellAt(p, 1)]++ }, 3},
		{"a rowid that falls", func(s *sample) { p := leaf(s); p[cellAt(p, 1)+1] ^= 0x04 }, 3},
		{"two pages that changed places", func(s *sample) {
			a, b := leaf(s), s.page(s.pages["leaf"][40].number)
			c := slices.Clone(a)
			copy(a, b)
			copy(b, c)
		}, 20},
		{"a chain that is another's", func(s *sample) {
			copy(s.page(s.pages["overflow"][0].number), []byte{0, 0, 0, byte(s.pages["leaf"][3].number)})
		}, 1},
		{"an inner page with fewer children", func(s *sample) { s.page(s.pages["internal"][2].number)[4]-- }, 1000},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSample(t)
			test.damage(s)
			ok(t, os.WriteFile(s.path, s.content, 0o600))
			db := open(t, s.path)
			defer func() { ok(t, db.Close()) }()
			got := map[int64]bool{}
			lost, err := db.ScanTable(t.Context(), "t", []string{"id", "x"}, func(rowid int64, row []driver.Value) error {
				if x, is := row[1].(string); row[0] != rowid || !is || !strings.HasPrefix(x, "row ") {
					t.Errorf("row %d is %v", rowid, row)
				}
				got[rowid] = true
				return nil
			})
			ok(t, err)
			if len(lost) == 0 {
				t.Fatal("nothing is told")
			}
			var most int64
			for _, r := range lost {
				most += r.Most
			}
			if most > test.most {
				t.Errorf("%d rows are called lost: %v", most, lost)
			}
			for id := int64(1); id <= 1000; id++ {
				if !got[id] && !slices.ContainsFunc(lost, func(r Range) bool { return r.From <= id && id <= r.To }) {
					t.Errorf("row %d is gone, and only %v are told", id, lost)
				}
			}
		})
	}
}

// A header byte that hides no row is damage all the same.
func TestSurveyOfBookkeeping(t *testing.T) {
	s := newSample(t)
	s.page(s.pages["leaf"][20].number)[7]++ // fragments
	if lost := s.scan(t); len(lost) != 1 || lost[0].Most > 1 {
		t.Errorf("%v", lost)
	}
}

// scan is what ScanTable says to be lost.
func (s *sample) scan(t *testing.T) []Range {
	t.Helper()
	ok(t, os.WriteFile(s.path, s.content, 0o600))
	db := open(t, s.path)
	defer func() { ok(t, db.Close()) }()
	lost, err := db.ScanTable(t.Context(), "t", nil, func(int64, []driver.Value) error { return nil })
	ok(t, err)
	return lost
}

// Whatever a table went through: a survey finds nothing wrong, in the file and through SQLite.
func TestSurveySound(t *testing.T) {
	long := "hex(zeroblob(40000))"
	histories := map[string][]string{
		"empty":       {"create table t(id integer primary key, x)"},
		"columns":     append(rows(500), "alter table t add column y", "insert into t(x, y) values('a', 1.5)", "alter table t add column z default 7", "update t set z = 8 where id % 3 = 0"),
		"deleted":     append(rows(2000), "delete from t where id % 7 < 5", "update t set x = x || x where id % 2", "insert into t(x) values('new')"),
		"long":        append(rows(50), "update t set x = "+long+" where id % 5 = 0", "delete from t where id = 10", "update t set x = 'short' where id = 20"),
		"edges":       {"create table t(id integer primary key, x)", "insert into t values(-9223372036854775808, 1), (-5, 2), (0, null), (9223372036854775807, '')"},
		"virtual":     {"create table t(id integer primary key, x, y as (x + 1), z as (x + 2) stored)", "insert into t(x) values(1), (2)"},
		"dropped":     append(rows(300), "alter table t add column y default 'abc'", "update t set y = 1", "alter table t drop column x"),
		"auto vacuum": append([]string{"pragma auto_vacuum = full"}, append(rows(3000), "delete from t where id > 100 and id < 2800")...),
		"big pages":   append([]string{"pragma page_size = 65536"}, rows(3000)...),
		"UTF-16":      append([]string{"pragma encoding = 'UTF-16'"}, rows(300)...),
	}
	for name, statements := range histories {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			create(t, path, statements...)
			db := open(t, path)
			defer func() { ok(t, db.Close()) }()
			for _, raw := range []bool{true, false} {
				if db.raw = nil; raw {
					db.raw = db.handle
				}
				s, err := db.surveyPages(t.Context(), "t", true)
				ok(t, err)
				if s.damaged {
					t.Errorf("raw %t: %v", raw, s.lost)
				}
				var want []int64
				ok(t, db.Scan(t.Context(), "select 1 from t not indexed where {scan}(id)", func(row []driver.Value) error {
					want = append(want, row[0].(int64))
					return nil
				}))
				if diff := cmp.Diff(want, s.rows); diff != "" {
					t.Errorf("raw %t: %s", raw, diff)
				}
			}
		})
	}
}

// Databases of real programs, of which SQLite itself says that they are whole.
func TestSurveyOfRecordedDatabases(t *testing.T) {
	const corpus = "../../../../shared/corpus"
	if _, err := os.Stat(corpus); err != nil {
		t.Skip("there are no recorded databases here: ", err)
	}
	files, tables := 0, 0
	ok(t, filepath.WalkDir(corpus, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".db", ".sqlite"}, filepath.Ext(path)) {
			return err
		}
		db, err := Open(t.Context(), path, Options{})
		if err != nil {
			return nil
		}
		defer func() { ok(t, db.Close()) }()
		if deep, err := db.checkIntegrity(t.Context()); err != nil || slices.ContainsFunc(deep, isStoreDamaged) {
			return err
		}
		files++
		names, err := db.ordinaryTables(t.Context())
		ok(t, err)
		for _, name := range names {
			s, err := db.surveyPages(t.Context(), name, true)
			ok(t, err)
			if tables++; s.damaged {
				t.Errorf("%s, %s: %v", path, name, s.lost)
			}
		}
		return nil
	}))
	t.Logf("%d databases, %d tables", files, tables)
	if files == 0 {
		t.Error("no database could be read")
	}
}

func TestRangesAreMerged(t *testing.T) {
	s := survey{damaged: true, rows: []int64{1, 2, 3, 10, 11, 20}, lost: []Range{
		{From: 4, To: 9}, {From: 12, To: 19, Most: 2}, {From: 21, To: math.MaxInt64}, {From: 2, To: 2, Most: 1, Torn: true}, {From: 11, To: 11, Most: 1, Torn: true},
	}}
	want := []Range{
		{From: 1, To: 2, Most: 2, Refused: true}, {From: 4, To: 9, Most: 6}, {From: 11, To: 11, Most: 1, Refused: true}, {From: 12, To: 19, Most: 2},
		{From: 21, To: 25, Most: 5},
	}
	if diff := cmp.Diff(want, s.lostRanges([]int64{1, 2, 11}, 25)); diff != "" {
		t.Error(diff)
	}
}

func isStoreDamaged(f session.Fault) bool { return f.Kind == session.StoreDamaged }
