//go:build !windows

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// SyncFolder makes a new name in a folder last. Not every file system can sync a
// folder (fsync(2): EINVAL, ENOTSUP), and then there is nothing more to do.
func SyncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = Sync(f)
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, f.Close())
}
