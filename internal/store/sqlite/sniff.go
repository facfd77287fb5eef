package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sessctl/sessctl/internal/problem"
)

// File is what can be told of a database without opening it with SQLite.
type File struct {
	Path   string // as given
	Size   int64
	Header Header

	// Sizes of the neighbours in bytes, -1 where there is none.
	WAL, SHM, Journal int64

	real       string      // symbolic links resolved: the neighbours stand beside this one
	opened     fs.FileInfo // the identity of the file that is open
	seen       look
	head       string // what it begins with: its change counter is there
	walUsable  bool   // the -wal begins with a header that SQLite accepts
	journalHot bool   // the -journal begins with a header: a transaction was not finished
}

// sniffFile looks at the file at path and its neighbours, and leaves the database open for
// the caller to close. Its errors are problems of class Unreadable that say what the
// file is instead of a database.
func sniffFile(path string) (*os.File, File, error) {
	f := File{Path: path}
	var err error
	if f.real, err = filepath.EvalSymlinks(path); err != nil {
		return nil, f, cannotRead(path, err)
	}
	if f.real, err = filepath.Abs(f.real); err != nil {
		return nil, f, cannotRead(path, err)
	}
	// A FIFO would block on opening: look at its kind first.
	info, err := os.Stat(f.real)
	if err != nil {
		return nil, f, cannotRead(path, err)
	}
	if err := checkRegular(path, info); err != nil {
		return nil, f, err
	}
	handle, err := os.Open(f.real)
	if err != nil {
		return nil, f, cannotRead(path, err)
	}
	if err = f.readHeader(handle); err == nil {
		err = f.meetNeighbours()
	}
	if err == nil {
		err = f.replacedError()
	}
	if err != nil {
		_ = handle.Close()
		return nil, f, err
	}
	return handle, f, nil
}

// checkRegular is the problem with anything but a regular file.
func checkRegular(path string, info fs.FileInfo) error {
	next := "name a database file"
	switch {
	case info.Mode().IsRegular():
		return nil
	case info.IsDir():
		next = "name the database file in it"
	}
	return problem.New(problem.Unreadable, next, "%s is not a session store: it is %s", path, kindOf(info.Mode()))
}

// kindOf names what is no regular file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// readHeader takes the size and the header from the file.
func (f *File) readHeader(handle *os.File) error {
	info, err := handle.Stat()
	if err != nil {
		return cannotRead(f.Path, err)
	}
	f.Size, f.opened = info.Size(), info
	head := make([]byte, 4096)
	n, err := handle.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return cannotRead(f.Path, err)
	}
	head = head[:n]
	switch {
	case n == 0:
		return emptyFile(f)
	case !IsSQLite(head):
		return notADatabase(f.Path, head, f.Size)
	case n < headerSize:
		return problem.New(problem.Unreadable, "restore a backup of the file",
			"%s cannot be read: only %d bytes of a SQLite database are left", f.Path, n)
	}
	f.head = string(head[:headerSize])
	f.Header, err = parseHeader(f.Path, head)
	return err
}

func emptyFile(f *File) error {
	next := "restore a backup, or delete the file and let the runtime create a new one"
	if info, err := os.Stat(f.real + "-wal"); err == nil && info.Size() > 0 {
		next = "keep " + f.Path + "-wal (" + bytesText(info.Size()) +
			"): it may hold the newest messages, and a program that opens the empty file deletes it"
	}
	return problem.New(problem.Unreadable, next,
		"%s is empty (0 bytes)", f.Path)
}

func cannotRead(path string, err error) error {
	p := &problem.Error{Class: problem.Unreadable, Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.What = "there is no file " + path
		p.Next = "check the path; `sessctl stores` lists where runtimes keep their stores"
	case errors.Is(err, fs.ErrPermission):
		p.What = path + " cannot be read: permission denied"
		p.Next = "run sessctl as the user who owns the file"
	default:
		p.What = path + " cannot be read: " + problem.Reason(err)
	}
	return p
}

// headerSize is the length of the database header at the start of page 1
// (file format 1.3).
const headerSize = 100

var magic = []byte("SQLite format 3\x00")

// IsSQLite reports whether a file that begins with head is a SQLite database.
func IsSQLite(head []byte) bool { return bytes.HasPrefix(head, magic) }

// IsLog reports whether a file that begins with head is the write-ahead log or the
// rollback journal of a database (file format 4.1 and 3).
func IsLog(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\x37\x7f\x06\x82")) || bytes.HasPrefix(head, []byte("\x37\x7f\x06\x83")) ||
		bytes.HasPrefix(head, []byte("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"))
}

// Header is what the first 100 bytes of a database say.
type Header struct {
	PageSize int
	WAL      bool // the database is in WAL mode
	// Pages is the size of the database, 0 when the header does not know it
	// (written by a SQLite before 3.7.0: the change counter is not the one
	// that the size was noted for).
	Pages uint32
}

// parseHeader reads head, which holds at least headerSize bytes and the magic.
func parseHeader(path string, head []byte) (Header, error) {
	be := binary.BigEndian
	h := Header{PageSize: int(be.Uint16(head[16:])), WAL: head[19] == 2}
	if h.PageSize == 1 {
		h.PageSize = 65536
	}
	if be.Uint32(head[24:]) == be.Uint32(head[92:]) {
		h.Pages = be.Uint32(head[28:])
	}
	if !validPageSize(h.PageSize) {
		return h, problem.New(problem.Unreadable, recoveryAdvice(path),
			"%s cannot be read: the header of this SQLite database is damaged (page size %d)", path, h.PageSize)
	}
	if head[19] > 2 {
		return h, problem.New(problem.Unreadable, "",
			"%s cannot be read: its header asks for a newer SQLite (read version %d), or is damaged", path, head[19])
	}
	return h, nil
}

func validPageSize(n int) bool { return n >= 512 && n <= 65536 && n&(n-1) == 0 }

// looksLikeHeader reports whether head is a database header apart from its
// magic: the payload fractions are constants of the format.
func looksLikeHeader(head []byte) bool {
	return len(head) >= headerSize && bytes.Equal(head[21:24], []byte{64, 32, 32})
}

// OpenSecond opens a second connection, to read two tables at once. It exists only
// where nothing can change between the two connections: ok is false where
// another process may write, since their snapshots could differ then. The
// second one must be closed before the first.
func (db *DB) OpenSecond(ctx context.Context) (second *DB, ok bool, err error) {
	if db.raw == nil {
		return nil, false, nil
	}
	second = &DB{File: db.File, Writer: db.Writer, access: db.access, raw: db.raw, scanned: db.scanned, CompareIndexes: db.CompareIndexes}
	if err := second.openConnection(ctx, false); err != nil {
		return nil, false, second.closeConnection()
	}
	return second, true, nil
}
