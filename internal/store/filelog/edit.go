package filelog

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/table"
)

// Editor changes files of a folder, as a store.Editor changes a store. Of a transaction the
// splices are in memory until Commit replaces the files, one after another, each as a whole and only if it
// still is what was read. Where that is cut off, each file is the old one or the new one,
// and the journal takes back those that are new. No link is followed.
type Editor struct {
	path    string // of the folder
	store   string // as the user named it
	root    *os.Root
	folder  fs.FileInfo
	may     func(name string) bool
	backup  string                 // the folder for copies of what is replaced, "" for none
	backed  map[string]bool        // the files that are in it
	mu      sync.Mutex             // of read: files are read side by side
	read    map[string]fs.FileInfo // the files that were read, as they were then; nil where another program changed them
	narrow  bool                   // see Narrow
	staged  map[string]*staged     // what the open transaction makes of files; nil where none is open
	opened  []*Log                 // the files of staged
	version int64
	changed bool // something was committed
}

// staged is a file that a transaction changes.
type staged struct {
	was, is       *Spliced
	wasSum, isSum string // their digests
	edits         []Splice
}

// replaced is what a journal tells of one file.
type replaced struct {
	Name    string   `json:"name"`
	Was     string   `json:"was"` // digests of all of it
	Is      string   `json:"is"`
	Splices []Splice `json:"splices"` // by their places in what it was
}

// ErrNew is the error for a file that came after the others were read: see Editor.Narrow.
var ErrNew = errors.New("another program made it meanwhile")

// AtStep is called before each change on the disk. A test kills the process there.
var AtStep = func(string) {}

// mostBytes is how much is read of what was appended meanwhile.
const mostBytes = 2 << 30

// Edit opens a folder for changing, or that of one file, which is named then. Of which names
// a journal can be, may says.
func Edit(named string, may func(name string) bool) (e *Editor, file string, err error) {
	folder := named
	info, err := os.Stat(named)
	if err == nil && !info.IsDir() {
		folder, file = filepath.Split(named)
		folder = cmp.Or(filepath.Clean(folder), ".")
	}
	var root *os.Root
	if err == nil {
		root, err = os.OpenRoot(folder)
	}
	if err != nil {
		return nil, "", problem.New(problem.Unreadable, "", "%s cannot be opened: %s", named, problem.Reason(err))
	}
	if info, err = root.Stat("."); err != nil {
		return nil, "", errors.Join(err, root.Close())
	}
	return &Editor{path: folder, store: named, root: root, folder: info, may: may, backed: map[string]bool{}, read: map[string]fs.FileInfo{}}, file, nil
}

// Path is that of the folder.
func (e *Editor) Path() string { return e.path }

// Root is the folder.
func (e *Editor) Root() *os.Root { return e.root }

// Log opens a file as the transaction sees it: without what another program appends behind
// the first reading, until Version tells of that. One that is new is ErrNew.
func (e *Editor) Log(name string) (*Log, error) {
	if s := e.staged[name]; s != nil {
		return s.is.Log(), nil
	}
	l, err := Open(e.root, name)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	was, known := e.read[name]
	if !known && e.narrow {
		return nil, errors.Join(ErrNew, l.Close())
	}
	if was != nil && os.SameFile(was, l.seen) && was.Size() < l.seen.Size() {
		l.seen = was
	}
	e.read[name] = l.seen
	return l, nil
}

// Narrow makes files new that were not read by now, until Version is asked for in no transaction.
func (e *Editor) Narrow() { e.narrow = true }

// Digest is that of all bytes of a file.
func (l *Log) Digest() (string, error) {
	size := int64(math.MaxInt64)
	if l.seen != nil {
		size = l.seen.Size()
	}
	return digestBytes(io.NewSectionReader(l.Bytes(), 0, size))
}

// Text is a file as the transaction sees it, and until it ends. One that is not what was read
// before is refused.
func (e *Editor) Text(name string) (*Spliced, error) {
	if s := e.staged[name]; s != nil {
		return s.is, nil
	}
	l, err := e.openSame(name)
	if err != nil {
		return nil, err
	}
	e.opened = append(e.opened, l)
	return l.Text(), nil
}

// CheckRegular is an error for a file of a folder that is a link, which no change follows.
func CheckRegular(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is a symbolic link, which a repair does not follow: repair the file that it leads to", filepath.Join(root.Name(), filepath.FromSlash(name)))
	}
	return err
}

// openSame opens a file that is no link, and still what was read.
func (e *Editor) openSame(name string) (*Log, error) {
	err := CheckRegular(e.root, name)
	var l *Log
	if err == nil {
		l, err = Open(e.root, name)
	}
	if err != nil {
		return nil, e.unreadable(name, err)
	}
	e.mu.Lock()
	was := e.read[name]
	e.mu.Unlock()
	if was != nil && !same(was, l.seen) {
		return nil, errors.Join(e.moved(name), l.Close())
	}
	return l, nil
}

func (e *Editor) unreadable(name string, err error) error {
	return problem.New(problem.Unreadable, "Nothing was changed.", "%s cannot be read: %s", path.Join(e.path, name), problem.Reason(err))
}

// Splice changes a file in the open transaction, once. The splices are in the order of
// their places.
func (e *Editor) Splice(name string, edits []Splice) error {
	if e.staged[name] != nil {
		return fmt.Errorf("%s is changed twice", name)
	}
	s, err := e.stage(name)
	if err == nil {
		err = s.splice(edits)
	}
	if err == nil {
		s.edits, e.staged[name] = edits, s
	}
	return err
}

// stage opens a file for a change in the open transaction.
func (e *Editor) stage(name string) (*staged, error) {
	if s := e.staged[name]; s != nil {
		again := *s
		return &again, nil
	}
	l, err := e.openSame(name)
	if err != nil {
		return nil, err
	}
	e.opened = append(e.opened, l)
	sum, err := l.Digest()
	if err != nil {
		return nil, e.unreadable(name, err)
	}
	was := l.Text()
	return &staged{was: was, is: was, wasSum: sum, isSum: sum}, nil
}

// splice makes splices in what the file is to be.
func (s *staged) splice(edits []Splice) (err error) {
	if s.is, err = Apply(s.is, s.is.Size, edits); err == nil {
		s.isSum, err = digestBytes(s.is.newReader())
	}
	return err
}

// closeFiles closes the files of the transaction.
func (e *Editor) closeFiles() {
	CloseAll(e.opened)
	e.opened = nil
}

// CloseAll closes files to which nothing was written.
func CloseAll(list []*Log) {
	for _, l := range list {
		_ = l.Close()
	}
}

// Begin implements table.Transaction. Nothing is locked: Commit compares.
func (e *Editor) Begin(context.Context) error {
	e.staged = map[string]*staged{}
	return e.Replaced()
}

// Backup implements table.Transaction: Commit puts a copy of each file there that it
// replaces.
func (e *Editor) Backup(_ context.Context, path string, _ []string, _ func(int64)) error {
	e.backup = path
	return nil
}

// Version implements table.Transaction.
func (e *Editor) Version(context.Context) (int64, error) {
	e.narrow = e.narrow && e.staged != nil
	for name, was := range e.read {
		if was == nil {
			continue
		}
		now, err := e.root.Stat(name)
		if err != nil || !same(was, now) {
			e.version++
			e.read[name] = nil
		}
	}
	return e.version, nil
}

func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// Journal implements table.Transaction.
func (e *Editor) Journal() ([]byte, error) {
	journal := []replaced{}
	for _, name := range slices.Sorted(maps.Keys(e.staged)) {
		s := e.staged[name]
		journal = append(journal, replaced{name, s.wasSum, s.isSum, s.edits})
	}
	return json.Marshal(journal)
}

// Revert implements store.Editor. A file that is as it was before is passed over. The
// journal comes from a file.
func (e *Editor) Revert(_ context.Context, journal []byte) error {
	var list []replaced
	if err := json.Unmarshal(journal, &list); err != nil {
		return problem.New(problem.Unreadable, "", "the journal in the receipt cannot be read: %v", err)
	}
	for _, r := range list {
		if !fs.ValidPath(r.Name) || !e.may(r.Name) {
			return problem.New(problem.Unreadable, "", "the journal in the receipt names %q, which no repair changes", r.Name)
		}
		s, err := e.stage(r.Name)
		if err != nil {
			return err
		}
		switch s.isSum {
		case r.Was:
			continue
		case r.Is:
		default:
			return e.moved(r.Name)
		}
		if err := s.splice(invertSplices(r.Splices)); err != nil || s.isSum != r.Was {
			return problem.New(problem.RolledBack, "", "the journal in the receipt does not lead back to what %s was", r.Name)
		}
		e.staged[r.Name] = s
	}
	return nil
}

// TryChanges implements table.Transaction.
func (e *Editor) TryChanges(_ context.Context, do func() error) error {
	before := maps.Clone(e.staged)
	defer func() { e.staged = before }()
	return do()
}

// moved is the problem with a file that another program changed.
func (e *Editor) moved(name string) error {
	return problem.New(problem.Busy, "Nothing was changed. Close the runtime, then run this again.", "another program changed %s meanwhile", filepath.Join(e.path, filepath.FromSlash(name)))
}

// Rollback implements table.Transaction.
func (e *Editor) Rollback() error {
	e.staged = nil
	e.closeFiles()
	return nil
}

// Replaced implements table.Transaction.
func (e *Editor) Replaced() error {
	if now, err := os.Stat(e.path); err == nil && os.SameFile(e.folder, now) {
		return nil
	}
	return &problem.Error{Class: problem.Busy, What: e.store + " was moved or replaced", Err: table.ErrReplaced}
}

// Close implements table.Transaction.
func (e *Editor) Close() error {
	if e.root == nil {
		return nil
	}
	root := e.root
	e.root, e.staged = nil, nil
	e.closeFiles()
	err := root.Close()
	if moved := e.Replaced(); e.changed && moved != nil {
		err = errors.Join(moved, err)
	}
	return err
}

// Left implements table.Transaction.
func (e *Editor) Left() string { return "" }
