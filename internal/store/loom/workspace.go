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

// workspace is the folder of all agents. An os.Root follows links inside the folder
// and refuses those that leave it.
type workspace struct{ root *os.Root }

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
	size   int64
}

// The names of the layout (ISOLATION.md, Workspace Structure).
const (
	historyFolder = "history"
	outputsFolder = "outputs"
	captureEnding = ".jsonl"
)

var stepName = regexp.MustCompile(`^step_([0-9]{1,9})\.json$`)

// agents are the folders with a history, by name. A history that cannot be read
// counts: leaving it out would pass it over in silence.
func (w workspace) agents() ([]agent, error) {
	entries, err := w.list(".")
	if err != nil {
		return nil, err
	}
	var list []agent
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if info, err := w.root.Stat(e.Name()); err != nil || !info.IsDir() {
			continue
		}
		_, err := w.root.Lstat(path.Join(e.Name(), historyFolder))
		if err == nil || errors.Is(err, fs.ErrPermission) {
			list = append(list, agent{dir: e.Name(), id: shown(e.Name())})
		}
	}
	return list, nil
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
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			file.size = info.Size()
		}
		files = append(files, file)
	}
	slices.SortStableFunc(files, func(a, b stepFile) int { return cmp.Compare(a.number, b.number) })
	return files, nil
}

// captures are the files of events beside the agents, and of each agent's own.
func (w workspace) captures(agents []agent) (list []capture, err error) {
	for _, a := range append([]agent{{dir: "."}}, agents...) {
		entries, listErr := w.list(a.dir)
		if listErr != nil {
			err = cmp.Or(err, listErr)
			continue
		}
		for _, e := range entries {
			name := path.Join(a.dir, e.Name())
			if info, err := w.root.Stat(name); strings.HasSuffix(name, captureEnding) && err == nil && info.Mode().IsRegular() {
				list = append(list, capture{path: name, owner: a.id})
			}
		}
	}
	return list, err
}

// list are the entries of a folder, by name.
func (w workspace) list(folder string) ([]fs.DirEntry, error) {
	f, err := w.root.Open(folder)
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

// open opens a regular file. Others may block, or do something when they are opened.
func (w workspace) open(name string) (*os.File, int64, error) {
	irregular := errors.New("it is no regular file")
	info, err := w.root.Stat(name)
	switch {
	case err != nil:
		return nil, 0, err
	case !info.Mode().IsRegular():
		return nil, 0, irregular
	}
	f, err := w.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = irregular
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// shown is a name of a file as an id. Bytes that are no UTF-8 are written out, so
// that two names stay two.
func shown(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	return strconv.Quote(name)
}
