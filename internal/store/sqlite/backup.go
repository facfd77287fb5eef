package sqlite

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	lib "modernc.org/sqlite/lib"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/problem"
)

// backupStep is how much is copied before the context is asked again.
const backupStep = 16 << 20 // bytes

// Backup writes the database as it is now, with what its -wal holds, to a new
// file, which is complete once it has its name. An existing file is never
// overwritten. progress may be nil; it hears the bytes copied so far. Its
// errors are problems of class Unreadable.
func (e *Edit) Backup(ctx context.Context, to string, progress func(done int64)) error {
	if e.open {
		return errors.New("a backup must come before the transaction")
	}
	return e.db.writeNew("the backup "+to, to, func(file *os.File) error { return e.copySnapshot(ctx, file, progress) })
}

// Copy writes the database as it is read, with what its -wal holds, to a new
// file, as Backup does.
func (db *DB) Copy(ctx context.Context, to string, progress func(done int64)) error {
	return db.writeNew("the copy "+to, to, func(file *os.File) error { return db.copyPages(ctx, file, progress) })
}

// writeNew writes a file that appears when it is complete, and never over
// another one, and belongs to the owner of the database. name is what its errors call it.
// All goes through the handle: in a folder that others may write to, its name can lead
// to another file at any time.
func (db *DB) writeNew(name, to string, write func(*os.File) error) error {
	if _, err := os.Lstat(to); err == nil {
		return exists(to) // before the work; Publish makes sure
	}
	file, release, err := atomicfile.Temporary(filepath.Dir(to), 0o600)
	if err != nil {
		return noBackup(name, to, err)
	}
	defer release()
	if err = atomicfile.GiveTo(file, db.File.opened); err == nil {
		err = write(file)
	}
	if err == nil {
		err = file.Sync() // when the database is no longer locked: it takes long
	}
	written, failed := file.Stat()
	err = errors.Join(err, failed, file.Close())
	if err == nil {
		err = atomicfile.Publish(file.Name(), to)
	}
	if err == nil {
		if what := became(written, os.Lstat, to); what != "" {
			return problem.New(problem.Busy, "nothing was changed; see who may write to "+filepath.Dir(to), "%s %s", name, what)
		}
	}
	if err != nil {
		if removed := os.Remove(file.Name()); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
		return noBackup(name, to, err)
	}
	return nil
}

// copySnapshot copies what one read transaction sees.
func (e *Edit) copySnapshot(ctx context.Context, file *os.File, progress func(int64)) (err error) {
	if _, err := e.db.conn.ExecContext(ctx, "begin"); err != nil {
		e.abandon()
		return e.explain(err)
	}
	defer func() {
		_, failed := e.db.conn.ExecContext(context.Background(), "rollback")
		err = errors.Join(err, failed)
	}()
	version, err := e.dataVersion(ctx) // a read: the snapshot is taken
	if err != nil {
		return e.explain(err)
	}
	if err := e.db.copyPages(ctx, file, progress); err != nil {
		return err
	}
	e.backedUp, e.version = true, version
	return nil
}

// copyPages copies the database to a file, with its mode (writable at least for its owner).
// A transaction that reads must be open.
func (db *DB) copyPages(ctx context.Context, file *os.File, progress func(int64)) error {
	if progress == nil {
		progress = func(int64) {}
	}
	var err error
	if db.plain() {
		err = db.copyFile(ctx, file, progress)
	} else {
		err = db.copySeen(ctx, file, progress)
	}
	if err != nil {
		return err
	}
	info, err := db.handle.Stat()
	if err != nil {
		return err
	}
	return file.Chmod(info.Mode().Perm() | 0o200)
}

// plain reports whether the file alone is the whole database, so that its bytes
// can be copied, in half the time. The transaction that reads keeps writers away
// from it: in rollback mode with its lock, and in WAL mode they write elsewhere
// until a checkpoint, before which there must be a commit, which Begin notices.
func (db *DB) plain() bool {
	if db.folder != "" {
		return false
	}
	if db.beside != nil {
		info, err := db.beside.at(1)
		return err == nil && (info == nil || info.Size() == 0) && db.beside.standing() == ""
	}
	info, err := os.Stat(db.File.real + "-wal")
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
}

// copyFile copies the bytes of the database.
func (db *DB) copyFile(ctx context.Context, to *os.File, progress func(int64)) error {
	if _, err := db.handle.Seek(0, io.SeekStart); err != nil {
		return err
	}
	for done := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.Copy(to, io.LimitReader(db.handle, backupStep))
		if err != nil || n == 0 {
			return err
		}
		done += n
		progress(done)
	}
}

// copySeen copies the pages that the transaction sees, wherever they are stored.
func (db *DB) copySeen(ctx context.Context, to *os.File, progress func(int64)) error {
	rows, err := db.Query(ctx, "select data from sqlite_dbpage order by pgno")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	out, done := bufio.NewWriterSize(to, 1<<20), int64(0)
	for rows.Next() {
		var page sql.RawBytes
		if err := rows.Scan(&page); err != nil {
			return err
		}
		n, err := out.Write(page)
		if err != nil {
			return err
		}
		if done += int64(n); done%backupStep == 0 {
			progress(done)
		}
	}
	progress(done)
	return errors.Join(rows.Err(), out.Flush())
}

func exists(to string) error {
	return problem.New(problem.Unreadable, "name a file that does not exist yet",
		"%s exists already, so no backup was written and nothing was changed", to)
}

// noBackup is the problem with a backup that was not written.
func noBackup(name, to string, err error) error {
	if problem.ClassOf(err) != 0 || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if errors.Is(err, fs.ErrExist) {
		return exists(to)
	}
	folder := filepath.Dir(to)
	why, next := problem.Reason(err), "check "+folder+", or write a repaired copy elsewhere with --output"
	switch code := codeOf(err); {
	case code == lib.SQLITE_FULL, errors.Is(err, syscall.ENOSPC):
		why, next = "the disk is full", "make room in "+folder+", or write a repaired copy to another disk with --output"
	case IsCorrupt(err):
		why, next = "the database is damaged ("+err.Error()+")", "repair a copy with --output"
	case errors.Is(err, fs.ErrPermission):
		why = "the folder " + folder + " is not writable (" + problem.Reason(err) + ")"
	}
	return &problem.Error{
		Class: problem.Unreadable,
		What:  name + " cannot be written, so nothing was changed: " + why,
		Next:  next,
		Err:   err,
	}
}
