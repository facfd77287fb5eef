package sqlite

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/sessctl/sessctl/internal/session"
)

// aloneWith reports whether no process has the database of a handle open in WAL mode, nor
// the one that stands at a path now, and keeps others from opening that one until release
// is called. It must not be asked while SQLite has either open here.
func aloneWith(handle *os.File, path string) (release func(), alone bool) {
	nothing := func() {}
	if w, err := probeDatabase(handle); err != nil || w.State == session.WriterLive {
		return nothing, false
	}
	file, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nothing, true
	}
	if err != nil {
		return nothing, false
	}
	all := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: pendingByte, Len: 2 + sharedSize}
	if err := syscall.FcntlFlock(file.Fd(), syscall.F_SETLK, &all); err != nil {
		_ = file.Close()
		return nothing, false
	}
	return func() { _ = file.Close() }, true // which gives the lock back
}
