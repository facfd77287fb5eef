package sqlite

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sessctl/sessctl/internal/problem"
)

// copyName is the name of the database in the folder of a private copy.
const copyName = "copy.db"

// aMoment is how long a reader waits between two commits of a writer that is at work.
const aMoment = 200 * time.Millisecond

// copyPrivately copies the database into a folder of its own: of one that somebody is
// writing to without a log under SQLite's own lock, which keeps a commit out meanwhile.
func (db *DB) copyPrivately(ctx context.Context) (folder string, err error) {
	if !lent(db.File, db.Writer) {
		return privateCopy(ctx, db.handle, db.File)
	}
	lock := &DB{File: db.File, Writer: db.Writer, access: shared, wait: aMoment}
	if err := lock.connect(ctx, false); err != nil {
		return "", errors.Join(err, lock.disconnect())
	}
	defer func() { err = errors.Join(err, lock.disconnect()) }()
	if err := db.File.read(db.handle); err != nil { // the lock is newer than the first look
		return "", err
	}
	folder, err = os.MkdirTemp("", "sessctl-")
	if err != nil {
		return "", copyFailed(db.File.Path, err)
	}
	if _, err = db.handle.Seek(0, io.SeekStart); err == nil {
		err = copyFile(ctx, filepath.Join(folder, copyName), db.handle)
	}
	if err != nil {
		_ = os.RemoveAll(folder)
		return "", copyFailed(db.File.Path, err)
	}
	return folder, nil
}

// privateCopy copies the database, its -wal and its -journal into a new folder
// that only this user can read. The copy is consistent: if the originals changed
// since f was taken in a way that could tear it, the result is a problem of
// class Busy.
//
// The order matters. A -wal only grows, and what is appended while the copy
// runs forms later commits, or none. Only a checkpoint changes the database,
// and only after one does the log begin anew with another header.
func privateCopy(ctx context.Context, handle *os.File, f File) (string, error) {
	folder, err := os.MkdirTemp("", "sessctl-")
	if err != nil {
		return "", copyFailed(f.Path, err)
	}
	if err := copyInto(ctx, folder, handle, f); err != nil {
		_ = os.RemoveAll(folder)
		return "", copyFailed(f.Path, err)
	}
	return folder, nil
}

func copyInto(ctx context.Context, folder string, handle *os.File, f File) error {
	logHead, err := headOf(f.real+"-wal", walHeaderSize)
	if err != nil {
		return err
	}
	target := filepath.Join(folder, copyName)
	if _, err = handle.Seek(0, io.SeekStart); err == nil {
		err = copyFile(ctx, target, handle)
	}
	for _, suffix := range []string{"-wal", "-journal"} {
		if err == nil {
			err = copyNeighbour(ctx, target+suffix, f.real+suffix)
		}
	}
	if err != nil {
		return err
	}
	after, err := lookAt(f.real)
	if err != nil {
		return err
	}
	logHeadAfter, err := headOf(f.real+"-wal", walHeaderSize)
	if err != nil {
		return err
	}
	before := f.seen
	before[1], before[2], after[1], after[2] = nil, nil, nil, nil // the -wal may grow; the -shm is not copied
	if before.difference(after) != "" || !bytes.Equal(logHead, logHeadAfter) {
		return busy(f.Path, Writer{}, nil)
	}
	return nil
}

// copyNeighbour copies a file that need not exist.
func copyNeighbour(ctx context.Context, target, source string) error {
	file, err := os.Open(source)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	return copyFile(ctx, target, file)
}

func copyFile(ctx context.Context, target string, source *os.File) error {
	out, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	for err == nil {
		if err = ctx.Err(); err == nil {
			_, err = io.CopyN(out, source, 64<<20)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, out.Close())
}

func copyFailed(path string, err error) error {
	if problem.ClassOf(err) != 0 || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &problem.Error{
		Class: problem.Unreadable,
		What:  path + " must be copied to be read without changing it, and that failed: " + problem.Reason(err),
		Next:  "make room in " + os.TempDir() + ", or set TMPDIR (on Windows: TMP) to a folder that has room",
		Err:   err,
	}
}
