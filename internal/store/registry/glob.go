package registry

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// mostAlternatives bounds the words that a pattern stands for, because each is looked
// for by itself: twenty times {a,b} are a million.
const mostAlternatives = 10_000

// alternatives is how many words a pattern stands for when every {a,b} in it is written
// out, and more than mostAlternatives where it is more.
func alternatives(pattern string) int {
	// One element for the pattern, and one for each brace that is open.
	words, before := []int{1}, []int{0} // of the current alternative; of those before it
	closeOne := func() {
		top := len(words) - 1
		n := words[top] + before[top]
		words, before = words[:top], before[:top]
		words[top-1] = min(words[top-1]*n, mostAlternatives+1)
	}
	for i := 0; i < len(pattern); i++ {
		top := len(words) - 1
		switch c := pattern[i]; {
		case c == '\\' && filepath.Separator != '\\':
			i++ // the next one means itself
		case c == '{':
			words, before = append(words, 1), append(before, 0)
		case c == ',' && top > 0:
			words[top], before[top] = 1, min(before[top]+words[top], mostAlternatives+1)
		case c == '}' && top > 0:
			closeOne()
		}
	}
	for len(words) > 1 {
		closeOne()
	}
	return words[0]
}

// glob are the paths that a pattern matches, sorted. Names that begin with a dot are
// matched as all others: runtimes keep stores below such folders. A link to a folder is
// followed where the pattern names it, and nowhere else, so that no circle is walked.
func glob(ctx context.Context, pattern string) ([]string, error) {
	base, rest := splitPattern(filepath.Clean(pattern), filepath.Separator)
	paths, err := doublestar.Glob(endingFS{ctx, os.DirFS(base)}, rest, doublestar.WithNoFollow(), doublestar.WithFailOnIOErrors())
	if err != nil {
		return nil, err
	}
	for i, path := range paths {
		paths[i] = filepath.Join(base, filepath.FromSlash(path))
	}
	slices.Sort(paths)
	return paths, nil
}

// splitPattern takes a pattern apart into the folder before its first wildcard and the
// rest, which has slashes. Where \ separates folders, it cannot take the meaning from a
// wildcard: [*] does that everywhere.
func splitPattern(pattern string, separator byte) (base, rest string) {
	return doublestar.SplitPattern(strings.ReplaceAll(pattern, string(separator), "/"))
}

// endingFS is a file system that can be used until the context ends.
type endingFS struct {
	ctx context.Context
	fs  fs.FS
}

func (e endingFS) Open(name string) (fs.File, error) {
	if err := e.ctx.Err(); err != nil {
		return nil, err
	}
	return e.fs.Open(name)
}

func (e endingFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := e.ctx.Err(); err != nil {
		return nil, err
	}
	return fs.ReadDir(e.fs, name)
}

// Stat opens nothing, so that a named pipe keeps nobody waiting.
func (e endingFS) Stat(name string) (fs.FileInfo, error) {
	if err := e.ctx.Err(); err != nil {
		return nil, err
	}
	return fs.Stat(e.fs, name)
}
