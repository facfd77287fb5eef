package copilot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/session"
)

// writerOf says whether a process has the session of a file. 1.0.102 locks inuse.PID.hold as long as it runs;
// of 1.0.24 there is its number alone, which may be that of another process by now, or of another
// container.
func (c *copilot) writerOf(name string) session.Writer {
	writer := session.WriterDead
	holds, _ := fs.Glob(c.root.FS(), path.Join(path.Dir(name), "inuse.*")) // its one error is a bad pattern
	for _, hold := range holds {
		switch stem, isHold := strings.CutSuffix(hold, ".hold"); {
		case isHold && c.isLocked(hold) != session.WriterDead:
			return c.isLocked(hold)
		case isHold:
		default:
			stem = strings.TrimSuffix(stem, ".lock")
			if _, err := c.root.Stat(stem + ".hold"); errors.Is(err, fs.ErrNotExist) && isRunning(path.Ext(stem)) {
				writer = session.WriterUnknown
			}
		}
	}
	return writer
}

// isLocked says whether a process holds the lock of a file.
func (c *copilot) isLocked(name string) session.Writer {
	info, err := c.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() { // nobody waits for a pipe
		return session.WriterUnknown
	}
	file, err := c.root.Open(name)
	if err != nil {
		return session.WriterUnknown
	}
	defer func() { _ = file.Close() }()
	switch locked, known := atomicfile.IsLocked(file); {
	case !known:
		return session.WriterUnknown
	case locked:
		return session.WriterLive
	}
	return session.WriterDead
}

// isRunning reports whether a process of a number may run, ".4711".
func isRunning(number string) bool {
	if _, none := os.Stat("/proc/self/stat"); none != nil {
		return true
	}
	_, err := os.Stat(fmt.Sprintf("/proc/%s/stat", strings.TrimPrefix(number, ".")))
	return err == nil
}
