package sqlite

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sessctl/sessctl/internal/problem"
)

const limitVar = "SESSCTL_SQLITE_LIMITED" // the database that a limited process backs up

// A backup that stops in the middle leaves nothing. The limit on the size of
// files stands in for a full disk.
func TestBackupCannotBeWritten(t *testing.T) {
	if path := os.Getenv(limitVar); path != "" {
		signal.Ignore(syscall.SIGXFSZ)
		limit := syscall.Rlimit{Cur: 1 << 20, Max: 1 << 20}
		ok(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
		dir := t.TempDir()
		e := openEdit(t, path)
		err := e.Backup(t.Context(), filepath.Join(dir, "backup.db"), nil, nil)
		isProblem(t, err, problem.Unreadable, "cannot be written, so nothing was changed")
		isEmpty(t, dir)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), limitVar+"="+large(t, 3))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestBackupIntoUnwritableFolder(t *testing.T) {
	e, dir := openEdit(t, agentStore(t, "wal")), t.TempDir()
	ok(t, os.Chmod(dir, 0o555))
	err := asOther(t, func() error { return e.Backup(t.Context(), filepath.Join(dir, "backup.db"), nil, nil) })
	isProblem(t, err, problem.Unreadable, "the folder "+dir+" is not writable")
	isEmpty(t, dir)
}
