package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// mostLinks are as many links as Linux follows in one path (path_resolution(7)).
const mostLinks = 40

// Destination is the file that a path leads to through symbolic links, also where
// nothing stands there yet. Its folder has to be there.
func Destination(path string) (string, error) {
	for range mostLinks {
		folder, name := filepath.Split(path) // which, unlike Dir, takes no ".." away
		if folder == "" {
			folder = "."
		}
		folder, err := filepath.EvalSymlinks(folder)
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

// Same reports whether two paths lead to one file, or would.
func Same(a, b string) bool {
	first, err1 := os.Stat(a)
	second, err2 := os.Stat(b)
	if err1 == nil && err2 == nil {
		return os.SameFile(first, second)
	}
	a, err1 = Destination(a)
	b, err2 = Destination(b)
	if err1 != nil || err2 != nil || filepath.Base(a) != filepath.Base(b) {
		return false
	}
	first, err1 = os.Stat(filepath.Dir(a))
	second, err2 = os.Stat(filepath.Dir(b))
	return err1 == nil && err2 == nil && os.SameFile(first, second)
}
