package sqlite

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
)

// randomTable is a database with a table t that went through a random history, and what it
// has that only SQLite reads.
type randomTable struct {
	*rand.Rand
	path    string
	columns []string
	odd     bool
}

func (r *randomTable) pick(list ...string) string { return list[r.IntN(len(list))] }

// hex are random bytes as digits.
func (r *randomTable) hex(size int) string {
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return hex.EncodeToString(data)
}

// value is an SQL expression of a random value.
func (r *randomTable) value() string {
	switch r.IntN(12) {
	case 0:
		return "null"
	case 1:
		return r.pick("0", "1", "-1", "127", "-128", "32768", "-8388608", "2147483648", "140737488355328", "9223372036854775807", "-9223372036854775808")
	case 2:
		return fmt.Sprint(int64(r.Uint64()) >> r.IntN(64))
	case 3:
		return r.pick("0.0", "1.5", "-0.0", "3.0", "1e300", "9e999", "-9e999", "4503599627370497.0", "'12'", "'1.0'", "''", "x''")
	case 4:
		return fmt.Sprint(r.NormFloat64() * 1000)
	case 5:
		return "x'" + r.hex(r.IntN(300)) + "'"
	case 6, 7: // overflows
		return "'" + r.hex(r.IntN(r.IntN(9000)+1)) + "'"
	case 8:
		return fmt.Sprintf("'%d ' || char(0, 233, 128578)", r.IntN(1000))
	}
	return fmt.Sprintf("'text %d'", r.IntN(100000))
}

// declared is a random column.
func (r *randomTable) declared(name string) string {
	return name + " " + r.pick("", "integer", "int", "real", "double precision", "FLOAT", "floating point", "text", "varchar(9)", "blob", "numeric", "boolean", "datetime", "real blob")
}

// newRandomTable makes one.
func newRandomTable(t testing.TB, random *rand.Rand) *randomTable {
	t.Helper()
	r := &randomTable{Rand: random, path: filepath.Join(t.TempDir(), "session.db")}
	size := 512 << r.IntN(8)
	first := []string{fmt.Sprint("pragma page_size=", size)}
	if r.IntN(6) == 0 {
		first, r.odd = append(first, "pragma auto_vacuum="+r.pick("1", "2")), true
	}
	if r.IntN(10) == 0 {
		first, r.odd = append(first, "pragma encoding='UTF-16'"), true
	}
	create(t, r.path, append(first, "create table gone(x)", "drop table gone", "vacuum")...)
	if reserved := r.IntN(33) * r.IntN(2); !r.odd && size > 512 && reserved > 0 {
		edit(t, r.path, func(b []byte) []byte {
			b[20] = byte(reserved)
			binary.BigEndian.PutUint16(b[105:], uint16(size-reserved))
			return b
		})
	}
	pool, err := sql.Open("sqlite", fileURI(r.path))
	ok(t, err)
	pool.SetMaxOpenConns(1)
	do := func(format string, args ...any) {
		t.Helper()
		_, err := pool.Exec(fmt.Sprintf(format, args...))
		ok(t, err)
	}
	r.columns = []string{"a", "b", `"c ""d"`}
	definition := []string{r.pick("a integer primary key", "a integer primary key", "a INTEGER primary key desc", "a integer", "a int primary key", "a text unique"),
		r.declared("b"), r.declared(r.columns[2])}
	switch r.IntN(10) {
	case 0:
		definition, r.odd = append(definition, "g as (b || 'x') stored"), true
	case 1: // it is in no row
		definition = slices.Insert(definition, 1, "g as (b || 'x')")
	}
	do("create table t(%s)", strings.Join(definition, ", "))
	do("create table other(x)")
	if r.IntN(2) == 0 {
		do("create index i on t(%s, b)", r.columns[2])
	}
	ids := 0
	insert := func() {
		ids++
		names, values := []string{"rowid"}, []string{fmt.Sprint(ids)}
		switch r.IntN(40) {
		case 0:
			values[0] = fmt.Sprint(int64(r.Uint64()))
		case 1:
			ids += r.IntN(1 << 20)
		}
		for _, c := range r.columns {
			if c != "a" && r.IntN(9) > 0 {
				names, values = append(names, c), append(values, r.value())
			}
		}
		_, _ = pool.Exec("insert or ignore into t(" + strings.Join(names, ", ") + ") values(" + strings.Join(values, ", ") + ")")
	}
	for range 1 + r.IntN(6) {
		for range r.IntN(150) * r.IntN(2) {
			insert()
		}
		switch r.IntN(9) {
		case 0:
			do("delete from t where rowid %% 7 < %d", r.IntN(8))
		case 1:
			do("update t set b = %s where rowid %% 3 = 0", r.value())
		case 2:
			name := fmt.Sprint("n", len(r.columns))
			do("alter table t add column %s default %s", r.declared(name), r.pick("null", "7", "1.5", "'abc'", "'9'", "x'00ff'", "-3", "true"))
			r.columns = append(r.columns, name)
		case 3:
			do("insert into other select %s from t limit 20", r.value())
		case 4:
			do("vacuum")
		case 5:
			if n := len(r.columns) - 1; n > 2 {
				do("alter table t drop column %s", r.columns[n])
				r.columns = r.columns[:n]
			}
		default:
			insert()
		}
	}
	ok(t, pool.Close())
	return r
}

// account is what a reading says of a table, as texts.
func (r *randomTable) account(t *testing.T, columns []string, compare bool) []string {
	t.Helper()
	db, err := Open(t.Context(), r.path, Options{})
	if err != nil {
		return nil
	}
	defer func() { ok(t, db.Close()) }()
	db.CompareIndexes = compare
	var all []string
	lost, err := db.ScanTable(t.Context(), "t", columns, func(rowid int64, row []driver.Value) error {
		all = append(all, fmt.Sprintf("%d %#v", rowid, row[:len(r.columns)]))
		return nil
	})
	faults, err2 := db.UnscannedFaults(t.Context())
	return append(all, fmt.Sprint(lost, err), fmt.Sprint(faults, err2))
}

// directly reports whether all rows were read without SQLite.
func (r *randomTable) directly(t *testing.T) bool {
	t.Helper()
	db := open(t, r.path)
	defer func() { ok(t, db.Close()) }()
	scan := tableScan{db: db, next: math.MinInt64, fn: func(int64, []driver.Value) error { return nil }}
	done, err := scan.scanPages(t.Context(), Selection{Table: "t", RowID: "rowid", Columns: QuotedAll([]string{"a", "b"})})
	ok(t, err)
	return done
}

// names are the columns as a reader asks for them, in any order, quoted or not, some of them twice.
func (r *randomTable) names() (names []string) {
	for range r.columns {
		c := r.columns[r.IntN(len(r.columns))]
		if c[0] != '"' && r.IntN(2) == 0 {
			c = Quoted(c)
		}
		names = append(names, c)
	}
	return names
}

// An expression is what only SQLite can read: with one, all of a table is read by it.
const expression = "1 + 1"

// Whatever a table went through: its rows are read as SQLite reads them, and what is said of
// a damaged one is what is said where SQLite reads it, and as much is handed over.
func TestDirectAsSQLite(t *testing.T) {
	for seed := range campaign.Rounds(150, 5000) {
		r := newRandomTable(t, rand.New(rand.NewPCG(uint64(seed), 1)))
		if r.directly(t) == r.odd {
			t.Fatalf("seed %d: read directly: %t", seed, !r.odd)
		}
		sound, err := os.ReadFile(r.path)
		ok(t, err)
		for damage := range 8 {
			columns := r.names()
			if diff := cmp.Diff(r.account(t, append(columns, expression), true), r.account(t, columns, true)); diff != "" {
				t.Fatalf("seed %d, with %d damaged bytes: %s", seed, damage, diff)
			}
			content := slices.Clone(sound)
			for range damage + 1 {
				at := 100 + r.IntN(len(content)-100)
				if size := 512; r.IntN(2) == 0 { // the beginnings of pages, where one byte says much
					at = max(100, at/size*size+r.IntN(24))
				}
				content[at] = byte(r.Uint32() >> r.IntN(24))
			}
			ok(t, os.WriteFile(r.path, content, 0o600))
		}
	}
}

// The same with bytes that a fuzzer changes: each change is three bytes of place and one of value.
func FuzzDirectAsSQLite(f *testing.F) {
	f.Add([]byte{0, 2, 0, 5, 0, 2, 4, 1})
	f.Add([]byte{0, 4, 9, 200})
	r := newRandomTable(f, rand.New(rand.NewPCG(3, 1)))
	sound, err := os.ReadFile(r.path)
	ok(f, err)
	f.Fuzz(func(t *testing.T, changes []byte) {
		r, content := *r, slices.Clone(sound)
		for ; len(changes) >= 4; changes = changes[4:] {
			content[100+int(binary.BigEndian.Uint32(changes)>>8)%(len(content)-100)] = changes[3]
		}
		r.path = filepath.Join(t.TempDir(), "session.db")
		ok(t, os.WriteFile(r.path, content, 0o600))
		columns := []string{"a", "b", r.columns[2]}
		r.columns = columns
		if diff := cmp.Diff(r.account(t, append(columns, expression), true), r.account(t, columns, true)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// A row that only SQLite can read, behind others: they come once, and so do those behind it.
func TestDirectEndsAtOddRow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	wide := make([]string, 900)
	for i := range wide {
		wide[i] = fmt.Sprint("c", i)
	}
	create(t, path, "pragma page_size=512", "create table t(id integer primary key, "+strings.Join(wide, ", ")+")",
		"with recursive n(i) as (select 1 union all select i+1 from n where i < 500) insert into t(id, c0) select i, i from n",
		"update t set c899 = 'its header goes on elsewhere' where id = 300")
	for _, columns := range [][]string{{`"id"`, `"c0"`}, {`"c899"`}} {
		db, want := open(t, path), int64(0)
		lost, err := db.ScanTable(t.Context(), "t", columns, func(rowid int64, row []driver.Value) error {
			if want++; rowid != want || columns[0] == `"id"` && row[0] != want || want == 300 && columns[0] == `"c899"` && row[0] != "its header goes on elsewhere" {
				t.Fatalf("row %d is %v", rowid, row)
			}
			return nil
		})
		ok(t, err)
		ok(t, db.Close())
		if lost != nil || want != 500 {
			t.Errorf("%d rows, lost %v", want, lost)
		}
	}
}

// What SQLite takes in its own way, and a survey finds nothing wrong with: a leaf beside pages
// that are none, of which the rows come in their turn, and a page without rows, which it refuses.
func TestDirectOfOddTree(t *testing.T) {
	below := func(page []byte) []byte { // the number of the page below the second cell
		at := binary.BigEndian.Uint16(page[14:])
		return page[at : at+4]
	}
	for name, change := range map[string]func(s *sample){
		"unbalanced": func(s *sample) {
			second := below(s.page(s.pages["internal"][0].number))
			copy(second, below(s.page(int(binary.BigEndian.Uint32(second)))))
		},
		"empty leaf": func(s *sample) {
			copy(s.page(s.pages["leaf"][20].number), []byte{leafPage, 0, 0, 0, 0, samplePage >> 8, 0, 0})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSample(t)
			change(s)
			ok(t, os.WriteFile(s.path, s.content, 0o600))
			var said [2][]string
			for i, columns := range [][]string{{"x"}, {"x", expression}} {
				lost, err := open(t, s.path).ScanTable(t.Context(), "t", columns, func(rowid int64, _ []driver.Value) error {
					said[i] = append(said[i], fmt.Sprint(rowid))
					return nil
				})
				said[i] = append(said[i], fmt.Sprint(lost, err))
			}
			if diff := cmp.Diff(said[1], said[0]); diff != "" || len(said[0]) < 100 {
				t.Errorf("%d rows: %s", len(said[0]), diff)
			}
		})
	}
}

// An error of the callback ends the reading, and is no damage.
func TestDirectEndsWithCallbacksError(t *testing.T) {
	db, mine, n := opened(t, rows(1000)...), errors.New("mine"), 0
	lost, err := db.ScanTable(t.Context(), "t", []string{`"x"`}, func(int64, []driver.Value) error {
		if n++; n == 700 {
			return mine
		}
		return nil
	})
	if lost != nil || err != mine || n != 700 {
		t.Errorf("%d rows, lost %v, %v", n, lost, err)
	}
}

// What is stored as no number is NULL, as SQLite has it, and only there is it a number.
func TestDirectOfNoNumber(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	create(t, path, "create table t(x real)", "insert into t values(9e999), (1.5)")
	edit(t, path, func(b []byte) []byte { return bytes.Replace(b, []byte{0x7f, 0xf0, 0}, []byte{0x7f, 0xf8, 0}, 1) })
	for _, more := range [][]string{nil, {expression}} {
		var got []driver.Value
		_, err := open(t, path).ScanTable(t.Context(), "t", append([]string{`"x"`}, more...), func(_ int64, row []driver.Value) error {
			got = append(got, row[0])
			return nil
		})
		ok(t, err)
		if diff := cmp.Diff([]driver.Value{nil, 1.5}, got); diff != "" {
			t.Error(diff)
		}
	}
}

// A writer that comes while rows are read is held off by the lock, or else it is said that the
// file changed.
func TestDirectBesideWriter(t *testing.T) {
	for mode, lets := range map[string]bool{"wal": true, "delete": false} {
		t.Run(mode, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			create(t, path, append([]string{"pragma page_size=512", "pragma journal_mode=" + mode}, rows(5000)...)...)
			db, n := open(t, path), 0
			if db.raw == nil {
				t.Fatal("the pages are not read directly")
			}
			_, err := db.ScanTable(t.Context(), "t", []string{`"id"`}, func(int64, []driver.Value) error {
				if n++; n%2000 != 1 {
					return nil
				}
				writer := exec.Command(os.Args[0], fileURI(path), "insert into t(x) values('new')", "delete from t where id % 3 = 0", "vacuum", "pragma wal_checkpoint(truncate)")
				writer.Env = append(os.Environ(), childVar+"="+childSQL)
				if said, err := writer.Output(); (err == nil) != lets {
					t.Errorf("the writer says %s (%v)", said, err)
				}
				return nil
			})
			if change := db.Changed(); (change != "") != lets {
				t.Errorf("changed: %q", change)
			}
			if !lets && (n != 5000 || err != nil) {
				t.Errorf("%d rows, %v", n, err)
			}
		})
	}
}

// A change that leaves the file with its size and its times is one.
func TestChangedByTheHeader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	create(t, path, walRows(10)...)
	db := open(t, path)
	info, err := os.Stat(path)
	ok(t, err)
	edit(t, path, func(b []byte) []byte { b[27]++; return b })
	ok(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	if db.Changed() == "" {
		t.Error("nothing is said of it")
	}
}
