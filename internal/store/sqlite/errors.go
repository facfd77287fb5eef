package sqlite

import (
	"context"
	"errors"

	modernc "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/sessctl/sessctl/internal/problem"
)

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

// Recovery is what to do about damage of the database: see session.Store.
func (db *DB) Recovery() string { return recovery(db.File.Path) }

// recovery is what to do about a database that is damaged. The copy matters:
// the sqlite3 program opens for writing and would fold the -wal into the file.
func recovery(path string) string {
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
		return busy(path, db.Writer, err)
	case lib.SQLITE_CORRUPT:
		p.What = path + " cannot be read: the database is damaged (" + err.Error() + ")"
		p.Next = recovery(path)
	case lib.SQLITE_NOTADB:
		p.What = path + " cannot be read: the database is encrypted, or its header is damaged"
		p.Next = recovery(path)
	case lib.SQLITE_CANTOPEN:
		p.What = path + " cannot be opened, or a -wal, -shm or -journal file beside it"
		p.Next = "check the permissions of these files and of their folder"
	default:
		p.What = path + " cannot be read: " + err.Error()
	}
	return p
}

// busy is the problem with a database that another process has locked.
func busy(path string, w Writer, err error) error {
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
