package atomicfile

import (
	"io"
	"os"
)

// Fault is asked before each change of a file that has to last: its error is that of the
// change. op is write, sync, rename, link or truncate. A test makes a disk full with it.
var Fault = func(op, path string) error { return nil } //nolint:revive // the names say what it is asked

// WriteAt writes bytes at an offset of a file; a part of them, where that fails.
func WriteAt(f *os.File, p []byte, at int64) (int, error) {
	if err := Fault("write", f.Name()); err != nil {
		n, _ := f.WriteAt(p[:len(p)/2], at)
		return n, err
	}
	return f.WriteAt(p, at)
}

// Write writes bytes where a file is; a part of them, where that fails.
func Write(f *os.File, p []byte) (int, error) {
	if err := Fault("write", f.Name()); err != nil {
		n, _ := f.Write(p[:len(p)/2])
		return n, err
	}
	return f.Write(p)
}

// Copy writes all that is read where a file is, and counts it.
func Copy(f *os.File, from io.Reader) (int64, error) { return io.Copy(writing{f}, from) }

type writing struct{ f *os.File }

func (w writing) Write(p []byte) (int, error) { return Write(w.f, p) }

// Sync makes what was written to a file last.
func Sync(f *os.File) error {
	if err := Fault("sync", f.Name()); err != nil {
		return err
	}
	return f.Sync()
}

// Truncate cuts a file off.
func Truncate(f *os.File, size int64) error {
	if err := Fault("truncate", f.Name()); err != nil {
		return err
	}
	return f.Truncate(size)
}

// Rename gives a file another name, in the place of one that has it.
func Rename(from, to string) error {
	if err := Fault("rename", to); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// linkFile gives a file a second name.
func linkFile(from, to string) error {
	if err := Fault("link", to); err != nil {
		return err
	}
	return os.Link(from, to)
}

// SecondName gives a file a second name in its folder, under which it stays when another one
// takes the first, so that to put it back takes no room. release gives up the lock on it, as
// that of Temporary does. Not every file system has second names.
func SecondName(path, folder string) (name string, release func(), err error) {
	err = makeLocked(folder, func(second string) error {
		name = second
		return linkFile(path, second)
	}, func() { _ = os.Remove(name) }, &release)
	return name, release, err
}
