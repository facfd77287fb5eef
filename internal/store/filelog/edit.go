package filelog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/table"
)

// Editor changes files of a folder, as a store.Editor changes a store. A transaction is in
// memory until Commit replaces the files, one after another, each as a whole and only if it
// still is what was read. Where that is cut off, each file is the old one or the new one,
// and the journal takes back those that are new. No link is followed.
type Editor struct {
	path    string // of the folder
	store   string // as the user named it
	root    *os.Root
	folder  fs.FileInfo
	backup  string                 // the folder for copies of what is replaced, "" for none
	mu      sync.Mutex             // of read: files are read side by side
	read    map[string]fs.FileInfo // the files that were read, as they were then; nil where another program changed them
	narrow  bool                   // see Narrow
	staged  map[string]*staged     // what the open transaction makes of files; nil where none is open
	version int64
	changed bool // something was committed
}

// staged is a file that a transaction changes.
type staged struct {
	was, is []byte
	edits   []Splice
}

// Splice puts other bytes in the place of those of a file, At bytes from its start.
type Splice struct {
	At  int    `json:"at"`
	Was []byte `json:"was,omitempty"`
	Is  []byte `json:"is,omitempty"`
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

// MostBytes is how long a file may be that is changed: it is in memory twice.
const MostBytes = 2 << 30

// Edit opens a folder, or that of the file that the user named, for changing.
func Edit(folder, named string) (*Editor, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, problem.New(problem.Unreadable, "", "%s cannot be opened: %s", named, problem.Reason(err))
	}
	info, err := root.Stat(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &Editor{path: folder, store: named, root: root, folder: info, read: map[string]fs.FileInfo{}}, nil
}

// Root is the folder.
func (e *Editor) Root() *os.Root { return e.root }

// Log opens a file as the transaction sees it: without what another program appends behind
// the first reading, until Version tells of that. One that is new is ErrNew.
func (e *Editor) Log(name string) (*Log, error) {
	if s := e.staged[name]; s != nil {
		return Over(bytes.NewReader(s.is)), nil
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
	sum := sha256.New()
	_, err := l.file.Seek(0, io.SeekStart)
	if err == nil && l.seen != nil {
		_, err = io.CopyN(sum, l.file, l.seen.Size())
	} else if err == nil {
		_, err = io.Copy(sum, l.file)
	}
	return hex.EncodeToString(sum.Sum(nil)), err
}

// Text is a whole file as the transaction sees it. One that is not what was read before is
// refused.
func (e *Editor) Text(name string) ([]byte, error) {
	if s := e.staged[name]; s != nil {
		return s.is, nil
	}
	info, err := e.root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	var l *Log
	if err == nil {
		l, err = Open(e.root, name)
	}
	var text []byte
	if err == nil {
		defer func() { _ = l.Close() }()
		e.mu.Lock()
		was := e.read[name]
		e.mu.Unlock()
		if was != nil && !same(was, l.seen) {
			return nil, e.moved(name)
		}
		text, err = l.text(MostBytes)
	}
	if err != nil {
		return nil, problem.New(problem.Unreadable, "Nothing was changed.", "%s cannot be read: %s", path.Join(e.path, name), problem.Reason(err))
	}
	return text, nil
}

// Splice changes a file in the open transaction, once. The splices are in the order of
// their places.
func (e *Editor) Splice(name string, edits []Splice) error {
	was, err := e.Text(name)
	if err != nil {
		return err
	}
	if e.staged[name] != nil {
		return fmt.Errorf("%s is changed twice", name)
	}
	is, err := Apply(was, edits)
	if err == nil {
		e.staged[name] = &staged{was, is, edits}
	}
	return err
}

// Apply makes splices.
func Apply(text []byte, edits []Splice) ([]byte, error) {
	out, at := make([]byte, 0, len(text)), 0
	for _, s := range edits {
		if s.At < at || s.At+len(s.Was) > len(text) || !bytes.Equal(text[s.At:s.At+len(s.Was)], s.Was) {
			return nil, errors.New("it does not hold what is to be replaced")
		}
		out = append(append(out, text[at:s.At]...), s.Is...)
		at = s.At + len(s.Was)
	}
	return append(out, text[at:]...), nil
}

// Change is the splice that makes another text of one at a place.
func Change(at int, was, is []byte) Splice {
	head := 0
	for head < len(was) && head < len(is) && was[head] == is[head] {
		head++
	}
	tail := 0
	for tail < len(was)-head && tail < len(is)-head && was[len(was)-1-tail] == is[len(is)-1-tail] {
		tail++
	}
	return Splice{At: at + head, Was: was[head : len(was)-tail], Is: is[head : len(is)-tail]}
}

// inverse are the splices that take others back.
func inverse(edits []Splice) []Splice {
	back, grown := make([]Splice, len(edits)), 0
	for i, s := range edits {
		back[i] = Splice{s.At + grown, s.Is, s.Was}
		grown += len(s.Is) - len(s.Was)
	}
	return back
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
		journal = append(journal, replaced{name, digest(s.was), digest(s.is), s.edits})
	}
	return json.Marshal(journal)
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Revert takes back what a journal tells, in the open transaction. A file that is as it was
// before is passed over. The journal comes from a file: may says of which names it can be.
func (e *Editor) Revert(_ context.Context, journal []byte, may func(name string) bool) error {
	var list []replaced
	if err := json.Unmarshal(journal, &list); err != nil {
		return problem.New(problem.Unreadable, "", "the journal in the receipt cannot be read: %v", err)
	}
	for _, r := range list {
		if !fs.ValidPath(r.Name) || !may(r.Name) {
			return problem.New(problem.Unreadable, "", "the journal in the receipt names %q, which no repair changes", r.Name)
		}
		now, err := e.Text(r.Name)
		if err != nil {
			return err
		}
		switch digest(now) {
		case r.Was:
			continue
		case r.Is:
		default:
			return e.moved(r.Name)
		}
		is, err := Apply(now, inverse(r.Splices))
		if err != nil || digest(is) != r.Was {
			return problem.New(problem.RolledBack, "", "the journal in the receipt does not lead back to what %s was", r.Name)
		}
		was := now
		if s := e.staged[r.Name]; s != nil {
			was = s.was
		}
		e.staged[r.Name] = &staged{was: was, is: is}
	}
	return nil
}

// Trial implements table.Transaction.
func (e *Editor) Trial(_ context.Context, do func() error) error {
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
	err := root.Close()
	if moved := e.Replaced(); e.changed && moved != nil {
		err = errors.Join(moved, err)
	}
	return err
}

// Left implements table.Transaction.
func (e *Editor) Left() string { return "" }
