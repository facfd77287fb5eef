// Package sqlite opens SQLite files in a way that leaves no trace: shared by
// every adapter whose store is a SQLite database.
//
// Opening a database "read-only" can still change its folder. The rules here,
// measured with SQLite 3.53.4 as modernc.org/sqlite v1.60.0 carries it:
//
//   - mode=ro creates a missing -shm and -wal. With readonly_shm=1 it uses an
//     existing -shm without writing to it, and takes shared locks only. That
//     is for a live writer: a -shm that a killed process left behind can
//     belong to an older -wal, and then SQLite waits ten seconds for somebody
//     to mend it and gives up.
//   - Without a -shm, only the VFS without locks in exclusive mode reads a -wal
//     and creates nothing. On closing it deletes a -wal in which it found no
//     commit, so the WAL is always made persistent first.
//   - immutable=1 reads the main file alone: right only when no -wal or hot
//     journal belongs to it. It takes no lock: where one is needed, another
//     connection holds it. The file is read by the descriptor that is open, in
//     pieces of many pages.
//   - As root, SQLite gives a -wal and a -shm to the owner of the database. If
//     that would change an owner, a private copy is read; if not, the time of
//     the last status change (ctime) is all that moves.
//   - A hot -journal is rolled back by whoever opens the database, so that
//     happens in a private copy.
//
// POSIX record locks belong to the process: closing any descriptor of a file
// drops all of them. While a DB is open, nothing else in this process may open
// and close the same database file or its -shm; so one DB per file at a time. The
// DB itself opens its descriptor before the driver and closes it after the driver.
//
// OpenEdit opens for writing: for a repair in place and for its undo. It
// refuses what a write could make worse, looks for other processes again once
// it holds the lock, and records each row that it changes as it is stored, so
// that Revert can take the changes back exactly. The order of work is OpenEdit,
// Backup, Begin, changes, Changes, Commit, Close.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	modernc "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
	"modernc.org/sqlite/vfs"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
)

// DB is a database that is being read. All reads see one snapshot: they share
// one connection and one read transaction. Its methods may be called from
// several goroutines and then take turns.
type DB struct {
	File   File
	Writer Writer // as it was before opening
	// CompareIndexes, set before tables are scanned, lets Unscanned compare them with their
	// indexes: a runtime that asks by an index misses what that lacks.
	CompareIndexes bool

	access access
	wait   time.Duration // for a lock, in one attempt to get it
	handle *os.File      // opened before the driver, closed after it: see the package comment
	folder string        // of the private copy, "" without one
	pool   *sql.DB
	conn   *sql.Conn

	// raw is the file where that alone is what is read, so that its pages can be read past
	// SQLite; else nil.
	raw   *os.File
	files *vfs.FS // by which SQLite reads it
	lock  *DB     // has the lock that holds writers off, where one is needed for that; else nil

	beside  *beside   // of one that is written to
	scanned *sync.Map // of scannedTable, by the names of the tables that ScanTable went over, in lower case

	known versionedSchema

	faults    []session.Fault
	truncated bool
	log       walWalk // what was found in the -wal

	tested sync.Once
	remedy string // what Recovery says
}

// closeConnection closes what connect opened.
func (db *DB) closeConnection() error {
	var err error
	if db.conn != nil {
		err = errors.Join(err, db.conn.Close())
	}
	if db.pool != nil {
		err = errors.Join(err, db.pool.Close())
	}
	if db.files != nil {
		err = errors.Join(err, db.files.Close())
	}
	if db.folder != "" {
		err = errors.Join(err, os.RemoveAll(db.folder))
	}
	db.conn, db.pool, db.files, db.folder = nil, nil, nil, ""
	return err
}

// Close ends the read and removes a private copy.
func (db *DB) Close() error {
	if db.handle == nil { // a second connection
		return db.closeConnection()
	}
	err := db.closeConnection()
	if db.lock != nil {
		err = errors.Join(err, db.lock.closeConnection())
	}
	return errors.Join(err, db.handle.Close())
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
	if what := db.File.pathChange(); what != "" {
		return db.File.Path + " " + what + " while sessctl read it"
	}
	if db.access == shared || db.access == copied {
		return ""
	}
	now, err := lookAt(db.File.real)
	if err != nil {
		return db.File.Path + " could not be read again at the end: " + problem.Reason(err)
	}
	change := db.File.seen.describeChange(now)
	after := db.File // times are coarse, so two changes can have the same one
	if err := after.readHeader(db.handle); change == "" && (err != nil || after.head != db.File.head) {
		change = "the database was written to"
	}
	if change != "" {
		return db.File.Path + " changed while sessctl read it: " + change
	}
	return ""
}

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
		db, err := openOnce(ctx, path)
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

func openOnce(ctx context.Context, path string) (*DB, error) {
	handle, f, err := sniffFile(path)
	if err != nil {
		return nil, err
	}
	db := &DB{File: f, handle: handle, Writer: probeWriter(handle, f, openFilesOf(ctx).findWriter), scanned: new(sync.Map)}
	err = db.openSnapshot(ctx)
	if moved := f.replacedError(); moved != nil { // SQLite may have opened either file
		_ = db.Close()
		return nil, moved
	}
	if err != nil {
		_ = db.Close()
		if now, lookErr := lookAt(f.real); lookErr == nil && codeOf(err) != 0 && !f.seen.sameFiles(now) {
			return nil, busyError(path, db.Writer, err) // what was decided no longer fits
		}
		return nil, db.Explain(err)
	}
	return db, nil
}

func (db *DB) openSnapshot(ctx context.Context) error {
	if db.Writer.exclusive {
		return busyError(db.File.Path, db.Writer, nil)
	}
	if db.access = chooseAccess(db.File, db.Writer); db.access == immutable {
		db.raw = db.handle
	} else if err := db.lockForReading(ctx); err != nil {
		return err
	}
	err := db.openConnection(ctx, false)
	if IsCorrupt(err) {
		return db.openDamaged(ctx, err)
	}
	if err != nil {
		return err
	}
	return db.inspectFile(ctx)
}

// lockForReading takes the lock under which a database without a log can be read as one that
// nobody changes. What is too damaged for that is read under SQLite's own locks.
func (db *DB) lockForReading(ctx context.Context) error {
	if db.access != shared || db.File.WAL >= 0 {
		return nil
	}
	db.lock = &DB{File: db.File, Writer: db.Writer}
	err := db.lock.openConnection(ctx, false)
	if IsCorrupt(err) {
		err = db.lock.openConnection(ctx, true)
	}
	if err == nil {
		err = db.File.readHeader(db.handle) // the lock is newer than the first look
	}
	if err == nil && !db.File.Header.WAL && db.File.Size%int64(db.File.Header.PageSize) == 0 {
		db.raw = db.handle
	}
	if IsCorrupt(err) {
		return nil
	}
	return err
}

// openDamaged opens a database that SQLite takes for damaged, for as much as can
// be read.
func (db *DB) openDamaged(ctx context.Context, cause error) error {
	if err := db.openConnection(ctx, true); err != nil {
		return cause
	}
	if err := db.inspectFile(ctx); err != nil {
		return err
	}
	if !db.truncated {
		db.addDamage("schema", 0, "SQLite says that the file is damaged (%s); only a part of it can be read", cause)
	}
	if tables, err := db.readColumns(ctx); err != nil || len(tables) == 0 {
		return db.Damaged()
	}
	return nil
}

// openConnection opens the connection and begins the read transaction. To salvage
// means to open in spite of a damaged schema or missing pages; what cannot be
// read then fails when it is asked for.
func (db *DB) openConnection(ctx context.Context, salvage bool) error {
	err := errors.Join(registerScan(), db.closeConnection())
	path := db.File.real
	if err == nil && db.access == copied {
		db.folder, err = db.copyPrivately(ctx)
		path = filepath.Join(db.folder, copyName)
	}
	name := readDSN(path, db.access, salvage, db.wait)
	if err == nil && db.raw != nil {
		var registered string
		registered, db.files, err = vfs.New(files{db.raw})
		name = readDSN(path, immutable, salvage, db.wait) + "&vfs=" + registered
	}
	if err != nil {
		return err
	}
	if db.pool, err = sql.Open("sqlite", name); err != nil {
		return err
	}
	db.pool.SetMaxOpenConns(1)
	if db.conn, err = db.pool.Conn(ctx); err != nil {
		return err
	}
	if db.files == nil { // else it has no -wal
		if err = db.conn.Raw(keepWAL); err != nil {
			return err
		}
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

// access is a way to read a database that leaves no trace.
type access uint8

const (
	// shared takes SQLite's own read locks: nobody can change what is read.
	shared access = iota
	// unlocked reads the database and its -wal where no -shm allows locking.
	unlocked
	// immutable reads the database file alone.
	immutable
	// copied reads a private copy of the database, its -wal and its -journal.
	copied
)

// chooseAccess chooses the way for what was found. It must not be asked while
// another process locks readers out.
func chooseAccess(f File, w Writer) access {
	switch {
	case w.State == session.WriterUnknown || changesOwners(f.seen) || isWrittenWithoutLog(f, w):
		return copied
	case f.WAL >= 0 && f.SHM >= 0 && w.State == session.WriterLive:
		// A -shm that nobody holds can belong to an older -wal than the one
		// that is there; then SQLite would wait for somebody to mend it.
		return shared
	case f.walUsable:
		return unlocked
	case f.journalHot && !w.changing:
		return copied
	case f.WAL < 0 && !f.Header.WAL:
		// In rollback mode reading needs no file besides the database, and
		// the lock holds off a writer that is idle now.
		return shared
	}
	return immutable
}

// isWrittenWithoutLog reports whether a process that runs writes to the database without a log. Every
// reader keeps it from committing, so that the lock is only held for the time of a copy.
func isWrittenWithoutLog(f File, w Writer) bool {
	return w.State == session.WriterLive && f.WAL < 0 && !f.Header.WAL
}

// readDSN reads the driver's name for the database. The pragmas keep functions that
// the schema names from running and test each page's cells before use.
func readDSN(path string, a access, salvage bool, wait time.Duration) string {
	params := []string{"_pragma=query_only(1)", "_pragma=trusted_schema(0)", "_pragma=cell_size_check(1)"}
	switch a {
	case shared:
		params = append(params, "mode=ro", "readonly_shm=1")
	case unlocked:
		params = append(params, "mode=ro", "vfs=unix-none", "_pragma=locking_mode(exclusive)")
	case immutable:
		params = append(params, "mode=ro", "immutable=1")
	case copied:
		params = append(params, "mode=rw")
	}
	if wait > 0 {
		params = append(params, fmt.Sprintf("_pragma=busy_timeout(%d)", wait.Milliseconds()))
	}
	if salvage {
		params = append(params, "_pragma=writable_schema(1)")
	}
	return fileURI(path) + "?" + strings.Join(params, "&")
}

// fileURI is the file: URI of an absolute path. Everything that means
// something in a URI is percent-encoded.
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // a drive letter
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// codeOf is the extended result code of a driver's error, 0 for other errors.
func codeOf(err error) int {
	if e, ok := errors.AsType[*modernc.Error](err); ok {
		return e.Code()
	}
	return 0
}

// IsCorrupt reports whether SQLite found the file damaged at the place that it
// read, or cut off before it. Other places may still be readable, so a reader
// can go on with them.
func IsCorrupt(err error) bool {
	code := codeOf(err)
	return code&0xff == lib.SQLITE_CORRUPT || code == lib.SQLITE_IOERR_SHORT_READ
}

// Recovery is what to do about damage of the database: see session.Store. Where the file is
// whole and is not together with its log, that is of another state, and SQLite reads a mixture.
func (db *DB) Recovery() string {
	db.tested.Do(func() {
		path := db.File.Path
		db.remedy = recoveryAdvice(path)
		switch {
		case db.File.WAL <= 0 || db.Writer.State == session.WriterLive:
		case !isWhole(db.File.real, immutable): // so opened, SQLite reads nothing beside the file
			db.remedy += "; if NEW lacks messages, recover a copy without the -wal, too"
		case !db.wholeWithLog():
			db.remedy = "copy " + path + " without its -wal to another folder, then sessctl check the copy: the file alone is whole, and its -wal belongs to another state of it"
			if db.log.commits > 0 {
				counted := "1 commit"
				if db.log.commits > 1 {
					counted = fmt.Sprint(db.log.commits, " commits")
				}
				db.remedy += fmt.Sprintf(". Keep the -wal: the copy lacks what it holds (%s, of a database of %d pages; the file has %d)",
					counted, db.log.pages, db.File.Size/int64(db.File.Header.PageSize))
			}
		}
	})
	return db.remedy
}

// wholeWithLog reports whether a private copy of the file and its log is sound, or cannot be made.
func (db *DB) wholeWithLog() bool {
	folder, err := privateCopy(context.Background(), db.handle, db.File)
	if err != nil {
		return true
	}
	defer func() { _ = os.RemoveAll(folder) }()
	return isWhole(filepath.Join(folder, copyName), copied)
}

// isWhole reports whether SQLite finds a database sound.
func isWhole(path string, a access) bool {
	pool, err := sql.Open("sqlite", readDSN(path, a, false, 0))
	if err != nil {
		return false
	}
	defer func() { _ = pool.Close() }()
	var said string
	return pool.QueryRow("pragma quick_check(1)").Scan(&said) == nil && said == "ok"
}

// recoveryAdvice is what to do about a database that is damaged. The copy matters:
// the sqlite3 program opens for writing and would fold the -wal into the file.
func recoveryAdvice(path string) string {
	return "restore a backup; or copy " + path + " with its -wal to another folder and recover the copy: " +
		"sqlite3 COPY .recover | sqlite3 NEW; then sessctl check NEW"
}

// Explain turns an error of a read into a problem for people. Errors that are
// problems already, and cancellation, pass unchanged.
func (db *DB) Explain(err error) error {
	if err == nil || problem.ClassOf(err) != 0 || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	path, p := db.File.Path, &problem.Error{Class: problem.Unreadable, Err: err}
	switch codeOf(err) & 0xff {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL, lib.SQLITE_READONLY:
		// Reading asks for a write lock only to clean up after a process that
		// ended since the files were looked at.
		return busyError(path, db.Writer, err)
	case lib.SQLITE_CORRUPT:
		p.What = path + " cannot be read: the database is damaged (" + err.Error() + ")"
		p.Next = db.Recovery()
	case lib.SQLITE_NOTADB:
		p.What = path + " cannot be read: the database is encrypted, or its header is damaged"
		p.Next = db.Recovery()
	case lib.SQLITE_CANTOPEN:
		p.What = path + " cannot be opened, or a -wal, -shm or -journal file beside it"
		p.Next = "check the permissions of these files and of their folder"
	default:
		p.What = path + " cannot be read: " + err.Error()
	}
	return p
}

// busyError is the problem with a database that another process has locked.
func busyError(path string, w Writer, err error) error {
	who, what := "the program that uses it", "another process"
	if w.Name != "" {
		who, what = w.Name, w.Name
	}
	return &problem.Error{
		Class: problem.Busy,
		What:  path + " is in use: " + what + " has locked it",
		Next:  "close " + who + " and try again; nothing was changed",
		Err:   err,
	}
}
