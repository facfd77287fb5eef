package registry

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store"
)

// Location is a place where a store may be.
type Location struct {
	Kind  store.Kind
	Path  string
	Found bool
}

// Locations are the default places of all kinds.
func Locations(home string) []Location {
	var list []Location
	for _, k := range Kinds {
		if k.Locations == nil {
			continue
		}
		for _, path := range k.Locations(home) {
			list = append(list, Location{Kind: k, Path: path, Found: exists(path)})
		}
	}
	return list
}

// Default are the paths of the stores that are found at the default places.
func Default(home string) ([]string, error) {
	var found, looked []string
	for _, l := range Locations(home) {
		looked = append(looked, l.Path)
		if l.Found {
			found = append(found, l.Path)
		}
	}
	if len(found) == 0 {
		return nil, problem.New(problem.Unreadable, "Name the store on the command line. `sessctl stores` lists what is known.",
			"no session store found (looked at %s)", strings.Join(looked, ", "))
	}
	return found, nil
}

// exists reports whether something is at a path. A link that leads nowhere counts, and
// what cannot be looked at: passed over, it would go unnoticed that it cannot be read.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
}

// isRegular reports whether a path leads to a file that can be looked into.
func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// isFolder reports whether a path leads to a folder.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
