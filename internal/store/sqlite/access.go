package sqlite

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

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

// decide chooses the way for what was found. It must not be asked while
// another process locks readers out.
func decide(f File, w Writer) access {
	switch {
	case w.State == session.WriterUnknown || changesOwners(f.seen) || lent(f, w):
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

// lent reports whether a process that runs writes to the database without a log. Every
// reader keeps it from committing, so that the lock is only held for the time of a copy.
func lent(f File, w Writer) bool {
	return w.State == session.WriterLive && f.WAL < 0 && !f.Header.WAL
}

// dsn is the driver's name for the database. The pragmas keep functions that
// the schema names from running and test each page's cells before use.
func dsn(path string, a access, salvage bool, wait time.Duration) string {
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
