package sqlite

import (
	"fmt"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sessctl/sessctl/internal/problem"
)

// A process that opens the database while it is edited, and takes no lock, is seen before
// the next transaction, whether it ran before or not. The processes are looked at again
// only if somebody opened the database.
func TestIdleWriterBeforeATransaction(t *testing.T) {
	path, ctx := agentStore(t, "delete"), t.Context()
	cmd, openIt, stop := idler(t, path) // which the first walk sees, without the database
	e := openEdit(t, path)
	transaction := func() {
		t.Helper()
		ok(t, e.Begin(ctx))
		ok(t, e.Commit(ctx))
	}
	for range 3 {
		transaction()
	}
	if e.others.on && e.others.walks != 1 {
		t.Errorf("%d walks for three transactions", e.others.walks)
	}
	openIt()
	for range 2 {
		isProblem(t, e.Begin(ctx), problem.Busy, fmt.Sprintf("(pid %d)", cmd.Process.Pid))
	}
	stop()
	transaction()

	before := e.others.walks
	_, err := exec.Command("cat", path).Output()
	ok(t, err)
	transaction()
	transaction()
	if e.others.on && e.others.walks != before+1 {
		t.Errorf("%d walks because of a reader", e.others.walks-before)
	}
	for _, watched := range []bool{true, false} {
		if !watched {
			e.others.stopWatching() // as where the system has no watch left
		}
		cmd, openIt, stop := idler(t, path)
		openIt()
		isProblem(t, e.Begin(ctx), problem.Busy, fmt.Sprintf("(pid %d)", cmd.Process.Pid))
		stop()
		transaction()
	}
}

// A watch ends with the edit.
func TestEditClosesItsWatch(t *testing.T) {
	e := begun(t, agentStore(t, "delete"))
	queue, on := e.others.queue, e.others.on
	ok(t, e.Close())
	if e.others.on || on && closed(queue) == nil {
		t.Error("the watch is open still")
	}
}

func closed(descriptor int) error {
	_, err := unix.FcntlInt(uintptr(descriptor), unix.F_GETFD, 0)
	return err
}
