package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"

	modernc "modernc.org/sqlite"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
)

// Edit is a database opened for writing: one connection, at most one
// transaction. After an error of a write the transaction can only be rolled
// back. An Edit must not be used by several goroutines at once.
type Edit struct {
	db         *DB
	statements map[string]*sql.Stmt // by their text

	open      bool // a transaction
	failed    error
	reverting bool // the transaction takes something back
	committed bool // some transaction was
	guard     guard
	tables    map[string]tableShape // as the transaction sees them
	log       changeLog

	backedUp bool
	version  int64 // the data version that the backup holds
}

// OpenEdit opens the database at path for writing. It never creates one. Its
// errors are problems: Busy when another process holds the database, Unreadable
// when it or its folder cannot be written, or when it is damaged. Nothing is
// changed then; a transaction that a process left behind unfinished may be
// rolled back, and a -wal folded in, as by every program that opens it.
func OpenEdit(ctx context.Context, path string) (*Edit, error) {
	if err := examine(ctx, path); err != nil {
		return nil, err
	}
	handle, f, err := sniff(path)
	if err != nil {
		return nil, err
	}
	e := &Edit{db: &DB{File: f, handle: handle, Writer: probe(handle, f)}, statements: map[string]*sql.Stmt{}}
	if err = e.connect(ctx); err != nil {
		return nil, errors.Join(e.explain(err), e.Close())
	}
	return e, nil
}

// examine refuses a database that is in use or damaged, by reading it in the
// way that changes nothing.
func examine(ctx context.Context, path string) error {
	db, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if db.Writer.State == session.WriterLive {
		return held(path, db.Writer)
	}
	for _, f := range db.Faults() {
		if f.Kind == session.StoreDamaged {
			return problem.New(problem.Unreadable, inCopy,
				"%s is not repaired in place, because opening it for writing would destroy evidence: %s", path, f.Detail)
		}
	}
	return nil
}

func (e *Edit) connect(ctx context.Context) error {
	db := e.db
	if db.Writer.State == session.WriterLive {
		return held(db.File.Path, db.Writer)
	}
	if err := errors.Join(registerScan(), canWrite(db.File)); err != nil {
		return err
	}
	var err error
	if db.pool, err = sql.Open("sqlite", editDSN(db.File.real)); err != nil {
		return err
	}
	db.pool.SetMaxOpenConns(1)
	if db.conn, err = db.pool.Conn(ctx); err != nil {
		return err
	}
	// The first read rolls a hot journal back and reads a -wal.
	var n int
	if err = db.QueryRow(ctx, "select count(*) from sqlite_schema").Scan(&n); err != nil {
		return err
	}
	if err = db.File.read(db.handle); err != nil {
		return err
	}
	return e.hook(e.guard.notice, func() { e.guard.rolledBack = true })
}

// hook makes SQLite call before each change of a row and at each rollback.
func (e *Edit) hook(change modernc.PreUpdateHookFn, rollback modernc.RollbackHookFn) error {
	return e.db.conn.Raw(func(conn any) error {
		hooks := conn.(modernc.HookRegisterer)
		hooks.RegisterPreUpdateHook(change)
		hooks.RegisterRollbackHook(rollback)
		return nil
	})
}

func editDSN(real string) string {
	return fileURI(real) + "?" + strings.Join([]string{
		"mode=rw", "_pragma=busy_timeout(2000)", "_pragma=foreign_keys(1)", "_pragma=trusted_schema(0)",
		"_pragma=cell_size_check(1)", "_pragma=synchronous(full)",
	}, "&")
}

// beginning is the room that is needed to begin with. Where there is none for
// the first page of a -shm, SQLite leaves that and an empty -wal behind.
const beginning = 64 << 10 // bytes

// canWrite tries it: permission bits say nothing of read-only file systems and
// access lists. It must not be asked while the database is open.
func canWrite(f File) error {
	file, err := os.OpenFile(f.real, os.O_RDWR, 0)
	if err != nil {
		return notWritable(f.Path, "the file", err)
	}
	if err := file.Close(); err != nil {
		return notWritable(f.Path, "the file", err)
	}
	folder := filepath.Dir(f.real)
	file, err = os.CreateTemp(folder, ".sessctl-")
	if err != nil {
		return notWritable(f.Path, "the folder "+folder, err)
	}
	_, err = file.Write(make([]byte, beginning))
	if err = errors.Join(err, file.Close(), os.Remove(file.Name())); err != nil {
		return notWritable(f.Path, "the folder "+folder, err)
	}
	return nil
}

// DB reads through the connection that writes, so that it sees the open
// transaction. It belongs to the Edit: do not close it.
func (e *Edit) DB() *DB { return e.db }

// Close rolls an open transaction back and closes the database. What was
// committed is folded into the database file first.
func (e *Edit) Close() error {
	var err error
	if e.db.conn != nil {
		err = e.finish()
	}
	err = errors.Join(err, e.db.Close())
	e.db.handle = nil // so that closing again does nothing
	return err
}

// finish ends what the connection does.
func (e *Edit) finish() error {
	err := e.Rollback()
	if e.committed {
		_, failed := e.db.conn.ExecContext(context.Background(), "pragma wal_checkpoint(truncate)")
		err = errors.Join(err, e.explain(failed))
	}
	for _, s := range e.statements {
		err = errors.Join(err, s.Close())
	}
	return errors.Join(err, e.hook(nil, nil)) // the driver keeps hooks by the address of the connection
}
