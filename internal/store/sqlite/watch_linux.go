package sqlite

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// watch looks for writers of one file again and again, while this process has it open for
// writing itself, so that no lease tells. The kernel says whether somebody opened it since
// the last time: only then are the processes looked at.
type watch struct {
	queue int // of inotify
	on    bool
	walks int
}

func (w *watch) findWriter(file *os.File) (pid int, err error) {
	if w.nobodyOpened() {
		return 0, nil
	}
	w.startWatching(file) // before the walk, so that nobody comes unseen behind it
	w.walks++
	if pid, err = new(openFiles).findWriter(file); pid != 0 || err != nil {
		w.stopWatching()
	}
	return pid, err
}

// nobodyOpened reports whether nobody opened the file since the last look, which found no writer.
func (w *watch) nobodyOpened() bool {
	if !w.on {
		return false
	}
	var event [unix.SizeofInotifyEvent]byte // of a file, it has no name
	_, err := unix.Read(w.queue, event[:])
	return errors.Is(err, unix.EAGAIN)
}

// startWatching begins to watch the file. Where that is not possible, each look is a walk.
func (w *watch) startWatching(file *os.File) {
	w.stopWatching()
	queue, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return
	}
	w.queue, w.on = queue, true
	if _, err := unix.InotifyAddWatch(queue, fmt.Sprintf("/proc/self/fd/%d", file.Fd()), unix.IN_OPEN); err != nil {
		w.stopWatching()
	}
}

func (w *watch) stopWatching() {
	if w.on {
		_ = unix.Close(w.queue)
		w.on = false
	}
}
