package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const scanT = "select 1 from t not indexed where {scan}(id, x)"

func opened(t *testing.T, statements ...string) *DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.db")
	create(t, path, statements...)
	return open(t, path)
}

func TestScanValues(t *testing.T) {
	for _, encoding := range []string{"UTF-8", "UTF-16le", "UTF-16be"} {
		t.Run(encoding, func(t *testing.T) {
			db := opened(t, "pragma encoding='"+encoding+"'", "create table t(id integer primary key, x)",
				"insert into t(x) values('grüße 🙂'), (x'00ff'), (1.5), (-7), (null), (''), (x''), ('a' || char(0) || 'b')")
			var got []driver.Value
			ok(t, db.Scan(t.Context(), scanT, func(row []driver.Value) error {
				switch x := row[1].(type) {
				case string:
					got = append(got, strings.Clone(x))
				case []byte:
					got = append(got, append([]byte{}, x...))
				default:
					got = append(got, x)
				}
				return nil
			}))
			want := []driver.Value{"grüße 🙂", []byte{0, 255}, 1.5, int64(-7), nil, "", []byte{}, "a\x00b"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestScanArguments(t *testing.T) {
	db := opened(t, rows(10)...)
	var ids []int64
	ok(t, db.Scan(t.Context(), "select 1 from t where id between ? and ? and {scan}(id)", func(row []driver.Value) error {
		ids = append(ids, row[0].(int64))
		return nil
	}, 4, 6))
	if diff := cmp.Diff([]int64{4, 5, 6}, ids); diff != "" {
		t.Error(diff)
	}
}

func TestScanEndsWithCallbacksError(t *testing.T) {
	db, calls, mine := opened(t, rows(10)...), 0, errors.New("mine")
	stopAt3 := func([]driver.Value) error {
		if calls++; calls == 3 {
			return mine
		}
		return nil
	}
	if err := db.Scan(t.Context(), scanT, stopAt3); err != mine || calls != 3 {
		t.Errorf("%v after %d calls", err, calls)
	}
	calls = 0
	lost, err := db.ScanTable(t.Context(), "t", []string{"x"}, func(_ int64, row []driver.Value) error { return stopAt3(row) })
	if err != mine || calls != 3 || lost != nil {
		t.Errorf("%v, %v after %d calls", lost, err, calls)
	}
	if n := count(t, db); n != 10 {
		t.Errorf("%d rows afterwards", n)
	}
}

func TestScanPassesPanicOn(t *testing.T) {
	db := opened(t, rows(10)...)
	func() {
		defer func() {
			if p := recover(); p != "mine" {
				t.Errorf("recovered %v", p)
			}
		}()
		_ = db.Scan(t.Context(), scanT, func([]driver.Value) error { panic("mine") })
	}()
	if n := count(t, db); n != 10 {
		t.Errorf("%d rows afterwards", n)
	}
}

func TestScanEndsWithContext(t *testing.T) {
	db := opened(t, rows(100_000)...)
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	err := db.Scan(ctx, scanT, func([]driver.Value) error {
		if calls++; calls == 3 {
			cancel()
			<-ctx.Done()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || calls == 100_000 {
		t.Errorf("%v after %d calls", err, calls)
	}
	if n := count(t, db); n != 100_000 {
		t.Errorf("%d rows afterwards", n)
	}
}

func TestScanOfUnknownColumn(t *testing.T) {
	db := opened(t, rows(1)...)
	err := db.Scan(t.Context(), "select 1 from t where {scan}(missing)", func([]driver.Value) error { return nil })
	if err == nil || IsCorrupt(err) || !strings.Contains(err.Error(), "no such column: missing") {
		t.Error(err)
	}
}

// The schema of a database must not reach the function.
func TestScanFunctionIsClosedToSchemas(t *testing.T) {
	db := opened(t, append(rows(1), "create view v as select sessctl_scan(1, x) from t")...)
	if _, err := db.conn.ExecContext(t.Context(), "select * from v"); err == nil || !strings.Contains(err.Error(), "unsafe use") {
		t.Error(err)
	}
}

func TestScansOfSeveralDatabasesAtOnce(t *testing.T) {
	var group sync.WaitGroup
	for i := range 4 {
		db := opened(t, rows(1000*(i+1))...)
		group.Go(func() {
			for range 5 {
				n := 0
				err := db.Scan(t.Context(), scanT, func([]driver.Value) error { n++; return nil })
				if err != nil || n != 1000*(i+1) {
					t.Errorf("%d rows (%v), want %d", n, err, 1000*(i+1))
				}
			}
		})
	}
	group.Wait()
}
