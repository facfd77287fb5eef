package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/sessctl/sessctl/internal/problem"
)

// IsPattern reports whether a path stands for all that it matches: it has a wildcard,
// and nothing has exactly this name.
func IsPattern(path string) bool {
	if !strings.ContainsAny(path, "*?[{") {
		return false
	}
	_, err := os.Lstat(path)
	return err != nil
}

// ownCopy is the name of a backup that a repair made, and of its receipt.
var ownCopy = regexp.MustCompile(`\.sessctl-\d{8}T\d{6}Z(-\d+)?(\.receipt\.json)?$`)

// matching are the stores that a pattern matches, in the order of their paths.
func matching(ctx context.Context, pattern, kind string) (found Expansion, err error) {
	if alternatives(pattern) > mostAlternatives {
		return found, problem.New(problem.Usage, "Use * or ** for what differs, or several patterns.",
			"the pattern %s stands for more than %d words", pattern, mostAlternatives)
	}
	paths, err := glob(ctx, pattern)
	switch {
	case ctx.Err() != nil:
		return found, ctx.Err()
	case errors.Is(err, doublestar.ErrBadPattern):
		return found, problem.New(problem.Usage, "* and ? stand for letters, ** for folders, [ab] for one of these letters, {a,b} for one of these words.",
			"the pattern %s is not well formed", pattern)
	case err != nil:
		return found, &problem.Error{
			Class: problem.Unreadable, Err: err, What: fmt.Sprintf("not all that %s matches can be looked at: %v", pattern, err),
			Next: "Use a pattern that leaves this out, or look at the permissions.",
		}
	}
	for _, path := range paths {
		stores, err := matched(ctx, path, kind)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return found, err
		}
		found.add(stores)
	}
	if len(found.Stores) == 0 {
		err = problem.New(problem.Unreadable, "`sessctl stores` lists what is known and where it is looked for.", "no store matches %s", pattern)
	}
	return found, err
}

// matched are the stores that one match of a pattern stands for. What has the ending of
// a store is taken for one, so that one that is damaged is not passed over; of other
// files and of folders those that are or hold stores.
func matched(ctx context.Context, path, kind string) (Expansion, error) {
	switch {
	case isFolder(path):
		return folderMeans(ctx, path, kind)
	case ownCopy.MatchString(path):
		return Expansion{}, nil
	case hasEnding(path), isRegular(path) && isStore(ctx, path):
		return Expansion{Stores: []string{path}}, nil
	}
	return Expansion{}, nil
}

// Distinct leaves out the paths that lead to a store that another one led to before.
func Distinct(paths []string) []string {
	var kept []string
	words := map[string]bool{}
	alike := map[string][]os.FileInfo{} // by what is the same for the same file
	for _, path := range paths {
		word := path
		if path != "-" {
			word = filepath.Clean(path)
		}
		if words[word] {
			continue
		}
		words[word] = true
		if info, err := os.Stat(path); err == nil && path != "-" {
			key := fmt.Sprint(info.Size(), info.ModTime().UnixNano())
			if slices.ContainsFunc(alike[key], func(other os.FileInfo) bool { return os.SameFile(info, other) }) {
				continue
			}
			alike[key] = append(alike[key], info)
		}
		kept = append(kept, path)
	}
	return kept
}
