package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
)

// DB is a database that is being read. All reads see one snapshot: they share
// one connection and one read transaction. Its methods may be called from
// several goroutines and then take turns.
type DB struct {
	File   File
	Writer Writer // as it was before opening

	access access
	wait   time.Duration // for a lock, in one attempt to get it
	handle *os.File      // opened before the driver, closed after it: see the package comment
	folder string        // of the private copy, "" when there is none
	pool   *sql.DB
	conn   *sql.Conn

	// raw is the file where that alone is what is read, so that its pages can be read past
	// SQLite; else nil.
	raw io.ReaderAt

	beside  *beside   // of one that is written to
	scanned *sync.Map // the names of the tables that ScanTable went over, in lower case

	faults    []session.Fault
	truncated bool
}

// disconnect closes what connect opened.
func (db *DB) disconnect() error {
	var err error
	if db.conn != nil {
		err = errors.Join(err, db.conn.Close())
	}
	if db.pool != nil {
		err = errors.Join(err, db.pool.Close())
	}
	if db.folder != "" {
		err = errors.Join(err, os.RemoveAll(db.folder))
	}
	db.conn, db.pool, db.folder = nil, nil, ""
	return err
}

// Close ends the read and removes a private copy.
func (db *DB) Close() error {
	if db.handle == nil { // a second connection
		return db.disconnect()
	}
	return errors.Join(db.disconnect(), db.handle.Close())
}

// Query runs a query in the snapshot.
func (db *DB) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return db.conn.QueryContext(ctx, query, args...)
}

// QueryRow runs a query in the snapshot for its first row.
func (db *DB) QueryRow(ctx context.Context, query string, args ...any) *sql.Row {
	return db.conn.QueryRowContext(ctx, query, args...)
}

// Changed is a sentence that says how the files changed since they were looked
// at, "" when they did not. After a change the result may mix two states, or be about
// a file that is no longer there, so it must be read again. What a lock or a copy
// protects can only be replaced.
func (db *DB) Changed() string {
	if what := db.File.standing(); what != "" {
		return db.File.Path + " " + what + " while it was read"
	}
	if db.access == shared || db.access == copied {
		return ""
	}
	now, err := lookAt(db.File.real)
	if err != nil {
		return db.File.Path + " could not be looked at again after the read: " + problem.Reason(err)
	}
	if change := db.File.seen.difference(now); change != "" {
		return db.File.Path + " changed while it was read: " + change
	}
	return ""
}
