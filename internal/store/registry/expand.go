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

// Endings are those of the names of files that are taken for stores where a folder or a
// pattern is named. Upper and lower case are the same.
var Endings = []string{".db", ".sqlite", ".sqlite3", ".ndjson"}

func hasEnding(path string) bool {
	return slices.Contains(Endings, strings.ToLower(filepath.Ext(path)))
}

// Expansion is what a path stands for.
type Expansion struct {
	Stores []string
	// Others are files in the folders with the ending of a store that are sound and
	// another program's.
	Others []string
}

func (e *Expansion) add(other Expansion) {
	e.Stores = append(e.Stores, other.Stores...)
	e.Others = append(e.Others, other.Others...)
}

// Expand replaces a pattern by the stores that it matches, and a folder by those that it
// stands for. Every other path stays as it is. kind names what a folder is taken for, ""
// anything. With an error, what was left out may still be told.
func Expand(ctx context.Context, path, kind string) (Expansion, error) {
	switch {
	case path == "":
		return Expansion{}, problem.New(problem.Usage, "`sessctl stores` lists what is known and where it is looked for.", "the path of a store is empty")
	case IsPattern(path):
		return matching(ctx, path, kind)
	case !isFolder(path):
		return Expansion{Stores: []string{path}}, nil
	}
	found, err := folderMeans(ctx, path, kind)
	if err == nil && len(found.Stores) == 0 {
		err = problem.New(problem.Unreadable, "Name the file itself if it has another ending; `sessctl stores` lists what is known.",
			"%s is a folder without a session store, and is none itself (looked at its files ending in %s)", path, strings.Join(Endings, ", "))
	}
	return found, err
}

// folderMeans are the stores that a folder stands for: itself, where it is one, and those
// directly in it. One that only may be a store stands for itself where there are no
// others, or where kind names what it is.
func folderMeans(ctx context.Context, path, kind string) (Expansion, error) {
	itself := Expansion{Stores: []string{path}}
	if kind != "" && sureOf(ctx, path, kind) != store.No {
		return itself, nil
	}
	sure := sureOf(ctx, path, "")
	found, err := storesIn(ctx, path)
	switch {
	case err != nil:
		return Expansion{}, err
	case sure == store.Certain:
		itself.add(found)
		return itself, nil
	case len(found.Stores) == 0 && sure == store.Maybe:
		found.Stores = itself.Stores
	}
	return found, nil
}

// storesIn are the stores directly in a folder: all with the ending of one, so that one
// that is damaged, empty or cannot be opened is not passed over, but not what is sound
// and another program's.
func storesIn(ctx context.Context, path string) (found Expansion, err error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return Expansion{}, unlisted(path, err)
	}
	for _, e := range entries {
		file := filepath.Join(path, e.Name())
		switch {
		case !hasEnding(file) || isFolder(file):
		case isOther(ctx, file):
			found.Others = append(found.Others, file)
		default:
			found.Stores = append(found.Stores, file)
		}
	}
	return found, ctx.Err()
}

// unlisted is the problem with a folder that cannot be looked into.
func unlisted(path string, err error) error {
	return &problem.Error{
		Class: problem.Unreadable, Err: err,
		What: fmt.Sprintf("%s cannot be listed: %v", path, err),
		Next: "Name the file in it, or look at the permissions of the folder.",
	}
}
