package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
)

func rollbackMode(t *testing.T, path string) { create(t, path, rows(500)...) }

func closedWAL(t *testing.T, path string) { create(t, path, walRows(500)...) }

func withLog(t *testing.T, path string) {
	create(t, path, walRows(500)...)
	killed(t, path, "insert into t select id+1000, x from t")
}

func cut(bytes int64) func(t *testing.T, path string) {
	return func(t *testing.T, path string) {
		info, err := os.Stat(path)
		ok(t, err)
		ok(t, os.Truncate(path, info.Size()-bytes))
	}
}

var lengths = []struct {
	name    string
	prepare func(t *testing.T, path string)
	damage  func(t *testing.T, path string)
	want    string
}{
	{"sound", closedWAL, nil, ""},
	{"sound, with -wal", withLog, nil, ""},
	{"sound, rollback mode", rollbackMode, nil, ""},
	{"last byte missing", closedWAL, cut(1), "1 of its 30 pages"},
	{"last page missing", closedWAL, cut(4096), "truncated: 1 of its 30 pages (4.1 kB) are missing"},
	{"last page missing, rollback mode", rollbackMode, cut(4096), "truncated: 1 of its 30 pages"},
	{"half missing", closedWAL, cut(16 * 4096), "truncated: 16 of its 30 pages (66 kB)"},
	{"pages missing, with -wal", withLog, cut(2 * 4096), "pages (4.1 kB) are missing"},
	{"a piece behind the end", closedWAL, cut(-100), "is incomplete: 3996 bytes are missing"},
	{"room behind the end", closedWAL, cut(-8 * 4096), ""},
	{"header that does not know the size", closedWAL, func(t *testing.T, path string) {
		edit(t, path, func(b []byte) []byte { b[31], b[95] = 7, b[95]+1; return b })
	}, ""},
	{"copied during use, without its -wal", closedWAL, func(t *testing.T, path string) {
		edit(t, path, func(b []byte) []byte { return append(b, b[4096:5*4096]...) })
	}, "longer than its header says (34 instead of 30 pages)"},
}

func TestFaultsOfLength(t *testing.T) {
	for _, test := range lengths {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "session.db")
			test.prepare(t, path)
			if test.damage != nil {
				test.damage(t, path)
			}
			before := folder(t, dir)
			db := open(t, path)
			if test.want == "" {
				faultIs(t, db.Faults(), 0, "")
				ok(t, db.Damaged())
			} else {
				faultIs(t, db.Faults(), session.StoreDamaged, test.want)
				if err := db.Damaged(); problem.ClassOf(err) != problem.Unreadable {
					t.Error(err)
				}
			}
			_, err := db.Columns(t.Context())
			ok(t, err)
			ok(t, db.Close())
			if after := folder(t, dir); after != before {
				t.Errorf("after:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}

// A live writer moves the end of the file; that is no damage.
func TestNoFaultsOfLengthBesideWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	process(t, path, append(walRows(500), "pragma wal_checkpoint", "delete from t where id > 10", "vacuum")...)
	faultIs(t, open(t, path).Faults(), 0, "")
}

func TestDamagedSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	create(t, path, append(rows(10), "create table good(a, b)", "pragma writable_schema=1",
		"update sqlite_schema set sql = 'create garbage' where name = 't'")...)
	db := open(t, path)
	faultIs(t, db.Faults(), session.StoreDamaged, "malformed database schema (t)")
	columns, err := db.Columns(t.Context())
	ok(t, err)
	if len(columns) != 1 || strings.Join(columns["good"], " ") != "a b" {
		t.Errorf("%v", columns)
	}
	if err := db.Damaged(); !strings.Contains(err.Error(), "malformed database schema (t)") {
		t.Error(err)
	}
}

func TestColumns(t *testing.T) {
	db := opened(t, "create table Plain(Id integer primary key, x text)", "create table keyed(k text primary key, v) without rowid",
		"create view v as select 1 as one", "create virtual table f using fts5(content)", "create index i on Plain(x)")
	columns, err := db.Columns(t.Context())
	ok(t, err)
	if strings.Join(columns["Plain"], " ") != "Id x" || strings.Join(columns["keyed"], " ") != "k v" || columns["v"] != nil || columns["f"] != nil {
		t.Errorf("%v", columns)
	}
}

func TestNothingLeftToRead(t *testing.T) {
	for _, test := range []struct {
		name   string
		damage func(b []byte) []byte
		want   string
	}{
		{"first page, damaged", func(b []byte) []byte { clear(b[100:4096]); return b[:4096] }, "the database is damaged"},
		{"first bytes", func(b []byte) []byte { return b[:200] }, "truncated: 30 of its 30 pages"},
		{"schema format", func(b []byte) []byte { b[47] = 9; return b }, "unsupported file format"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			create(t, path, walRows(500)...)
			edit(t, path, test.damage)
			_, err := Open(t.Context(), path, Options{})
			if problem.ClassOf(err) != problem.Unreadable || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestHousekeeping(t *testing.T) {
	t.Run("free pages", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "session.db")
		create(t, path, append(walRows(20_000), "delete from t where id > 100")...)
		faultIs(t, open(t, path).Faults(), session.Housekeeping, "MB in the file are free: close the runtime")
	})
	t.Run("few free pages", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "session.db")
		create(t, path, append(walRows(2_000), "delete from t where id > 100")...)
		faultIs(t, open(t, path).Faults(), session.Housekeeping, "")
	})
	t.Run("long -wal", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "session.db")
		killed(t, path, append(walRows(10), "pragma wal_autocheckpoint=0", "insert into t(x) values(zeroblob(70000000))")...)
		faultIs(t, open(t, path).Faults(), session.Housekeeping, "the -wal file has grown to 70 MB, beside a database of 4.1 kB")
	})
}
