package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	modernc "modernc.org/sqlite"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// Edit is a database opened for writing: one connection, at most one
// transaction. After an error of a write the transaction can only be rolled
// back. An Edit must not be used by several goroutines at once.
type Edit struct {
	db         *DB
	beside     beside
	statements map[string]*sql.Stmt // by their text

	open      bool // a transaction
	failed    error
	reverting bool // the transaction takes something back
	trying    bool // in a Trial
	committed bool // some transaction was
	guard     guard
	tables    map[string]tableShape // as the transaction sees them
	reader    *reader               // so, too
	keys      []ForeignKey          // of all tables; nil before they were read
	log       changeLog

	left     string
	backedUp bool
	version  int64 // the data version that the backup holds
}

// OpenEdit opens the database at path for writing. It never creates one. Its
// errors are problems: Busy when another process holds the database, Unreadable
// when it or its folder cannot be written, or when it is damaged. Nothing is
// changed then; a transaction that a process left behind unfinished may be
// rolled back, and a -wal folded in, as by every program that opens it.
func OpenEdit(ctx context.Context, path string) (*Edit, error) {
	start := time.Now() //nolint:forbidigo // for how long to wait
	examined, err := examine(ctx, path)
	if err != nil {
		return nil, err
	}
	handle, f, err := sniff(path)
	if err != nil {
		return nil, err
	}
	if !os.SameFile(examined.opened, f.opened) {
		return nil, errors.Join(gone(path, wasReplaced), handle.Close())
	}
	e := &Edit{db: &DB{File: f, handle: handle, Writer: probe(handle, f)}, statements: map[string]*sql.Stmt{}}
	rest := patience - time.Since(start) //nolint:forbidigo // see above
	if err = e.connect(ctx, max(rest, aMoment)); err != nil {
		return nil, errors.Join(e.explain(err), e.Close())
	}
	return e, nil
}

// examine refuses a database that is in use or damaged, by reading it in the
// way that changes nothing.
func examine(ctx context.Context, path string) (File, error) {
	db, err := Open(ctx, path, Options{})
	if err != nil {
		return File{}, err
	}
	defer func() { _ = db.Close() }()
	if db.Writer.State == session.WriterLive {
		return db.File, held(path, db.Writer)
	}
	for _, f := range db.Faults() {
		if f.Kind == session.StoreDamaged {
			return db.File, problem.New(problem.Unreadable, inCopy(path),
				"%s is not repaired in place, because opening it for writing would destroy evidence: %s", path, f.Detail)
		}
	}
	return db.File, nil
}

// patience is how long an edit waits for other processes until it is open, and once
// more for each transaction.
const patience = 2 * time.Second

func (e *Edit) connect(ctx context.Context, wait time.Duration) error {
	db := e.db
	if db.Writer.State == session.WriterLive {
		return held(db.File.Path, db.Writer)
	}
	db.beside = &e.beside
	err := errors.Join(registerScan(), e.beside.openFolder(db.File))
	if err == nil {
		err = canWrite(db.File)
	}
	if err == nil {
		err = e.beside.make(db.File)
	}
	if err != nil {
		return err
	}
	if db.pool, err = sql.Open("sqlite", editDSN(db.File.real, wait)); err != nil {
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
	if err = errors.Join(db.File.read(db.handle), e.beside.meet()); err != nil {
		return err
	}
	if err = e.Replaced(); err != nil { // SQLite may have opened either file
		return err
	}
	if _, err = db.conn.ExecContext(ctx, fmt.Sprintf("pragma busy_timeout=%d", patience.Milliseconds())); err != nil {
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

func editDSN(real string, wait time.Duration) string {
	return fileURI(real) + "?" + strings.Join([]string{
		"mode=rw", fmt.Sprintf("_pragma=busy_timeout(%d)", wait.Milliseconds()), "_pragma=foreign_keys(1)", "_pragma=trusted_schema(0)",
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
	file, release, err := atomicfile.Temporary(folder, 0o600)
	if err != nil {
		return notWritable(f.Path, "the folder "+folder, err)
	}
	defer release()
	_, err = file.Write(make([]byte, beginning))
	if err = errors.Join(err, file.Close(), os.Remove(file.Name())); err != nil {
		return notWritable(f.Path, "the folder "+folder, err)
	}
	return nil
}

// DB reads through the connection that writes, so that it sees the open
// transaction. It belongs to the Edit: do not close it.
func (e *Edit) DB() *DB { return e.db }

// Reader reads as DB does.
func (e *Edit) Reader() table.Reader {
	if e.reader == nil {
		e.reader = &reader{DB: e.db}
	}
	return e.reader
}

// Close rolls an open transaction back and closes the database. What was
// committed is folded into the database file first. Where something was, a path that
// leads to another file at the end is an error, too (ErrReplaced).
func (e *Edit) Close() error {
	if e.db.handle == nil {
		return nil
	}
	var err error
	if e.db.conn != nil {
		err = e.finish()
	}
	err = errors.Join(err, e.db.disconnect())
	if e.beside.folder != nil {
		e.beside.clear(e.db.handle, e.db.File.real)
		e.left = e.beside.left(e.db.File.standing() == "")
	}
	if e.committed {
		err = errors.Join(err, e.db.File.replaced())
	}
	err = errors.Join(err, e.beside.close(), e.db.handle.Close())
	e.db.handle = nil // so that closing again does nothing
	return err
}

// Left is a sentence about a -wal and a -shm that stay beside the database that is
// closed, "" when none does.
func (e *Edit) Left() string { return e.left }

// Replaced is the problem with a database that is not at its path any more, or whose
// -wal or -shm is not the one that is open here: nil while all are.
func (e *Edit) Replaced() error {
	if err := e.db.File.replaced(); err != nil {
		return err
	}
	if what := e.beside.standing(); what != "" {
		cause := table.ErrBeside
		if e.beside.foreign() {
			cause = table.ErrForeignLog
		}
		return &problem.Error{
			Class: problem.Busy, Err: cause, Next: afterReplacement,
			What: "beside " + e.db.File.Path + ", " + what,
		}
	}
	return nil
}

// finish ends what the connection does.
func (e *Edit) finish() error {
	err := e.Rollback()
	if e.committed {
		_, failed := e.db.conn.ExecContext(context.Background(), "pragma wal_checkpoint(truncate)")
		err = errors.Join(err, e.explain(failed))
		if e.beside.foreign() {
			err = errors.Join(err, e.Replaced())
		}
	}
	err = errors.Join(err, e.beside.settle(e.db))
	for _, s := range e.statements {
		err = errors.Join(err, s.Close())
	}
	return errors.Join(err, e.hook(nil, nil)) // the driver keeps hooks by the address of the connection
}
