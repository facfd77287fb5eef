package sqlite

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

func TestSniffRefusesSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	ok(t, syscall.Mkfifo(pipe, 0o600))
	refused(t, pipe, "it is a named pipe")

	t.Chdir(dir) // the path of a socket must be short
	listener, err := net.Listen("unix", "socket")
	ok(t, err)
	defer func() { _ = listener.Close() }()
	refused(t, "socket", "it is a socket")
	refused(t, "/dev/null", "it is a device")
}

func TestSniffPermission(t *testing.T) {
	if os.Getuid() == 0 {
		runtime.LockOSThread() // the rights are the thread's
		defer runtime.UnlockOSThread()
		ok(t, syscall.Setfsuid(65534))
		defer func() { ok(t, syscall.Setfsuid(0)) }()
	}
	path := filepath.Join(t.TempDir(), "session.db")
	ok(t, os.WriteFile(path, []byte("x"), 0))
	refused(t, path, "permission denied")
}
