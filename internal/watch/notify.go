package watch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsnotify/fsnotify"
)

// note is what the system told: a path, or that it told less than happened.
type note struct {
	path string
	all  bool
}

// about reports whether it is about one of some files, something below a folder among them, or a folder
// that one is in.
func (n note) about(files []string) bool {
	return n.all || n.path != "" && slices.ContainsFunc(files, func(file string) bool {
		return n.path == file || isBelow(n.path, file) || isBelow(file, n.path)
	})
}

func isBelow(path, folder string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
}

// notifier passes on what the system tells of folders: SQLite writes beside a database, and others
// put a new file in the place of an old one.
type notifier struct {
	told    chan note
	watched *fsnotify.Watcher // nil where nothing is told
	done    chan struct{}
}

func newNotifier(never bool) *notifier {
	n := &notifier{told: make(chan note), done: make(chan struct{})}
	if never {
		return n
	}
	watched, err := fsnotify.NewWatcher()
	if err != nil {
		return n
	}
	n.watched = watched
	go n.passOn()
	return n
}

func (n *notifier) stop() {
	close(n.done)
	if n.watched != nil {
		_ = n.watched.Close()
	}
}

func (n *notifier) passOn() {
	for {
		var told note
		select {
		case <-n.done:
			return
		case e := <-n.watched.Events:
			told.path = e.Name
			if info, err := os.Lstat(e.Name); e.Has(fsnotify.Create) && err == nil && info.IsDir() {
				told.all = !n.addBelow(e.Name)
			}
		case err := <-n.watched.Errors: // it could not keep up
			told.all = err != nil
		}
		select {
		case n.told <- told:
		case <-n.done:
			return
		}
	}
}

// add asks for what happens to files and below folders. false: not all of it will be told.
func (n *notifier) add(files []string) bool {
	if n.watched == nil || len(files) == 0 {
		return false
	}
	told := true
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			told = n.addBelow(file) && told
		}
		told = n.watched.Add(filepath.Dir(file)) == nil && told
	}
	return told
}

// addBelow asks for a folder and those below it.
func (n *notifier) addBelow(folder string) bool {
	return filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			err = n.watched.Add(path)
		}
		return err
	}) == nil
}

// signOf is another text when one of some files was written to or replaced; "" where there are none.
func signOf(files []string) string {
	var sign strings.Builder
	for _, file := range files {
		_ = filepath.WalkDir(file, func(path string, _ fs.DirEntry, err error) error {
			info, statErr := os.Stat(path)
			if err == nil && statErr == nil {
				fmt.Fprintln(&sign, path, info.Size(), info.ModTime().UnixNano(), info.Mode())
			} else {
				fmt.Fprintln(&sign, path, "none")
			}
			return nil
		})
	}
	return sign.String()
}
