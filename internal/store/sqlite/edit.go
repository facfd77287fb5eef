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
	lib "modernc.org/sqlite/lib"

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
	others     watch                // for processes that open the database, too
	statements map[string]*sql.Stmt // by their text

	open       bool // a transaction
	failed     error
	reverting  bool // the transaction takes something back
	trying     bool // in a Trial
	committed  bool // some transaction was
	unfinished bool // what was committed is in the log alone
	guard      guard
	tables     map[string]tableShape // as the transaction sees them
	reader     *reader               // so, too
	keys       []ForeignKey          // of all tables; nil before they were read
	log        changeLog
	awaited    map[string]map[string]bool // see isAwaited

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
	ctx = InOneRun(ctx) // what an earlier look found is too old
	examined, err := checkEditable(ctx, path)
	if err != nil {
		return nil, err
	}
	handle, f, err := sniffFile(path)
	if err != nil {
		return nil, err
	}
	if !os.SameFile(examined.opened, f.opened) {
		return nil, errors.Join(goneError(path, wasReplaced), handle.Close())
	}
	e := &Edit{db: &DB{File: f, handle: handle, Writer: probeWriter(handle, f, openFilesOf(ctx).findWriter)}, statements: map[string]*sql.Stmt{}}
	rest := patience - time.Since(start) //nolint:forbidigo // see above
	if err = e.openForWriting(ctx, max(rest, aMoment)); err != nil {
		return nil, errors.Join(e.explainError(err), e.Close())
	}
	return e, nil
}

// checkEditable refuses a database that is in use or damaged, by reading it in the
// way that changes nothing.
func checkEditable(ctx context.Context, path string) (File, error) {
	db, err := Open(ctx, path, Options{})
	if err != nil {
		return File{}, err
	}
	defer func() { _ = db.Close() }()
	if db.Writer.State == session.WriterLive {
		return db.File, heldError(path, db.Writer)
	}
	for _, f := range db.Faults() {
		if f.Kind == session.StoreDamaged {
			return db.File, problem.New(problem.Unreadable, inCopy(path),
				"%s is not repaired in place, because opening it for writing could destroy what can still be saved: %s", path, f.Detail)
		}
	}
	return db.File, nil
}

// patience is how long an edit waits for other processes until it is open, and once
// more for each transaction.
const patience = 2 * time.Second

func (e *Edit) openForWriting(ctx context.Context, wait time.Duration) error {
	db := e.db
	if db.Writer.State == session.WriterLive {
		return heldError(db.File.Path, db.Writer)
	}
	db.beside = &e.beside
	err := errors.Join(registerScan(), e.beside.openFolder(db.File))
	if err == nil {
		err = canWrite(db.File)
	}
	if err == nil {
		err = e.beside.createLogs(db.File)
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
	if err = errors.Join(db.File.readHeader(db.handle), e.beside.noteOpened()); err != nil {
		return err
	}
	if err = e.Replaced(); err != nil { // SQLite may have opened either file
		return err
	}
	if _, err = db.conn.ExecContext(ctx, fmt.Sprintf("pragma busy_timeout=%d", patience.Milliseconds())); err != nil {
		return err
	}
	return e.registerHooks(e.guard.noteChange, func() { e.guard.rolledBack = true })
}

// registerHooks makes SQLite call before each change of a row and at each rollback.
func (e *Edit) registerHooks(change modernc.PreUpdateHookFn, rollback modernc.RollbackHookFn) error {
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
	file, release, err := atomicfile.CreateTemporary(folder, 0o600)
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
	defer e.others.stopWatching()
	var err error
	if e.db.conn != nil {
		err = e.endConnection()
	}
	err = errors.Join(err, e.db.closeConnection())
	if e.beside.folder != nil {
		standing := e.db.File.pathChange() == ""
		e.beside.removeCreated(e.db.handle, e.db.File.real, standing)
		if e.left = e.beside.leftoverNotice(standing); e.unfinished {
			e.left = "" // the error tells
		}
	}
	if e.committed {
		err = errors.Join(err, e.db.File.replacedError())
	}
	err = errors.Join(err, e.beside.closeFolder(), e.db.handle.Close())
	e.db.handle = nil // so that closing again does nothing
	return err
}

// Left is a sentence about a -wal and a -shm that stay beside the database that is
// closed, "" when none does.
func (e *Edit) Left() string { return e.left }

// Replaced is the problem with a database that is not at its path any more, or whose
// -wal or -shm is not the one that is open here: nil while all are.
func (e *Edit) Replaced() error {
	if err := e.db.File.replacedError(); err != nil {
		return err
	}
	if what := e.beside.replacedFile(); what != "" {
		cause := table.ErrBeside
		if e.beside.hasForeignLog() {
			cause = table.ErrForeignLog
		}
		return &problem.Error{
			Class: problem.Busy, Err: cause, Next: afterReplacement,
			What: "beside " + e.db.File.Path + ", " + what,
		}
	}
	return nil
}

// endConnection ends what the connection does.
func (e *Edit) endConnection() error {
	err := e.Rollback()
	if e.committed {
		_, failed := e.db.conn.ExecContext(context.Background(), "pragma wal_checkpoint(truncate)")
		err = errors.Join(err, e.noteUnfoldedLog(failed))
		if e.beside.hasForeignLog() {
			err = errors.Join(err, e.Replaced())
		}
	}
	err = errors.Join(err, e.beside.setClosePolicy(e.db))
	for _, s := range e.statements {
		err = errors.Join(err, s.Close())
	}
	return errors.Join(err, e.registerHooks(nil, nil)) // the driver keeps hooks by the address of the connection
}

// noteUnfoldedLog is the problem with a log whose commits did not reach the database file. They are
// safe in the log, which must stay beside it.
func (e *Edit) noteUnfoldedLog(err error) error {
	if err == nil {
		return nil
	}
	e.unfinished = true
	return &problem.Error{
		Class: problem.Unreadable, Err: err,
		What: e.db.File.Path + " was changed, and the log beside it could not be written into it: " + err.Error(),
		Next: "Keep " + e.db.File.Path + "-wal where it is: it holds the change. Free some space; the next program that opens the store writes it into the file.",
	}
}

// Begin locks the database for writing; it waits for another writer, for at
// most two seconds. Its errors are problems of class Busy when another process
// has the database open, also one that only came after OpenEdit, and when the
// database changed since the last Backup (ErrMoved).
func (e *Edit) Begin(ctx context.Context) error {
	if e.open {
		return errors.New("a transaction is open already")
	}
	if _, err := e.db.conn.ExecContext(ctx, "pragma foreign_keys = on"); err != nil {
		return e.explainError(err)
	}
	return e.beginImmediate(ctx)
}

// beginImmediate locks the database, with foreign keys or without, as they are.
func (e *Edit) beginImmediate(ctx context.Context) error {
	if _, err := e.db.conn.ExecContext(ctx, "begin immediate"); err != nil {
		e.abandonTransaction()
		return e.explainError(err)
	}
	e.open, e.failed, e.reverting, e.trying = true, nil, false, false
	e.guard.reset()
	e.tables, e.reader, e.keys, e.log, e.awaited = map[string]tableShape{}, nil, nil, newChangeLog(), map[string]map[string]bool{}
	if err := e.checkUndisturbed(ctx); err != nil {
		return errors.Join(err, e.Rollback())
	}
	return nil
}

// checkUndisturbed looks for other processes once more: from here on none can write.
func (e *Edit) checkUndisturbed(ctx context.Context) error {
	if err := e.Replaced(); err != nil {
		return err
	}
	if w := e.probeOthers(); w.State == session.WriterLive {
		return heldError(e.db.File.Path, w)
	}
	if !e.backedUp {
		return nil
	}
	version, err := e.Version(ctx)
	if err == nil && version != e.version {
		return movedError(e.db.File.Path)
	}
	return err
}

// probeOthers looks for other processes while the database is open here. It may not
// open the -shm, since closing it would drop this process's own locks there.
// Nothing is missed by that: from its first transaction on a connection in WAL
// mode holds a lock on the database too.
func (e *Edit) probeOthers() Writer {
	f := e.db.File
	f.SHM = -1
	return probeWriter(e.db.handle, f, e.others.findWriter)
}

// Version implements table.Transaction.
func (e *Edit) Version(ctx context.Context) (version int64, err error) {
	err = e.db.QueryRow(ctx, "pragma data_version").Scan(&version)
	return version, e.explainError(err)
}

// checkReady is the reason why the transaction takes no more changes.
func (e *Edit) checkReady() error {
	switch {
	case !e.open:
		return errors.New("no transaction is open")
	case e.failed != nil:
		return e.failed
	case e.guard.rolledBack:
		return problem.New(problem.RolledBack, "try again", "%s was not changed: SQLite ended the transaction", e.db.File.Path)
	}
	return nil
}

// rememberError explains the error of a write and remembers it.
func (e *Edit) rememberError(err error) error {
	err = e.explainError(err)
	if e.failed == nil {
		e.failed = err
	}
	return err
}

// Commit stores the transaction, or rolls it back and says why: RolledBack when
// a row changed that no Insert, Update, Delete or Revert changed, Busy when the path of
// the database no longer leads to it (ErrReplaced).
func (e *Edit) Commit(ctx context.Context) error {
	err := errors.Join(e.checkReady(), ctx.Err())
	if err == nil {
		err = e.strayError()
	}
	if err == nil {
		err = e.Replaced()
	}
	if err == nil {
		// An interrupted commit would leave open what became of it.
		_, err = e.db.conn.ExecContext(context.WithoutCancel(ctx), "commit")
		err = e.explainCommit(err)
	}
	if err != nil {
		return errors.Join(err, e.Rollback())
	}
	e.open, e.committed = false, true
	return nil
}

// explainCommit explains the error of a commit. A foreign key that is found
// broken only then belongs to a row that came back.
func (e *Edit) explainCommit(err error) error {
	if e.reverting && isConstraint(err) {
		return e.parentGone(err)
	}
	return e.explainError(err)
}

// Rollback takes back what was done since Begin. Without a transaction it does
// nothing.
func (e *Edit) Rollback() error {
	if !e.open {
		return nil
	}
	e.open = false
	if e.guard.rolledBack { // by SQLite, as after an interrupt
		return nil
	}
	_, err := e.db.conn.ExecContext(context.Background(), "rollback")
	return e.explainError(err)
}

// abandonTransaction ends a transaction that may have begun: when a context ends in time,
// the driver reports the end of it, also of a statement that succeeded.
func (e *Edit) abandonTransaction() { _, _ = e.db.conn.ExecContext(context.Background(), "rollback") }

// TryChanges makes changes, and takes all of them back again. What was changed before stays,
// and is what Changes tells. It does nothing where the database has no rules that could
// make undo fail where a repair did not: to try it costs as much as the repair.
func (e *Edit) TryChanges(ctx context.Context, do func() error) error {
	if err := e.checkReady(); err != nil {
		return err
	}
	if has, err := e.db.hasRules(ctx); err != nil || !has {
		return e.rememberError(err)
	}
	if _, err := e.db.conn.ExecContext(ctx, "savepoint trial"); err != nil {
		return e.rememberError(err)
	}
	log, before := e.log, e.guard.strays
	e.log, e.trying = newChangeLog(), true
	err := do()
	if e.guard.rolledBack { // by SQLite, with all before it
		return err
	}
	if err == nil {
		err = e.strayError()
	}
	e.log, e.trying, e.reverting, e.failed = log, false, false, nil
	e.guard.strays, e.guard.leaving = before, map[rowKey]bool{}
	_, failed := e.db.conn.ExecContext(ctx, "rollback to trial")
	if failed == nil {
		_, failed = e.db.conn.ExecContext(ctx, "release trial")
	}
	return errors.Join(err, e.rememberError(failed))
}

// rowKey is a row of a table.
type rowKey struct {
	table string
	row   int64
}

func keyOf(c table.RowChange) rowKey { return rowKey{c.Table, int64(c.Row)} }

func (k rowKey) String() string { return fmt.Sprintf("row %d of %s", k.row, k.table) }

// guard hears of every row before it changes, whoever changes it. Each
// statement may change the one row that is recorded; triggers and foreign key
// actions change others. SQLite does not report what it does to sqlite_sequence
// itself, so that every change of that is setSequence's, or a stray.
type guard struct {
	expected   *change
	met        *rowKey // the row of the change that was expected
	strays     []rowKey
	leaving    map[rowKey]bool // may change in any case: they are on their way out
	sequences  bool            // setSequence is at work
	rolledBack bool
	derived    map[string]derived // by table; for all transactions
	kept       []keptChange       // what the database changed by itself since the last statement was recorded
	first      map[rowKey]table.Image
	replacing  *rowKey // replaceRow is at work on it
}

// change is what a statement is to do. An insert does not know its row.
type change struct {
	op int32
	rowKey
}

func (g *guard) reset() { *g = guard{leaving: map[rowKey]bool{}, derived: g.derived} }

func (g *guard) noteChange(d modernc.SQLitePreUpdateData) {
	if d.DatabaseName != "main" || d.TableName == sequenceTable && g.sequences {
		return
	}
	key := rowKey{d.TableName, d.OldRowID}
	if d.Op == lib.SQLITE_INSERT {
		key.row = d.NewRowID
	}
	want := g.expected
	switch {
	case g.replacing != nil && *g.replacing == key:
	case want != nil && want.op == d.Op && want.table == key.table &&
		(d.Op == lib.SQLITE_INSERT || want.row == key.row) && (d.Op != lib.SQLITE_UPDATE || d.NewRowID == key.row):
		g.expected, g.met = nil, &key
	case !g.leaving[key]:
		if kept, ok := g.derived[key.table].changeOf(&d); ok {
			kept.rowKey = key
			g.kept = append(g.kept, kept)
			return
		}
		g.strays = append(g.strays, key)
	}
}

// errStray is in the error about a row that changed without being recorded.
var errStray = errors.New("a row changed besides")

// strayError is the problem with rows that changed without being recorded.
func (e *Edit) strayError() error {
	if len(e.guard.strays) == 0 {
		return nil
	}
	return &problem.Error{
		Class: problem.RolledBack,
		What: fmt.Sprintf("%s was not changed: a trigger or a foreign key of the database would also change %s",
			e.db.File.Path, e.guard.strays[0]),
		Next: addedRules, Err: errStray,
	}
}

// execOnRow runs a statement that changes one row, and says which one.
func (e *Edit) execOnRow(ctx context.Context, c change, query string, args ...any) (rowKey, error) {
	s, err := e.prepareStatement(ctx, query)
	if err != nil {
		return rowKey{}, err
	}
	before := len(e.guard.strays)
	e.guard.expected, e.guard.met = &c, nil
	_, err = s.ExecContext(ctx, args...)
	e.guard.expected = nil
	if isConstraint(err) { // the statement took back all of its changes
		e.guard.strays, e.guard.kept = e.guard.strays[:before], nil
	}
	if err == nil {
		err = e.strayError()
	}
	e.recordKept(e.guard.met, c.op)
	if err == nil && e.guard.met == nil {
		err = problem.New(problem.RolledBack, addedRules, "%s was not changed: the database ignored a change of %s", e.db.File.Path, c.table)
	}
	if err != nil {
		return rowKey{}, err
	}
	return *e.guard.met, nil
}
