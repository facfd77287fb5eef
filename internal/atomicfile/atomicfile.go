// Package atomicfile writes files that are there whole or not at all: under a
// temporary name in the same folder, synced and renamed.
package atomicfile

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
		file, err := OpenStream(ctx, path, os.O_WRONLY)
		if err != nil {
			return nil, err
		}
		return &File{file: file, path: path}, nil
	}
	path, err = ResolveLinks(path)
	if err != nil {
		return nil, err
	}
	if standing != nil {
		mode = standing.Mode().Perm()
	}
	file, release, err := CreateTemporary(filepath.Dir(path), mode)
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
	n, err := Write(f.file, p)
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
	err := errors.Join(Sync(f.file), f.file.Close())
	if err == nil {
		err = Rename(f.file.Name(), f.path)
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

// Publish gives a finished file its name, durably, and never over another file:
// then the error is fs.ErrExist. After an error the name is not given. Both names are in one folder, or at least in one
// file system.
func Publish(temporary, to string) error {
	err := linkFile(temporary, to)
	if err == nil {
		err = os.Remove(temporary)
	} else if !errors.Is(err, fs.ErrExist) { // a file system without hard links
		err = reserveName(temporary, to)
	}
	if err != nil {
		return err
	}
	if err := SyncFolder(filepath.Dir(to)); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}

// reserveName takes the name with an empty file, which it may then replace.
func reserveName(temporary, to string) error {
	place, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(place.Close(), Rename(temporary, to)); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}

// mostLinks are as many links as Linux follows in one path (path_resolution(7)).
const mostLinks = 40

// ResolveLinks resolves the file that a path leads to through symbolic links, also where
// nothing stands there yet. Its folder has to be there.
func ResolveLinks(path string) (string, error) {
	for range mostLinks {
		folder, name := filepath.Split(path) // which, unlike Dir, takes no ".." away
		folder, err := filepath.EvalSymlinks(cmp.Or(folder, "."))
		if err != nil {
			return "", err
		}
		path = filepath.Join(folder, name)
		to, err := os.Readlink(path)
		if err != nil { // it is no link
			return path, nil
		}
		if !filepath.IsAbs(to) {
			to = folder + string(filepath.Separator) + to
		}
		path = to
	}
	return "", &fs.PathError{Op: "open", Path: path, Err: errors.New("too many symbolic links")}
}

// SameFile reports whether two paths lead to one file, or would.
func SameFile(a, b string) bool {
	first, err1 := os.Stat(a)
	second, err2 := os.Stat(b)
	if err1 == nil && err2 == nil {
		return os.SameFile(first, second)
	}
	a, err1 = ResolveLinks(a)
	b, err2 = ResolveLinks(b)
	if err1 != nil || err2 != nil || filepath.Base(a) != filepath.Base(b) {
		return false
	}
	first, err1 = os.Stat(filepath.Dir(a))
	second, err2 = os.Stat(filepath.Dir(b))
	return err1 == nil && err2 == nil && os.SameFile(first, second)
}

// What is being written has a name that begins like this, and whoever writes it holds a
// lock on it (flock(2)). So what a killed process left can be told from what another one
// is writing now: nobody holds the lock.
const temporary = ".sessctl-tmp-"

// CreateTemporary begins a file in a folder, of this mode less what the umask takes. release
// gives up the lock, after which the file may be deleted by the next process that makes
// one there; with its last name it is safe. What killed processes left there is deleted.
func CreateTemporary(folder string, mode fs.FileMode) (file *os.File, release func(), err error) {
	sweepFolder(folder)
	err = makeLocked(folder, func(path string) (err error) {
		file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		return err
	}, func() { _ = file.Close() }, &release)
	return file, release, err
}

// CreateTemporaryFolder makes a folder in a folder, for this user only, as Temporary does.
func CreateTemporaryFolder(folder string) (path string, release func(), err error) {
	sweepFolder(folder)
	err = makeLocked(folder, func(name string) error {
		path = name
		return os.Mkdir(path, 0o700)
	}, func() {}, &release)
	return path, release, err
}

// makeLocked makes something under a new name and locks it. Between the two another process
// can have taken it for left behind: then it is made again.
func makeLocked(folder string, make func(path string) error, drop func(), release *func()) error {
	for {
		path := filepath.Join(folder, temporary+rand.Text())
		if err := make(path); err != nil {
			return err
		}
		held, err := claimLock(path)
		switch {
		case err == nil:
			*release = held
			return nil
		case !errors.Is(err, errTaken) && !errors.Is(err, fs.ErrNotExist): // there are no locks here, so nobody deletes it
			*release = func() {}
			return nil
		}
		drop()
	}
}

// HoldLock locks another program's file, as flock(2) does, until release is called. It waits
// for nobody: taken says that another process has the lock. Where there is no such file or
// no such lock, nothing is locked.
func HoldLock(path string) (release func(), taken bool) {
	release, err := claimLock(path)
	if err != nil {
		release = func() {}
	}
	return release, errors.Is(err, errTaken)
}

// errTaken is the error of a claim on what another process is writing.
var errTaken = errors.New("another process holds the lock")

// sweepFolder deletes what killed processes left in a folder. What it cannot open, or lock, it
// leaves: other users' files, and those of processes that run.
func sweepFolder(folder string) {
	if !canLock {
		return
	}
	for _, name := range namesWithPrefix(folder, temporary) {
		path := filepath.Join(folder, name)
		if release, err := claimLock(path); err == nil {
			_ = os.RemoveAll(path)
			release()
		}
	}
}

// FindLeftovers finds the names in a folder that look like files which a killed sessctl left,
// and of which nobody can tell whether one is still at work: those of older versions, and
// of systems without locks.
func FindLeftovers(folder string) []string {
	var left []string
	for _, name := range namesWithPrefix(folder, ".sessctl-") {
		if strings.HasPrefix(name, temporary) {
			release, err := claimLock(filepath.Join(folder, name))
			if errors.Is(err, errTaken) {
				continue
			}
			if err == nil {
				release()
			}
		}
		left = append(left, name)
	}
	slices.Sort(left)
	return left
}

// namesWithPrefix are the names in a folder with a prefix.
func namesWithPrefix(folder, prefix string) []string {
	f, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	names, _ := f.Readdirnames(-1)
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, prefix) })
}

// OpenRegular opens a regular file for reading, and never waits: a named pipe, a
// device, a socket or a folder is an error that says so. It follows symbolic links.
func OpenRegular(path string) (*os.File, error) {
	return openRegular(path, os.O_RDONLY, os.Stat)
}

// OpenOwn is OpenRegular for a file that this program writes: a symbolic link is
// refused. flag is how to open it, as os.OpenFile takes it.
func OpenOwn(path string, flag int) (*os.File, error) {
	return openRegular(path, flag|noFollow, os.Lstat)
}

func openRegular(path string, flag int, stat func(string) (fs.FileInfo, error)) (*os.File, error) {
	// Even to open a device can do something, so what it is comes first.
	info, err := stat(path)
	if err == nil {
		err = isRegular(path, info)
	}
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, flag|noWait, 0) // it may be another file by now
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = isRegular(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ReadRegular reads a regular file as a whole. One of more than most bytes is an
// error, also if it only grows to that while it is read.
func ReadRegular(path string, most int64) ([]byte, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	data, err := ReadAll(f, most)
	return data, errors.Join(err, f.Close())
}

// ReadAll reads the rest of a file that has at most most bytes.
func ReadAll(f *os.File, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, refusedError(f.Name(), fmt.Sprintf("it has more than %d MiB", most>>20))
	}
	return data, err
}

// isRegular says what a file is that is none.
func isRegular(path string, info fs.FileInfo) error {
	mode := info.Mode()
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return refusedError(path, "it is a folder")
	case mode&fs.ModeSymlink != 0:
		return refusedError(path, "it is a symbolic link")
	case mode&fs.ModeNamedPipe != 0:
		return refusedError(path, "it is a named pipe")
	case mode&fs.ModeSocket != 0:
		return refusedError(path, "it is a socket")
	case mode&fs.ModeDevice != 0:
		return refusedError(path, "it is a device")
	}
	return refusedError(path, "it is not a regular file")
}

// refusedError is an error whose reason stands behind "cannot be read:".
func refusedError(path, why string) error {
	return &fs.PathError{Op: "open", Path: path, Err: errors.New(why)}
}

// OpenStream opens what may wait for the other end, as a named pipe does. An open that
// still waits when the context ends is left to the end of the process: nothing else ends it.
func OpenStream(ctx context.Context, path string, flag int) (*os.File, error) {
	type result struct {
		file *os.File
		err  error
	}
	opened := make(chan result, 1)
	go func() {
		file, err := os.OpenFile(path, flag, 0)
		opened <- result{file, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-opened:
		return r.file, r.err
	}
}
