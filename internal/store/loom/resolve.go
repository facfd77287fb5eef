package loom

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// resolver finds out where a path of the workspace leads, by the names in it alone:
// it follows links itself and never past the folder.
type resolver struct {
	root  *os.Root
	above []string // the folder's absolute paths: as it was named, and without links
}

func newResolver(root *os.Root) *resolver {
	r := &resolver{root: root}
	if abs, err := filepath.Abs(root.Name()); err == nil {
		r.above = append(r.above, filepath.ToSlash(abs))
		if real, err := filepath.EvalSymlinks(abs); err == nil && filepath.ToSlash(real) != r.above[0] {
			r.above = append(r.above, filepath.ToSlash(real))
		}
	}
	return r
}

// target is where a path leads.
type target struct {
	real    string // below the folder without links; "" when there is nothing, or it is outside
	outside bool
	info    os.FileInfo // of real
	err     error       // why there is nothing
}

var (
	errOutside = errors.New("it is a link that leads out of the workspace")
	errLoop    = errors.New("its links lead in a circle")
)

// find is the name to open a file or folder by, and what is there. An os.Root follows
// relative links itself, but takes every absolute one for one that leads out.
func (r *resolver) find(name string) (string, fs.FileInfo, error) {
	if info, err := r.root.Stat(name); err == nil {
		return name, info, nil
	}
	t := r.follow(name)
	if t.outside {
		t.err = errOutside
	}
	return t.real, t.info, t.err
}

// mostLinks is how many links one path may go through, as on Linux. More are a loop.
const mostLinks = 40

// follow walks a path below the folder; an absolute one must begin with the folder's.
func (r *resolver) follow(name string) target {
	rest, ok := r.below(name)
	if !ok {
		return target{outside: true}
	}
	var real []string
	parts := strings.Split(rest, "/")
	for links := 0; len(parts) > 0; {
		part := parts[0]
		parts = parts[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if len(real) == 0 {
				return target{outside: true}
			}
			real = real[:len(real)-1]
			continue
		}
		at := path.Join(append(real[:len(real):len(real)], part)...)
		info, err := r.root.Lstat(at)
		if err != nil {
			return target{outside: leaves(len(real)+1, parts), err: err}
		}
		if info.Mode()&os.ModeSymlink == 0 {
			real = append(real, part)
			continue
		}
		link, err := r.root.Readlink(at)
		if links++; links > mostLinks {
			err = errLoop
		}
		if err != nil {
			return target{err: err}
		}
		if link = filepath.ToSlash(link); path.IsAbs(link) {
			if link, ok = r.below(link); !ok {
				return target{outside: true}
			}
			real = nil
		}
		parts = append(strings.Split(link, "/"), parts...)
	}
	at := path.Join(real...)
	if at == "" {
		at = "."
	}
	info, err := r.root.Lstat(at)
	if err != nil {
		return target{err: err}
	}
	return target{real: at, info: info}
}

// below is a path relative to the folder.
func (r *resolver) below(name string) (string, bool) {
	if !path.IsAbs(name) && !filepath.IsAbs(name) {
		return name, true
	}
	name = path.Clean(filepath.ToSlash(name))
	for _, above := range r.above {
		if rest, ok := strings.CutPrefix(name, above); ok && (rest == "" || strings.HasPrefix(rest, "/") || above == "/") {
			return strings.TrimPrefix(rest, "/"), true
		}
	}
	return "", false
}

// leaves reports whether the rest of a path goes up past the folder from a place that
// is so deep below it.
func leaves(depth int, parts []string) bool {
	for _, part := range parts {
		switch part {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return true
			}
		default:
			depth++
		}
	}
	return false
}

// folder is where an agent's folder lies without links: two names may lead to one.
func (r *resolver) folder(name string) string {
	if t := r.follow(name); t.real != "" {
		return shown(t.real)
	}
	return shown(name)
}
