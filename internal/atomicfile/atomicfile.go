// Package atomicfile writes files that are there whole or not at all: under a
// temporary name in the same folder, synced and renamed.
package atomicfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file that is being written. Nothing stands under its name before Commit.
type File struct {
	file      *os.File
	path      string
	temporary bool   // else the file itself is written: a terminal, a pipe
	release   func() // its lock; nil where it is not temporary
	failed    error  // the first write that failed
}

// Create begins a file that will replace the one at path, if there is one: of a
// symbolic link, the one that it leads to. It keeps the mode of the file that stands
// there; a new one gets mode, less what the umask takes. What is no regular file
// (/dev/stdout, a named pipe) is written to at once; a pipe opens when somebody reads
// it, or the context ends.
func Create(ctx context.Context, path string, mode fs.FileMode) (*File, error) {
	standing, err := os.Stat(path)
	if err == nil && !standing.Mode().IsRegular() {
		file, err := openStream(ctx, path, os.O_WRONLY)
		if err != nil {
			return nil, err
		}
		return &File{file: file, path: path}, nil
	}
	path, err = Destination(path)
	if err != nil {
		return nil, err
	}
	if standing != nil {
		mode = standing.Mode().Perm()
	}
	file, release, err := Temporary(filepath.Dir(path), mode)
	if err != nil {
		return nil, err
	}
	f := &File{file: file, path: path, temporary: true, release: release}
	if standing != nil {
		if err := file.Chmod(mode); err != nil {
			return nil, errors.Join(err, f.Discard())
		}
	}
	return f, nil
}

// Write implements io.Writer. After a write that failed all others fail, too.
func (f *File) Write(p []byte) (int, error) {
	if f.failed != nil {
		return 0, f.failed
	}
	n, err := f.file.Write(p)
	f.failed = err
	return n, err
}

// Commit gives the file its name, and makes that last. A file that cannot be
// finished, or that lacks something because a write failed, is removed.
func (f *File) Commit() error {
	if !f.temporary {
		return errors.Join(f.failed, f.file.Close())
	}
	if f.failed != nil {
		return errors.Join(f.failed, f.Discard())
	}
	defer f.release()
	err := errors.Join(f.file.Sync(), f.file.Close())
	if err == nil {
		err = os.Rename(f.file.Name(), f.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.file.Name()))
	}
	return SyncFolder(filepath.Dir(f.path))
}

// Discard ends the writing and leaves what stood under the name before.
func (f *File) Discard() error {
	if !f.temporary {
		return f.file.Close()
	}
	defer f.release()
	return errors.Join(f.file.Close(), os.Remove(f.file.Name()))
}

// Replace writes a file as a whole.
func Replace(path string, data []byte, mode fs.FileMode) error {
	f, err := Create(context.Background(), path, mode)
	if err != nil {
		return err
	}
	_, _ = f.Write(data) // what fails, Commit says
	return f.Commit()
}
