package sqlite

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// elsewhere runs a statement in another process and returns what it reports.
func elsewhere(t *testing.T, path, statement string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], fileURI(path), statement)
	cmd.Env = append(os.Environ(), childVar+"="+childSQL)
	out, err := cmd.Output()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return string(out)
}

const lookVar = "SESSCTL_SQLITE_LOOK" // the database whose lock another process looks for

// seenElsewhere tests that another process sees a lock on the database itself.
// In WAL mode it keeps others from taking themselves for the last user, who
// removes the -wal; writing is locked in the -shm.
func seenElsewhere(t *testing.T, path string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+strings.Split(t.Name(), "/")[0]+"$")
	cmd.Env = append(os.Environ(), lookVar+"="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func isHeld(t *testing.T, path string) {
	t.Helper()
	handle, _, err := sniffFile(path)
	ok(t, err)
	defer func() { _ = handle.Close() }()
	if w, err := probeDatabase(handle); err != nil || w.State != session.WriterLive {
		t.Errorf("another process sees no lock: %+v (%v)", w, err)
	}
}

// Nothing that Begin does to see other processes may drop the locks of this
// one, which any closed descriptor of the database or its -shm would do.
func TestBeginHoldsLocks(t *testing.T) {
	if path := os.Getenv(lookVar); path != "" {
		isHeld(t, path)
		return
	}
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			path, ctx := agentStore(t, mode), t.Context()
			e := openEdit(t, path)
			ok(t, e.Backup(ctx, filepath.Join(t.TempDir(), "backup.db"), nil, nil))
			ok(t, e.Begin(ctx))
			for range 2 {
				if out := elsewhere(t, path, "begin immediate"); !strings.Contains(out, "SQLITE_BUSY") {
					t.Errorf("another process gets the lock: %q", out)
				}
				seenElsewhere(t, path)
				ok(t, e.Update(ctx, "session_items", 1, []table.FieldChange{{Name: "extra", Old: nil, New: nil}}))
				_, err := e.DB().Columns(ctx)
				ok(t, err)
			}
			ok(t, e.Rollback())
			if out := elsewhere(t, path, "begin immediate"); !strings.Contains(out, "ready") {
				t.Errorf("after the rollback: %q", out)
			}
		})
	}
}

func TestEditSeesOthers(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			path, ctx := agentStore(t, mode), t.Context()
			cmd, stop := process(t, path, "select count(*) from sessions")
			before := folder(t, filepath.Dir(path))
			_, err := OpenEdit(ctx, path)
			isProblem(t, err, problem.Busy, fmt.Sprintf("(pid %d)", cmd.Process.Pid))
			if after := folder(t, filepath.Dir(path)); after != before {
				t.Errorf("%s, want %s", after, before)
			}
			stop()

			e := openEdit(t, path)
			cmd, stop = process(t, path, "select count(*) from sessions") // idle, and came after OpenEdit
			isProblem(t, e.Begin(ctx), problem.Busy, fmt.Sprintf("(pid %d)", cmd.Process.Pid))
			stop()
			cmd, stop = process(t, path, "begin immediate")
			isProblem(t, e.Begin(ctx), problem.Busy, fmt.Sprintf("(pid %d)", cmd.Process.Pid))
			stop()
			ok(t, e.Begin(ctx))
		})
	}
}

func TestBeginAfterBackup(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			path, dir, ctx := agentStore(t, mode), t.TempDir(), t.Context()
			e := openEdit(t, path)
			ok(t, e.Backup(ctx, filepath.Join(dir, "1.db"), nil, nil))
			elsewhere(t, path, "update sessions set title = 'moved'")
			err := e.Begin(ctx)
			isProblem(t, err, problem.Busy, "changed after it was backed up")
			if !errors.Is(err, table.ErrMoved) {
				t.Error("not ErrMoved")
			}
			ok(t, e.Backup(ctx, filepath.Join(dir, "2.db"), nil, nil))
			for range 2 { // one's own commits do not count
				ok(t, e.Begin(ctx))
				_, err = e.Insert(ctx, "sessions", []table.Field{{Name: "id", Value: nil}})
				ok(t, err)
				ok(t, e.Commit(ctx))
			}
			ok(t, e.Close())
			if d := dump(t, filepath.Join(dir, "2.db")); !strings.Contains(d, "moved") {
				t.Error(d)
			}
		})
	}
}

// A process that is killed inside a transaction leaves the old state.
func TestOpenEditRollsBackHotJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	create(t, path, rows(5000)...)
	before := dump(t, path)
	killed(t, path, spill...)
	e := begun(t, path)
	ok(t, errors.Join(e.Commit(t.Context()), e.Close()))
	hasNoNeighbours(t, path)
	if dump(t, path) != before {
		t.Error("the transaction was not rolled back")
	}
}

func TestOpenEditUnwritable(t *testing.T) {
	path := agentStore(t, "wal")
	ok(t, os.Chmod(filepath.Dir(filepath.Dir(path)), 0o755))
	tests := []struct {
		file, folder os.FileMode
		want         string
	}{
		{0o444, 0o777, "the file is not writable (permission denied)"},
		{0o666, 0o555, "the folder " + filepath.Dir(path) + " is not writable (permission denied)"},
	}
	for _, test := range tests {
		ok(t, os.Chmod(path, test.file))
		ok(t, os.Chmod(filepath.Dir(path), test.folder))
		err := asOther(t, func() error { _, err := OpenEdit(t.Context(), path); return err })
		isProblem(t, err, problem.Unreadable, test.want)
		hasNoNeighbours(t, path)
	}
	ok(t, os.Chmod(filepath.Dir(path), 0o755))
}

// asOther does something with another user's rights to files if this is root,
// for whom permissions mean nothing.
func asOther(t *testing.T, do func() error) error {
	t.Helper()
	if os.Getuid() == 0 {
		runtime.LockOSThread() // the rights are the thread's
		defer runtime.UnlockOSThread()
		ok(t, syscall.Setfsuid(65534))
		defer func() { ok(t, syscall.Setfsuid(0)) }()
	}
	return do()
}
