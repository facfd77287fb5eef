package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/problem"
)

// sample is a database for damaging pages: 1,000 rows in table t.
type sample struct {
	path    string
	content []byte
	pages   map[string][]statPage // of t, by kind, in the order of the tree
}

type statPage struct{ number, cells int }

const samplePage = 512

func newSample(t *testing.T) *sample {
	t.Helper()
	s := &sample{path: filepath.Join(t.TempDir(), "session.db"), pages: map[string][]statPage{}}
	create(t, s.path, append([]string{"pragma page_size=512"}, append(rows(1000),
		"update t set x = 'row 500' || hex(zeroblob(2000)) where id = 500", // overflows
		"create table other(x)", "insert into other select x from t limit 100", "vacuum")...)...)
	db := open(t, s.path)
	list, err := db.Query(t.Context(), "select pagetype, pageno, ncell from dbstat where name = 't' order by path")
	ok(t, err)
	for list.Next() {
		var kind string
		var p statPage
		ok(t, list.Scan(&kind, &p.number, &p.cells))
		s.pages[kind] = append(s.pages[kind], p)
	}
	ok(t, list.Err())
	ok(t, db.Close())
	s.content, err = os.ReadFile(s.path)
	ok(t, err)
	return s
}

// page is the content of a page, counted from 1.
func (s *sample) page(n int) []byte { return s.content[(n-1)*samplePage : n*samplePage] }

// read scans the table, and checks that the rows come in order, unharmed, and
// that every row is either handed over or lost.
func (s *sample) read(t *testing.T) []Range {
	t.Helper()
	ok(t, os.WriteFile(s.path, s.content, 0o600))
	db := open(t, s.path)
	var got []int64
	lost, err := db.ScanTable(t.Context(), "t", []string{"id", "x"}, func(rowid int64, row []driver.Value) error {
		if x, is := row[1].(string); row[0] != rowid || !is || !strings.HasPrefix(x, "row ") {
			t.Errorf("row %d is %v", rowid, row)
		}
		got = append(got, rowid)
		return nil
	})
	ok(t, err)
	ok(t, db.Close())
	if !slices.IsSorted(got) {
		t.Errorf("out of order: %v", got)
	}
	for id := int64(1); id <= 1000; id++ {
		_, handed := slices.BinarySearch(got, id)
		if gone := slices.ContainsFunc(lost, func(r Range) bool { return r.From <= id && id <= r.To }); handed == gone {
			t.Errorf("row %d: handed over %t, lost %t", id, handed, gone)
		}
	}
	return lost
}

func TestScanTableSound(t *testing.T) {
	if lost := newSample(t).read(t); lost != nil {
		t.Errorf("lost %v", lost)
	}
}

func TestScanTableDamagedLeaves(t *testing.T) {
	garbage := func(page []byte) {
		for i := range page {
			page[i] = byte(i*7 + 13)
		}
	}
	zero := func(page []byte) { clear(page) }
	last := len(newSample(t).pages["leaf"]) - 1
	tests := []struct {
		name   string
		leaves []int
		damage func([]byte)
	}{
		{"one zeroed", []int{20}, zero},
		{"one overwritten", []int{20}, garbage},
		{"cell count", []int{20}, func(page []byte) { page[3] = 0xff }},
		{"two neighbours", []int{20, 21}, zero},
		{"two with a sound one between", []int{20, 22}, zero},
		{"many with a sound one between", []int{20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 31, 32, 33, 34, 35}, zero},
		{"two far apart", []int{20, 90}, zero},
		{"first", []int{0}, zero},
		{"first two", []int{0, 1}, garbage},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, want := newSample(t), 0
			for _, i := range test.leaves {
				test.damage(s.page(s.pages["leaf"][i].number))
				want += s.pages["leaf"][i].cells
			}
			lost, n := s.read(t), 0
			for _, r := range lost {
				n += int(r.To - r.From + 1)
			}
			if n != want {
				t.Errorf("lost %v: %d rows, want %d", lost, n, want)
			}
		})
	}
	t.Run("last", func(t *testing.T) {
		s := newSample(t)
		p := s.pages["leaf"][last]
		clear(s.page(p.number))
		want := []Range{{From: int64(1001 - p.cells), To: math.MaxInt64}}
		if diff := cmp.Diff(want, s.read(t)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestScanTableDamagedTree(t *testing.T) {
	tests := []struct {
		name    string
		damage  func(s *sample)
		maximum int // of ranges
	}{
		{"interior page", func(s *sample) { clear(s.page(s.pages["internal"][2].number)) }, 1},
		{"page in two places", func(s *sample) {
			// The first child of an interior page takes the place of its third.
			page := s.page(s.pages["internal"][2].number)
			cell := func(i int) []byte { return page[int(page[12+2*i])<<8+int(page[13+2*i]):] }
			copy(cell(2)[:4], cell(0)[:4])
		}, 1},
		{"overflow page number", func(s *sample) { copy(s.page(s.pages["overflow"][0].number), "\xff\xff\xff\xff") }, 1},
		{"every leaf", func(s *sample) {
			for _, p := range s.pages["leaf"] {
				clear(s.page(p.number))
			}
		}, 1},
		{"every second leaf", func(s *sample) {
			for i := 1; i < len(s.pages["leaf"]); i += 2 {
				clear(s.page(s.pages["leaf"][i].number))
			}
		}, 1000},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSample(t)
			test.damage(s)
			if lost := s.read(t); len(lost) == 0 || len(lost) > test.maximum {
				t.Errorf("lost %v", lost)
			}
		})
	}
}

// Whatever bytes are wrong: opening ends, reading ends, and no row is handed
// over twice.
func TestScanTableRandomDamage(t *testing.T) {
	s := newSample(t)
	sound := slices.Clone(s.content)
	random := rand.New(rand.NewPCG(1, 2))
	for range campaign.Rounds(150, 3000) {
		copy(s.content, sound)
		for range 1 + random.IntN(20) {
			s.content[100+random.IntN(len(sound)-100)] = byte(random.Uint32())
		}
		ok(t, os.WriteFile(s.path, s.content, 0o600))
		db, err := Open(t.Context(), s.path, Options{})
		if err != nil {
			continue
		}
		last := int64(math.MinInt64)
		_, err = db.ScanTable(t.Context(), "t", []string{"x"}, func(rowid int64, _ []driver.Value) error {
			if rowid <= last {
				t.Errorf("row %d after row %d", rowid, last)
			}
			last = rowid
			return nil
		})
		// A damaged schema can have no such table, or make it one without rowids.
		if err != nil && !strings.Contains(err.Error(), "no such") && problem.ClassOf(err) != problem.Unreadable {
			t.Error(err)
		}
		_, err = db.FindDeepFaults(t.Context())
		ok(t, err)
		ok(t, db.Close())
	}
}

func TestScanTableEndsWithContext(t *testing.T) {
	db := opened(t, rows(100_000)...)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := db.ScanTable(ctx, "t", nil, func(int64, []driver.Value) error {
		cancel()
		<-ctx.Done()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestScanTableNames(t *testing.T) {
	db := opened(t, `create table "a ""b"" -- c"(x)`, `insert into "a ""b"" -- c" values(1), (2)`)
	n := 0
	lost, err := db.ScanTable(t.Context(), `a "b" -- c`, []string{"x", "x + 1"}, func(rowid int64, row []driver.Value) error {
		n++
		if diff := cmp.Diff([]driver.Value{rowid, rowid + 1}, row); diff != "" {
			t.Error(diff)
		}
		return nil
	})
	if n != 2 || lost != nil || err != nil {
		t.Errorf("%d rows, %v, %v", n, lost, err)
	}
}

func TestRangeFault(t *testing.T) {
	for want, r := range map[string]Range{
		"row 3 of t cannot be read: a page of the file is damaged":                  {From: 3, To: 3},
		"rows 3 to 5 of t cannot be read: a page of the file is damaged":            {From: 3, To: 5},
		"row 3 and all after it of t cannot be read: a page of the file is damaged": {From: 3, To: math.MaxInt64},
	} {
		if f := r.Fault("t"); f.Detail != want || f.Ref.Table != "t" || f.Item != -1 {
			t.Errorf("%+v", f)
		}
	}
}
