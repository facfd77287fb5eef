package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Publish gives a finished file its name, durably, and never over another file:
// then the error is fs.ErrExist. After an error the name is not given. Both names are in one folder, or at least in one
// file system.
func Publish(temporary, to string) error {
	err := os.Link(temporary, to)
	if err == nil {
		err = os.Remove(temporary)
	} else if !errors.Is(err, fs.ErrExist) { // a file system without hard links
		err = reserve(temporary, to)
	}
	if err != nil {
		return err
	}
	if err := SyncFolder(filepath.Dir(to)); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}

// reserve takes the name with an empty file, which it may then replace.
func reserve(temporary, to string) error {
	place, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(place.Close(), os.Rename(temporary, to)); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}
