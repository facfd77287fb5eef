// Package atomicfile writes files that are there whole or not at all: under a
// temporary name in the same folder, synced and renamed.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file that is being written. Nothing stands under its name before Commit.
type File struct {
	*os.File
	path      string
	temporary bool // else the file itself is written: a terminal, a pipe
}

// Create begins a file that will replace the one at path, if there is one: of a
// symbolic link, the one that it leads to. What is no regular file (/dev/stdout, a
// named pipe) is written to at once.
func Create(path string, mode fs.FileMode) (*File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		return &File{File: file, path: path}, err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".sessctl-*") // mode 0600
	if err != nil {
		return nil, err
	}
	f := &File{File: file, path: path, temporary: true}
	if err := file.Chmod(mode); err != nil {
		return nil, errors.Join(err, f.Discard())
	}
	return f, nil
}

// Commit gives the file its name, and makes that last. A file that cannot be
// finished is removed.
func (f *File) Commit() error {
	if !f.temporary {
		return f.Close()
	}
	err := errors.Join(f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), f.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return SyncFolder(filepath.Dir(f.path))
}

// Discard ends the writing and leaves what stood under the name before.
func (f *File) Discard() error {
	if !f.temporary {
		return f.Close()
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Replace writes a file as a whole.
func Replace(path string, data []byte, mode fs.FileMode) error {
	f, err := Create(path, mode)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return errors.Join(err, f.Discard())
	}
	return f.Commit()
}
