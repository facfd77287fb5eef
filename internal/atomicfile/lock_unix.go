//go:build darwin || freebsd || linux

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

const canLock = true

// claimLock locks the file or the folder at a path, until release is called. It follows no
// link and waits for nobody.
func claimLock(path string) (release func(), err error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errTaken
	}
	if err == nil {
		err = isStill(file, path)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return func() { _ = file.Close() }, nil
}

// isStill makes sure that a path leads to the file that is open, a regular file or a
// folder.
func isStill(file *os.File, path string) error {
	opened, err := file.Stat()
	if err != nil {
		return err
	}
	now, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case !os.SameFile(opened, now) || !now.Mode().IsRegular() && !now.IsDir():
		return fs.ErrNotExist
	}
	return nil
}

// IsLocked reports whether another process has locked an open file, and whether that can be known.
// For a moment it shares the lock with those that wait for none.
func IsLocked(file *os.File) (locked, known bool) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if err == nil {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
	}
	return errors.Is(err, syscall.EWOULDBLOCK), err == nil || errors.Is(err, syscall.EWOULDBLOCK)
}
