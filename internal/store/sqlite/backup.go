package sqlite

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
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
func (e *Edit) Backup(ctx context.Context, to string, _ []string, progress func(done int64)) error {
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
		return fileExistsError(to) // before the work; Publish makes sure
	}
	file, release, err := atomicfile.CreateTemporary(filepath.Dir(to), 0o600)
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
		if what := changeAtPath(written, os.Lstat, to); what != "" {
			return problem.New(problem.Busy, "nothing was changed; find out which program moves files in "+filepath.Dir(to), "%s %s", name, what)
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
		e.abandonTransaction()
		return e.explainError(err)
	}
	defer func() {
		_, failed := e.db.conn.ExecContext(context.Background(), "rollback")
		err = errors.Join(err, failed)
	}()
	version, err := e.Version(ctx) // a read: the snapshot is taken
	if err != nil {
		return err
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
	if db.isSelfContained() {
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

// isSelfContained reports whether the file alone is the whole database, so that its bytes
// can be copied, in half the time. The transaction that reads keeps writers away
// from it: in rollback mode with its lock, and in WAL mode they write elsewhere
// until a checkpoint, before which there must be a commit, which Begin notices.
func (db *DB) isSelfContained() bool {
	if db.folder != "" {
		return false
	}
	if db.beside != nil {
		info, err := db.beside.statFile(1)
		return err == nil && (info == nil || info.Size() == 0) && db.beside.replacedFile() == ""
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

func fileExistsError(to string) error {
	return problem.New(problem.Unreadable, "name a file that does not exist yet",
		"%s already exists, so no backup was written and nothing was changed", to)
}

// noBackup is the problem with a backup that was not written.
func noBackup(name, to string, err error) error {
	if problem.ClassOf(err) != 0 || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if errors.Is(err, fs.ErrExist) {
		return fileExistsError(to)
	}
	folder := filepath.Dir(to)
	why, next := problem.Reason(err), "check "+folder+", or write a repaired copy elsewhere with --output"
	switch code := codeOf(err); {
	case code == lib.SQLITE_FULL, errors.Is(err, syscall.ENOSPC):
		why, next = "the disk is full", "free some space in "+folder+", or write a repaired copy to another disk with --output"
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

// copyName is the name of the database in the folder of a private copy.
const copyName = "copy.db"

// aMoment is how long a reader waits between two commits of a writer that is at work.
const aMoment = 200 * time.Millisecond

// copyPrivately copies the database into a folder of its own: of one that somebody is
// writing to without a log under SQLite's own lock, which keeps a commit out meanwhile.
func (db *DB) copyPrivately(ctx context.Context) (folder string, err error) {
	if !isWrittenWithoutLog(db.File, db.Writer) {
		return privateCopy(ctx, db.handle, db.File)
	}
	lock := &DB{File: db.File, Writer: db.Writer, access: shared, wait: aMoment}
	if err := lock.openConnection(ctx, false); err != nil {
		return "", errors.Join(err, lock.closeConnection())
	}
	defer func() { err = errors.Join(err, lock.closeConnection()) }()
	if err := db.File.readHeader(db.handle); err != nil { // the lock is newer than the first look
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
	if before.describeChange(after) != "" || !bytes.Equal(logHead, logHeadAfter) {
		return busyError(f.Path, Writer{}, nil)
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
		What:  path + " has to be copied so that reading does not change it, and the copy failed: " + problem.Reason(err),
		Next:  "free some space in " + os.TempDir() + ", or set TMPDIR (on Windows: TMP) to a folder with more space",
		Err:   err,
	}
}

// contents names what people take for a store by mistake, by media type.
var contents = map[string]string{
	"text/plain":         "plain text",
	"text/html":          "an HTML page",
	"text/xml":           "an XML file",
	"image/jpeg":         "a JPEG image",
	"image/png":          "a PNG image",
	"image/gif":          "a GIF image",
	"application/pdf":    "a PDF document",
	"application/zip":    "a zip archive",
	"application/x-gzip": "a gzip archive",
}

// notADatabase is the problem with a file that begins with head and is no
// SQLite database.
func notADatabase(path string, head []byte, size int64) error {
	next := "see `sessctl stores` for what sessctl reads"
	what := "is not a session store: it is " + describeContents(head)
	switch {
	case looksLikeHeader(head):
		what = "cannot be read: it looks like a SQLite database whose first 16 bytes are damaged"
		next = "restore a backup; or copy the file, replace the first 16 bytes of the copy with \"SQLite format 3\" and a zero byte, and check the copy"
	case looksEncrypted(head):
		what = "is not a readable session store: it looks encrypted"
		next = "decrypt it into a new file with the tool that wrote it, and check that file"
	}
	return problem.New(problem.Unreadable, next, "%s %s (%s)", path, what, bytesText(size))
}

func describeContents(head []byte) string {
	media, _, _ := strings.Cut(http.DetectContentType(head), ";")
	if name, ok := contents[media]; ok {
		return name
	}
	if media != "application/octet-stream" {
		return "a file of type " + media
	}
	return "a binary file of unknown type"
}

// looksEncrypted reports whether head is as random as encrypted bytes are. An
// encrypted database begins with a random salt, so no magic tells it apart.
func looksEncrypted(head []byte) bool {
	if len(head) < 1024 || http.DetectContentType(head) != "application/octet-stream" {
		return false
	}
	var count [256]int
	for _, b := range head {
		count[b]++
	}
	bits, n := 0.0, float64(len(head))
	for _, c := range count {
		if c > 0 {
			bits -= float64(c) / n * math.Log2(float64(c)/n)
		}
	}
	return bits > 7.7 // random: 7.81 bits per byte in 1 KB, 7.95 in 4 KB; text about 5, programs about 6
}

func bytesText(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}
	return humanize.Bytes(uint64(n))
}
