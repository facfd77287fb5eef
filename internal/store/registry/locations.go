package registry

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/sqlite"
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
			list = append(list, Location{Kind: k, Path: path, Found: isRegular(path) || isFolder(path)})
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

// storeEndings are the names of files that are looked into when a folder is
// named.
var storeEndings = []string{".db", ".sqlite", ".sqlite3", ".ndjson"}

// Expand replaces a folder that is no store itself by the stores directly in it;
// every other path stays as it is.
func Expand(ctx context.Context, path string) ([]string, error) {
	if path == "" {
		return nil, problem.New(problem.Usage, "`sessctl stores` lists what is known and where it is looked for.", "the path of a store is empty")
	}
	if !isFolder(path) || isStore(ctx, path) {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, unlisted(path, err)
	}
	var found []string
	for _, e := range entries {
		file := filepath.Join(path, e.Name())
		if isRegular(file) && slices.Contains(storeEndings, filepath.Ext(e.Name())) && isStore(ctx, file) {
			found = append(found, file)
		}
	}
	if len(found) == 0 {
		return nil, problem.New(problem.Unreadable, "Name the file itself if it has another ending; `sessctl stores` lists what is known.",
			"%s is a folder without a session store, and is none itself (looked at its files ending in %s)", path, strings.Join(storeEndings, ", "))
	}
	return found, nil
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

// unlisted is the problem with a folder that cannot be looked into.
func unlisted(path string, err error) error {
	return &problem.Error{
		Class: problem.Unreadable, Err: err,
		What: fmt.Sprintf("%s cannot be listed: %v", path, err),
		Next: "Name the file in it, or look at the permissions of the folder.",
	}
}

// isStore reports whether some adapter knows the file or folder. A file that is
// locked or damaged counts: leaving it out would pass it over in silence.
func isStore(ctx context.Context, path string) bool {
	src, err := openSource(ctx, path, nil)
	if err != nil {
		return problem.ClassOf(err) == problem.Busy || sqlite.IsSQLite(head(path))
	}
	_, err = detect(ctx, &src.Source, "")
	_ = src.close()
	return err == nil
}
