package atomicfile

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What is being written has a name that begins like this, and whoever writes it holds a
// lock on it (flock(2)). So what a killed process left can be told from what another one
// is writing now: nobody holds the lock.
const temporary = ".sessctl-tmp-"

// Temporary begins a file in a folder, of this mode less what the umask takes. release
// gives up the lock, after which the file may be deleted by the next process that makes
// one there; with its last name it is safe. What killed processes left there is deleted.
func Temporary(folder string, mode fs.FileMode) (file *os.File, release func(), err error) {
	sweep(folder)
	err = locked(folder, func(path string) (err error) {
		file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		return err
	}, func() { _ = file.Close() }, &release)
	return file, release, err
}

// TemporaryFolder makes a folder in a folder, for this user only, as Temporary does.
func TemporaryFolder(folder string) (path string, release func(), err error) {
	sweep(folder)
	err = locked(folder, func(name string) error {
		path = name
		return os.Mkdir(path, 0o700)
	}, func() {}, &release)
	return path, release, err
}

// locked makes something under a new name and locks it. Between the two another process
// can have taken it for left behind: then it is made again.
func locked(folder string, make func(path string) error, drop func(), release *func()) error {
	for {
		path := filepath.Join(folder, temporary+rand.Text())
		if err := make(path); err != nil {
			return err
		}
		held, err := claim(path)
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

// errTaken is the error of a claim on what another process is writing.
var errTaken = errors.New("another process holds the lock")

// sweep deletes what killed processes left in a folder. What it cannot open, or lock, it
// leaves: other users' files, and those of processes that run.
func sweep(folder string) {
	if !canLock {
		return
	}
	for _, name := range named(folder, temporary) {
		path := filepath.Join(folder, name)
		if release, err := claim(path); err == nil {
			_ = os.RemoveAll(path)
			release()
		}
	}
}

// Leftovers are the names in a folder that look like files which a killed sessctl left,
// and of which nobody can tell whether one is still at work: those of older versions, and
// of systems without locks.
func Leftovers(folder string) []string {
	var left []string
	for _, name := range named(folder, ".sessctl-") {
		if strings.HasPrefix(name, temporary) {
			release, err := claim(filepath.Join(folder, name))
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

// named are the names in a folder with a prefix.
func named(folder, prefix string) []string {
	f, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	names, _ := f.Readdirnames(-1)
	var found []string
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			found = append(found, name)
		}
	}
	return found
}
