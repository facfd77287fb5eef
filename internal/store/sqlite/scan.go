package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	modernc "modernc.org/sqlite"
)

// scanFunction is the SQL function that hands rows to Go. Arguments of a
// function are the only values that the driver passes without copying them.
const scanFunction = "sessctl_scan"

// scans holds the running scans: the driver's functions belong to the process,
// so the first argument of a call says which scan it belongs to.
var (
	scans    sync.Map // int64 → *scan
	nextScan atomic.Int64
)

var registerScan = sync.OnceValue(func() error {
	return modernc.RegisterFunction(scanFunction, &modernc.FunctionImpl{
		NArgs:        -1,
		VolatileArgs: true,
		Scalar: func(_ *modernc.FunctionContext, args []driver.Value) (driver.Value, error) {
			return callScan(args)
		},
	})
})

// scan is one running Scan.
type scan struct {
	fn       func(row []driver.Value) error
	err      error // of fn
	panicked any   // by fn
}

var errStop = errors.New("scan stopped")

func callScan(args []driver.Value) (driver.Value, error) {
	if len(args) == 0 {
		return nil, errStop
	}
	s, ok := scans.Load(args[0])
	if !ok {
		return nil, errStop
	}
	return int64(0), s.(*scan).row(args[1:])
}

// row hands one row to fn. A panic must not pass through SQLite, which would
// keep its locks, so it is carried around it.
func (s *scan) row(args []driver.Value) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.panicked, err = p, errStop
		}
	}()
	if s.err = s.fn(args); s.err != nil {
		return errStop
	}
	return nil
}

// Scan hands the rows of a query to fn without copying their values. The query
// contains {scan} where a condition may stand, applied to the values that fn
// gets:
//
//	select 1 from session_items not indexed where {scan}(id, message_json)
//
// The condition is false, so no row comes out of the query. Rows come in the
// order in which SQLite visits them, which `not indexed` makes the order of
// rowids; an `order by` may be applied later and is no help. fn's values are
// int64, float64, string, []byte or nil, and texts are UTF-8 whatever the
// encoding of the database; strings and byte slices are only valid until fn
// returns, and fn must not use db. An error of fn ends the scan and is
// returned as it is.
func (db *DB) Scan(ctx context.Context, query string, fn func(row []driver.Value) error, args ...any) error {
	slot := nextScan.Add(1)
	s := &scan{fn: fn}
	scans.Store(slot, s)
	defer scans.Delete(slot)

	call := scanFunction + "(" + strconv.FormatInt(slot, 10) + ", "
	rows, err := db.Query(ctx, strings.Replace(query, "{scan}(", call, 1), args...)
	if err == nil {
		rows.Next()
		err = errors.Join(rows.Err(), rows.Close())
	}
	if s.panicked != nil {
		panic(s.panicked)
	}
	if s.err != nil {
		return s.err
	}
	return err
}
