package loom

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"
)

// workspace is the folder of all agents. Links in it are followed, and none out of it.
type workspace struct{ *resolver }

func newWorkspace(root *os.Root) workspace { return workspace{newResolver(root)} }

// agent is a folder with a history.
type agent struct {
	dir string // its name in the workspace
	id  string
}

// stepFile is a file of a history.
type stepFile struct {
	path   string // below the workspace
	name   string // "step_003.json"
	number int64
}

// The names of the layout (ISOLATION.md, Workspace Structure).
const (
	historyFolder = "history"
	outputsFolder = "outputs"
	captureEnding = ".jsonl"
)

var stepName = regexp.MustCompile(`^step_([0-9]{1,9})\.json$`)

// unread is a file or folder that could not be read.
type unread struct {
	path string // below the workspace
	err  error
}

// agents are the folders with a history, by name. A history that cannot be read
// counts: leaving it out would pass it over in silence. So would a folder that cannot
// be looked into, and a link out of the workspace, behind which an agent may be.
func (w workspace) agents() (list []agent, missed []unread, err error) {
	entries, err := w.list(".")
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		is, err := w.isAgent(e.Name())
		if is {
			list = append(list, agent{dir: e.Name(), id: shown(e.Name())})
		}
		if err != nil {
			missed = append(missed, unread{e.Name(), err})
		}
	}
	return list, missed, nil
}

// isAgent reports whether a folder has a history. The error says that nobody can tell.
func (w workspace) isAgent(folder string) (bool, error) {
	at, info, err := w.find(folder)
	switch {
	case errors.Is(err, errOutside) || errors.Is(err, fs.ErrPermission):
		return false, err
	case err != nil || !info.IsDir():
		return false, nil
	}
	at = path.Join(at, historyFolder)
	switch _, err = w.root.Lstat(at); {
	case errors.Is(err, fs.ErrPermission):
		return true, err
	case err != nil:
		return false, nil
	}
	_, info, err = w.find(at)
	return err != nil || info.IsDir(), nil
}

// history are the files of an agent's steps, by number.
func (w workspace) history(a agent) ([]stepFile, error) {
	folder := path.Join(a.dir, historyFolder)
	entries, err := w.list(folder)
	if err != nil {
		return nil, err
	}
	var files []stepFile
	for _, e := range entries {
		parts := stepName.FindStringSubmatch(e.Name())
		if parts == nil {
			continue
		}
		file := stepFile{path: path.Join(folder, e.Name()), name: e.Name()}
		if file.number, err = strconv.ParseInt(parts[1], 10, 64); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	slices.SortStableFunc(files, func(a, b stepFile) int { return cmp.Compare(a.number, b.number) })
	return files, nil
}

// captures are the files of events beside the agents, and of each agent's own.
func (w workspace) captures(agents []agent) (list []capture, missed []unread) {
	for _, a := range append([]agent{{dir: "."}}, agents...) {
		entries, err := w.list(a.dir)
		if err != nil {
			missed = append(missed, unread{a.dir, err})
			continue
		}
		for _, e := range entries {
			name := path.Join(a.dir, e.Name())
			if !strings.HasSuffix(name, captureEnding) {
				continue
			}
			switch _, info, err := w.find(name); {
			case errors.Is(err, errOutside) || errors.Is(err, fs.ErrPermission):
				missed = append(missed, unread{name, err})
			case err == nil && info.Mode().IsRegular():
				list = append(list, capture{path: name, owner: a.id})
			}
		}
	}
	return list, missed
}

// list are the entries of a folder, by name.
func (w workspace) list(folder string) ([]fs.DirEntry, error) {
	f, _, err := w.openAs(folder, fs.FileMode.IsDir, "it is no folder")
	if err != nil {
		return nil, err
	}
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, errors.Join(err, f.Close())
}

// longestStep is the size up to which a step is read, in bytes. Steps are a few
// hundred bytes long: what is larger was offloaded.
const longestStep = 16 << 20

// read reads a file of a history.
func (w workspace) read(name string) ([]byte, error) {
	f, size, err := w.open(name)
	if err != nil {
		return nil, err
	}
	if size > longestStep {
		return nil, errors.Join(fmt.Errorf("it has %d bytes, and a step has %d at the most", size, longestStep), f.Close())
	}
	data, err := io.ReadAll(io.LimitReader(f, longestStep))
	return data, errors.Join(err, f.Close())
}

// open opens a regular file.
func (w workspace) open(name string) (*os.File, int64, error) {
	return w.openAs(name, fs.FileMode.IsRegular, "it is no regular file")
}

// openAs opens what has the right mode. Pipes and devices may block, or do something
// when they are opened; one that takes the name's place meanwhile does not block.
func (w workspace) openAs(name string, right func(fs.FileMode) bool, otherwise string) (*os.File, int64, error) {
	real, info, err := w.find(name)
	switch {
	case err != nil:
		return nil, 0, err
	case !right(info.Mode()):
		return nil, 0, errors.New(otherwise)
	}
	f, err := w.root.OpenFile(real, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	if info, err = f.Stat(); err == nil && !right(info.Mode()) {
		err = errors.New(otherwise)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// shown is a name of a file as an id. Bytes that are no UTF-8 are written out, in
// quotes, and a name that looks like that is put in quotes itself: two names stay two.
func shown(name string) string {
	if _, err := strconv.Unquote(name); utf8.ValidString(name) && (err != nil || name[0] != '"') {
		return name
	}
	return strconv.Quote(name)
}
