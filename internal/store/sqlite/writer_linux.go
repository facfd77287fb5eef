package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
)

// The bytes that SQLite locks (file format 1.3.4, os_unix.c).
const (
	pendingByte  = 0x40000000
	reservedByte = pendingByte + 1
	sharedFirst  = pendingByte + 2
	sharedSize   = 510

	// In the -shm: one byte each for writing, checkpointing and recovery, five
	// for readers, and the last that every connection holds while it is open.
	shmFirst = 120
	shmSize  = 9
)

// probeWriter asks the kernel who holds locks. A connection holds one on the
// database while it reads or writes and, in WAL mode, from its first
// transaction until it closes; and one on the -shm while that is mapped. An
// idle connection in rollback mode holds none, so there findWriter tells whether
// a process has the file open for writing.
func probeWriter(handle *os.File, f File, findWriter finder) Writer {
	w, err := probeDatabase(handle)
	if err == nil && w.State == session.WriterDead && f.SHM >= 0 {
		w, err = probeIndex(f.real + "-shm")
	}
	if err != nil {
		return Writer{State: session.WriterUnknown, Why: "the locks on " + f.Path + " cannot be seen: " + problem.Reason(err)}
	}
	if w.State == session.WriterDead && !f.Header.WAL {
		pid, err := findWriter(handle)
		switch {
		case err != nil:
			return Writer{State: session.WriterUnknown, Why: "whether a process has " + f.Path + " open cannot be seen: " + problem.Reason(err)}
		case pid != 0:
			return Writer{State: session.WriterLive, Name: processName(pid)}
		}
	}
	return w
}

func probeDatabase(handle *os.File) (Writer, error) {
	holder, err := findLock(handle, syscall.F_WRLCK, pendingByte, 2+sharedSize)
	if err != nil || !holder.held {
		return Writer{State: session.WriterDead}, err
	}
	// A read lock conflicts with write locks only.
	pending, err1 := findLock(handle, syscall.F_RDLCK, pendingByte, 1)
	exclusive, err2 := findLock(handle, syscall.F_RDLCK, sharedFirst, sharedSize)
	changing, err3 := findLock(handle, syscall.F_RDLCK, reservedByte, 1)
	for _, l := range []lock{changing, pending, exclusive} {
		if l.held {
			holder = l
		}
	}
	return Writer{
		State:     session.WriterLive,
		Name:      processName(holder.pid),
		exclusive: pending.held || exclusive.held,
		changing:  changing.held,
	}, errors.Join(err1, err2, err3)
}

// probeIndex looks at the locks on the -shm. A file that has vanished since it
// was seen is held by nobody.
func probeIndex(path string) (Writer, error) {
	shm, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Writer{State: session.WriterDead}, nil
	}
	if err != nil {
		return Writer{}, err
	}
	defer func() { _ = shm.Close() }()
	l, err := findLock(shm, syscall.F_WRLCK, shmFirst, shmSize)
	if err != nil || !l.held {
		return Writer{State: session.WriterDead}, err
	}
	return Writer{State: session.WriterLive, Name: processName(l.pid)}, nil
}

// lock is a lock of another process that stands in the way. pid is not
// positive when the kernel does not name the process: it lives in another
// container, or the lock belongs to an open file instead of a process.
type lock struct {
	held bool
	pid  int
}

// findLock asks for the first lock in a range that a lock of the given kind
// would conflict with.
func findLock(file *os.File, kind int16, start, length int64) (lock, error) {
	want := syscall.Flock_t{Type: kind, Start: start, Len: length}
	for {
		err := syscall.FcntlFlock(file.Fd(), syscall.F_GETLK, &want)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		return lock{held: want.Type != syscall.F_UNLCK, pid: int(want.Pid)}, err
	}
}

// processName is "docker-agent (pid 4711)", "" for a process without a number.
func processName(pid int) string {
	if pid <= 0 {
		return ""
	}
	comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return fmt.Sprintf("pid %d", pid)
	}
	return fmt.Sprintf("%s (pid %d)", strings.TrimSpace(string(comm)), pid)
}
