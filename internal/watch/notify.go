package watch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// isAbout reports whether what is told of a path is about one of some files, something below a folder
// among them, or a folder that one is in.
func isAbout(path string, files []string) bool {
	return slices.ContainsFunc(files, func(file string) bool { return path == file || isBelow(path, file) || isBelow(file, path) })
}

func isBelow(path, folder string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
}

// notifier passes on what the system tells of folders: SQLite writes beside a database, and others
// put a new file in the place of an old one.
type notifier struct {
	watched *fsnotify.Watcher // nil where nothing is told
	mu      sync.Mutex
	all     []*subscriber
}

// subscriber is told of some files: there is something in the channel then.
type subscriber struct {
	files []string
	told  chan struct{}
}

func newNotifier(never bool) *notifier {
	n := &notifier{}
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
	if n.watched != nil {
		_ = n.watched.Close()
	}
}

func (n *notifier) subscribe() *subscriber {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := &subscriber{told: make(chan struct{}, 1)}
	n.all = append(n.all, s)
	return s
}

// passOn passes on what is told, until stop is called.
func (n *notifier) passOn() {
	for {
		missed := false // something that was not told
		path := ""
		select {
		case e, open := <-n.watched.Events:
			if !open {
				return
			}
			path = e.Name
			if strings.HasSuffix(path, "-shm") || strings.HasSuffix(path, "-wal") && e.Op == fsnotify.Chmod {
				continue // SQLite sets their owner when root opens them, as a check does
			}
			if info, err := os.Lstat(path); e.Has(fsnotify.Create) && err == nil && info.IsDir() {
				missed = !n.addBelow(path)
			}
		case err, open := <-n.watched.Errors: // it could not keep up
			if missed = err != nil; !open {
				return
			}
		}
		n.mu.Lock()
		for _, s := range n.all {
			if missed || isAbout(path, s.files) {
				select {
				case s.told <- struct{}{}:
				default: // it was not asked for since
				}
			}
		}
		n.mu.Unlock()
	}
}

// add asks for what happens to files and below folders, in place of those before. false: not all of it
// will be told.
func (n *notifier) add(s *subscriber, files []string) bool {
	n.mu.Lock()
	s.files = files
	n.mu.Unlock()
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
