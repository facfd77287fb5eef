package sqlite

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFiles are the regular files that other processes have open, as one walk over /proc
// found them. Databases that are opened at the same time may share it.
type openFiles struct {
	mu    sync.Mutex
	found map[fileID][]descriptor // nil before the walk
	walks int
}

// fileID tells files apart, whatever the paths are by which processes opened them: a link,
// an old name, the path in a container.
type fileID struct {
	major, minor uint32 // of the device
	inode        uint64
}

// descriptor is one of another process.
type descriptor struct {
	pid    int
	number string
}

// findWriter finds a process that has a file open for writing, 0 when there is none or its
// files may not be looked at.
func (o *openFiles) findWriter(file *os.File) (pid int, err error) {
	lease := tryLease(file)
	if lease == nil {
		return 0, nil
	}
	return o.lookFor(file, errors.Is(lease, unix.EAGAIN))
}

// lookFor looks among the processes. Where somebody is known to be there, a walk that does
// not know of him is too old.
func (o *openFiles) lookFor(file *os.File, somebody bool) (pid int, err error) {
	id, _, err := identifyFile(int(file.Fd()), "", unix.AT_EMPTY_PATH)
	if err != nil {
		return 0, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	walked := o.found != nil
	if !walked {
		o.walkProcesses()
	}
	pid = o.writerOf(id)
	if pid == 0 && walked && somebody {
		o.walkProcesses()
		pid = o.writerOf(id)
	}
	return pid, nil
}

// tryLease is nil if no process has the file open for writing: only then does the kernel
// grant a lease for reading (fcntl(2)), which is given back at once. Meanwhile a process
// that opens it for writing waits. EAGAIN means that one may have it. Only the owner and
// root may ask, and not all file systems can tell.
func tryLease(file *os.File) error {
	_, err := unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	if err == nil {
		_, err = unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	}
	return err
}

// identifyFile says which file a path leads to, and whether it is a regular one. A file server
// that does not answer is not waited for.
func identifyFile(folder int, path string, flags int) (id fileID, regular bool, err error) {
	var s unix.Statx_t
	err = unix.Statx(folder, path, flags|unix.AT_STATX_DONT_SYNC|unix.AT_NO_AUTOMOUNT, unix.STATX_TYPE|unix.STATX_INO, &s)
	return fileID{s.Dev_major, s.Dev_minor, s.Ino}, s.Mode&unix.S_IFMT == unix.S_IFREG, err
}

// walkProcesses looks at the descriptors of all processes that let this one.
func (o *openFiles) walkProcesses() {
	o.walks++
	o.found = map[fileID][]descriptor{}
	processes, _ := os.ReadDir("/proc") // as many as there are
	for _, p := range processes {
		if pid, err := strconv.Atoi(p.Name()); err == nil && pid != os.Getpid() {
			o.addProcess(pid)
		}
	}
}

func (o *openFiles) addProcess(pid int) {
	table, err := os.Open(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return // another user's process, or one that has ended
	}
	defer func() { _ = table.Close() }()
	numbers, _ := table.Readdirnames(-1) // as many as there are
	for _, number := range numbers {
		if id, regular, err := identifyFile(int(table.Fd()), number, 0); err == nil && regular {
			o.found[id] = append(o.found[id], descriptor{pid, number})
		}
	}
}

// writerOf is a process that the walk found, and that has the file open for writing still.
func (o *openFiles) writerOf(id fileID) int {
	for _, d := range o.found[id] {
		now, _, err := identifyFile(unix.AT_FDCWD, fmt.Sprintf("/proc/%d/fd/%s", d.pid, d.number), 0)
		if err == nil && now == id && opensToWrite(d) {
			return d.pid
		}
	}
	return 0
}

// opensToWrite reports whether a process opened a descriptor for writing.
func opensToWrite(d descriptor) bool {
	info, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%s", d.pid, d.number))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(info)) {
		if octal, ok := strings.CutPrefix(line, "flags:"); ok {
			flags, err := strconv.ParseUint(strings.TrimSpace(octal), 8, 64)
			return err == nil && flags&syscall.O_ACCMODE != syscall.O_RDONLY
		}
	}
	return false
}
