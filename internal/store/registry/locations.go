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

// Endings are those of the names of files that are looked into when a folder is
// named.
var Endings = []string{".db", ".sqlite", ".sqlite3", ".ndjson"}

// Expand replaces a pattern by the stores that it matches, and a folder by those that it
// stands for. Every other path stays as it is. kind names what a folder is taken for, ""
// anything.
func Expand(ctx context.Context, path, kind string) ([]string, error) {
	switch {
	case path == "":
		return nil, problem.New(problem.Usage, "`sessctl stores` lists what is known and where it is looked for.", "the path of a store is empty")
	case IsPattern(path):
		return matching(ctx, path, kind)
	case !isFolder(path):
		return []string{path}, nil
	}
	found, err := folderMeans(ctx, path, kind)
	if err == nil && len(found) == 0 {
		err = problem.New(problem.Unreadable, "Name the file itself if it has another ending; `sessctl stores` lists what is known.",
			"%s is a folder without a session store, and is none itself (looked at its files ending in %s)", path, strings.Join(Endings, ", "))
	}
	return found, err
}

// folderMeans are the stores that a folder stands for: itself, where it is one, and those
// directly in it. One that only may be a store stands for itself where there are no
// others, or where kind names what it is.
func folderMeans(ctx context.Context, path, kind string) ([]string, error) {
	if kind != "" && sureOf(ctx, path, kind) != store.No {
		return []string{path}, nil
	}
	itself := sureOf(ctx, path, "")
	found, err := storesIn(ctx, path)
	switch {
	case err != nil:
		return nil, err
	case itself == store.Certain:
		return append([]string{path}, found...), nil
	case len(found) == 0 && itself == store.Maybe:
		return []string{path}, nil
	}
	return found, nil
}

// storesIn are the stores directly in a folder.
func storesIn(ctx context.Context, path string) (found []string, err error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, unlisted(path, err)
	}
	for _, e := range entries {
		file := filepath.Join(path, e.Name())
		if isRegular(file) && slices.Contains(Endings, filepath.Ext(e.Name())) && isStore(ctx, file) {
			found = append(found, file)
		}
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

// sureOf is how sure the adapter of a kind, "" for any, is about a folder.
func sureOf(ctx context.Context, path, kind string) store.Confidence {
	src, err := openSource(ctx, path, nil)
	if err != nil {
		return store.No
	}
	_, sure := surest(ctx, &src.Source, kind)
	_ = src.close()
	return sure
}

// isStore reports whether some adapter knows the file. One that is locked or damaged
// counts: leaving it out would pass it over in silence.
func isStore(ctx context.Context, path string) bool {
	src, err := openSource(ctx, path, nil)
	if err != nil {
		return problem.ClassOf(err) == problem.Busy || IsDatabase(path)
	}
	_, err = detect(ctx, &src.Source, "")
	_ = src.close()
	return err == nil
}
