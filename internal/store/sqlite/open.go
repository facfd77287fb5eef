package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	modernc "modernc.org/sqlite"

	"github.com/sessctl/sessctl/internal/problem"
)

// Options are what a caller may choose about opening.
type Options struct {
	// BusyTimeout is how long to wait for a process that locks readers out,
	// 2 seconds when 0.
	BusyTimeout time.Duration
}

// Open opens the database at path for reading, in the way that changes
// nothing in its folder. Its errors are problems: Unreadable, or Busy when
// another process still locks readers out at the end of the timeout.
func Open(ctx context.Context, path string, opts Options) (*DB, error) {
	if opts.BusyTimeout == 0 {
		opts.BusyTimeout = 2 * time.Second
	}
	deadline := time.Now().Add(opts.BusyTimeout)
	for {
		// Every attempt looks at the files anew: a lock often ends with
		// the -wal or -journal gone.
		db, err := attempt(ctx, path)
		if problem.ClassOf(err) != problem.Busy || time.Now().After(deadline) {
			return db, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(25 * time.Millisecond):
		}
	}
}

func attempt(ctx context.Context, path string) (*DB, error) {
	handle, f, err := sniff(path)
	if err != nil {
		return nil, err
	}
	db := &DB{File: f, handle: handle, Writer: probe(handle, f), scanned: new(sync.Map)}
	err = db.open(ctx)
	if moved := f.replaced(); moved != nil { // SQLite may have opened either file
		_ = db.Close()
		return nil, moved
	}
	if err != nil {
		_ = db.Close()
		if now, lookErr := lookAt(f.real); lookErr == nil && codeOf(err) != 0 && !f.seen.sameFiles(now) {
			return nil, busy(path, db.Writer, err) // what was decided no longer fits
		}
		return nil, db.Explain(err)
	}
	return db, nil
}

func (db *DB) open(ctx context.Context) error {
	if db.Writer.exclusive {
		return busy(db.File.Path, db.Writer, nil)
	}
	if db.access = decide(db.File, db.Writer); db.access == immutable {
		db.raw = db.handle
	}
	err := db.connect(ctx, false)
	if IsCorrupt(err) {
		return db.salvage(ctx, err)
	}
	if err != nil {
		return err
	}
	return db.inspect(ctx)
}

// salvage opens a database that SQLite takes for damaged, for as much as can
// be read.
func (db *DB) salvage(ctx context.Context, cause error) error {
	if err := db.connect(ctx, true); err != nil {
		return cause
	}
	if err := db.inspect(ctx); err != nil {
		return err
	}
	if !db.truncated {
		db.damaged("schema", 0, "SQLite takes the file for damaged (%s); only a part of it can be read", cause)
	}
	if tables, err := db.columns(ctx); err != nil || len(tables) == 0 {
		return db.Damaged()
	}
	return nil
}

// connect opens the connection and begins the read transaction. To salvage
// means to open in spite of a damaged schema or missing pages; what cannot be
// read then fails when it is asked for.
func (db *DB) connect(ctx context.Context, salvage bool) error {
	err := errors.Join(registerScan(), db.disconnect())
	path := db.File.real
	if err == nil && db.access == copied {
		db.folder, err = db.copyPrivately(ctx)
		path = filepath.Join(db.folder, copyName)
	}
	if err != nil {
		return err
	}
	if db.pool, err = sql.Open("sqlite", dsn(path, db.access, salvage, db.wait)); err != nil {
		return err
	}
	db.pool.SetMaxOpenConns(1)
	if db.conn, err = db.pool.Conn(ctx); err != nil {
		return err
	}
	if err = db.conn.Raw(keepWAL); err != nil {
		return err
	}
	if _, err = db.conn.ExecContext(ctx, "begin"); err != nil {
		return err
	}
	// The transaction takes its snapshot with the first read, which also
	// parses the schema.
	var n int
	if err := db.QueryRow(ctx, "select count(*) from sqlite_schema").Scan(&n); err != nil {
		return err
	}
	if db.folder != "" {
		// Where open files can be deleted, nothing is left even if the
		// process is killed. Elsewhere disconnect does it.
		_ = os.RemoveAll(db.folder)
	}
	return nil
}

// keepWAL stops the connection from deleting the -wal when it closes.
func keepWAL(conn any) error {
	_, err := conn.(modernc.FileControl).FileControlPersistWAL("main", 1)
	return err
}
