// Package logstore reads and repairs stores in which a file of JSON lines holds a session with
// those of its sub-agents. An adapter says what lines mean, and what becomes of them.
package logstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/filelog"
	"github.com/sessctl/sessctl/internal/store/forest"
)

// Kind is what an adapter tells of its files.
type Kind struct {
	Ending string
	Facts  func(src *store.Source) session.Store
	List   func(root *os.Root) []string // the files of a folder
	// Session is the id of the root session of a file of a folder. Those of its sub-agents end in "@" and that.
	Session func(folder, name string) string
	Writer  func(root *os.Root, name string) session.Writer
	Title   func(f *File) string // of the root session
	// Glance is when a line was written, and whether it is an item.
	Glance func(line []byte) (at time.Time, said bool)
	// Read reads a file; nil where nothing is in it. What it gives is used while the file is open.
	Read func(ctx context.Context, f *File) (Reading, error)
	// Plain is a line without what a repair changes around what it says.
	Plain func(line []byte) []byte
	// Relate is that of store.Relater, for a session.
	Relate func(s *session.Session)
}

// File is a file that is open.
type File struct {
	*filelog.Log
	Root   *os.Root // nil for standard input
	Name   string   // below it
	ID     string   // of the root session
	Writer session.Writer
	Body   bool // texts are wanted
}

// Reading is what was read of a file.
type Reading interface {
	// Parts are its sessions, parents before children.
	Parts() ([]*Part, error)
	// Compose composes what a change makes of the file.
	Compose(sessions []*change.Session, parts []*Part) ([]filelog.Splice, error)
}

// Part is a session with the lines of its items, by their keys.
type Part struct {
	*session.Session
	Lines map[string]filelog.Span
}

// logs is an opened store.
type logs struct {
	*Kind
	facts session.Store
	opts  store.Options
	root  *os.Root
	close bool // the folder was opened here
	path  string
	list  []string
	piped *filelog.Log
	file  func(name string) (*filelog.Log, error)
}

// Open is that of a store.Kind.
func (k *Kind) Open(_ context.Context, src *store.Source, opts store.Options) (store.Store, error) {
	l := &logs{Kind: k, facts: k.Facts(src), root: src.Folder, opts: opts, path: src.Path}
	l.file = func(name string) (*filelog.Log, error) { return filelog.Open(l.root, name) }
	switch {
	case src.Folder != nil:
		l.list = k.List(src.Folder)
		infos := map[string]fs.FileInfo{}
		for _, name := range l.list {
			if info, err := l.root.Stat(name); err == nil {
				infos[name], l.facts.Bytes = info, l.facts.Bytes+info.Size()
			}
		}
		l.facts.Brief = opts.Brief > 0 && !opts.Counted && l.facts.Bytes >= opts.Brief
		l.facts.Uncounted = l.facts.Brief
		only := slices.DeleteFunc(slices.Clone(l.list), func(name string) bool { return !strings.HasPrefix(l.idOf(name), opts.Only) })
		if opts.Only != "" && len(only) == 1 {
			l.list, l.facts.Read = only, session.ByIndex
			break
		}
		if opts.Lacks != nil {
			slices.SortStableFunc(l.list, func(a, b string) int { return l.timeOf(b).Compare(l.timeOf(a)) })
		}
		l.list, l.facts.Left = store.KeepNewest(l.list, opts.Newest, func(name string) (size int64, last time.Time) {
			if info := infos[name]; info != nil {
				size, last = info.Size(), info.ModTime()
			}
			return size, last
		})
	case src.Path == "-":
		l.piped, l.list = filelog.Over(src.Stream), []string{"stdin"}
		l.facts.ReadOnly = "it is standard input"
	default:
		folder, err := os.OpenRoot(filepath.Dir(src.Path))
		if err != nil {
			return nil, err
		}
		l.root, l.close, l.list, l.path = folder, true, []string{filepath.Base(src.Path)}, filepath.Dir(src.Path)
	}
	l.facts.NewestFirst = opts.Lacks != nil && l.piped == nil
	return l, nil
}

func (l *logs) sizeOf(name string) int64 {
	if l.root == nil {
		return 0
	}
	info, err := l.root.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

func (l *logs) timeOf(name string) (at time.Time) {
	if info, err := l.root.Stat(name); err == nil {
		at = info.ModTime()
	}
	return at
}

// Marks is that of a store.Kind: the sizes and the times of the files.
func (k *Kind) Marks(ctx context.Context, src *store.Source) (map[string]string, error) {
	if src.Folder == nil {
		return nil, nil
	}
	full, err := filepath.Abs(src.Path)
	marks := map[string]string{}
	for _, name := range k.List(src.Folder) {
		marks[k.Session(full, name)] += filelog.Mark(src.Folder, name)
	}
	return marks, cmp.Or(err, ctx.Err())
}

// idOf is the id of the root session of a file.
func (l *logs) idOf(name string) string {
	full, err := filepath.Abs(l.path)
	if err != nil || l.root == nil {
		return name
	}
	return l.Session(full, name)
}

// Facts implements store.Store.
func (l *logs) Facts() *session.Store { return &l.facts }

// Close implements store.Store.
func (l *logs) Close() error {
	if l.close {
		return l.root.Close()
	}
	return nil
}

// Trees implements store.Store: a tree for each file, in the order of their names. Of one that cannot be read there is
// a session that says so.
func (l *logs) Trees(ctx context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) {
		var bytes int64
		for _, name := range l.list {
			if l.facts.NewestFirst && filelog.LackWords(ctx, l.opts.Lacks, l.file, name) {
				bytes += l.sizeOf(name)
				continue
			}
			tree, err := l.readTree(ctx, name)
			if err != nil && ctx.Err() == nil && l.piped == nil {
				s := &session.Session{ID: l.idOf(name)}
				s.Faults = []session.Fault{{Kind: session.Undecodable, Item: -1, Ref: s.Ref(), Field: name, Detail: problem.Reason(err), Lost: true, Remedy: "Make it readable, or put the file itself in its place."}}
				tree, err = forest.GroupHeads([]forest.Head{{Session: s}})[0], nil
			}
			if err != nil {
				yield(nil, fmt.Errorf("%s: %w", name, err))
				return
			}
			if bytes += l.sizeOf(name); l.opts.Progress != nil {
				l.opts.Progress(bytes)
			}
			if tree != nil && !yield(tree, nil) {
				return
			}
		}
	}
}

// tailBytes is how much of the end of a file is read to know when the session was used last.
const tailBytes = 64 << 10

// readTree reads the sessions of a file as far as is wanted; nil where nothing was said.
func (l *logs) readTree(ctx context.Context, name string) (tree *session.Tree, err error) {
	if !l.facts.Brief {
		err = l.visitFile(ctx, name, false, func(_ *File, _ Reading, parts []*Part) error {
			tree = treeOf(parts)
			return nil
		})
		return tree, err
	}
	err = l.openFile(name, false, func(f *File) error {
		s, anything := &session.Session{ID: f.ID, Title: l.Title(f), Writer: f.Writer}, false
		glance := func(at *filelog.Line) {
			if when, said := l.Glance(at.Text); said || at.Err != nil {
				anything = true
				s.SpreadTimes(when)
			}
		}
		for at, err := range f.Lines(ctx) {
			if err != nil {
				return err
			}
			if glance(&at); !s.Created.IsZero() {
				break
			}
		}
		for at, err := range f.Last(ctx, tailBytes) {
			if err != nil {
				return err
			}
			glance(&at)
		}
		if anything {
			tree = forest.GroupHeads([]forest.Head{{Session: s}})[0]
		}
		return nil
	})
	return tree, err
}

// treeOf is the tree of the sessions of a file, nil where nothing was said.
func treeOf(parts []*Part) *session.Tree {
	if len(parts) == 0 || len(parts) == 1 && len(parts[0].Items)+len(parts[0].Faults) == 0 {
		return nil
	}
	heads := lists.MapEach(parts, func(p *Part) forest.Head { return forest.HeadOf(p.Session) })
	whole := &session.Tree{}
	for _, t := range forest.GroupHeads(heads) {
		whole.Sessions = append(whole.Sessions, t.Sessions...)
	}
	return whole
}

// openFile hands a file to fn, while it is open.
func (l *logs) openFile(name string, body bool, fn func(*File) error) error {
	f := &File{Log: l.piped, Root: l.root, Name: name, ID: l.idOf(name), Body: body}
	if l.piped == nil {
		file, err := l.file(name)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // nothing was written to it
		f.Log, f.Writer = file, l.Writer(l.root, name)
	}
	return fn(f)
}

// visitFile hands what a file holds to fn, while it is open.
func (l *logs) visitFile(ctx context.Context, name string, body bool, fn func(*File, Reading, []*Part) error) error {
	return l.openFile(name, body, func(f *File) error {
		r, err := l.Read(ctx, f)
		if r == nil || err != nil {
			return err
		}
		parts, err := r.Parts()
		if err != nil {
			return err
		}
		return fn(f, r, parts)
	})
}

// visitParts hands the sessions of files to fn; nil asks for all files.
func (l *logs) visitParts(ctx context.Context, sessions []string, body bool, fn func(f *File, p *Part) error) error {
	for _, name := range l.list {
		root := l.idOf(name)
		if sessions != nil && !slices.ContainsFunc(sessions, func(id string) bool { return id == root || strings.HasSuffix(id, "@"+root) }) {
			continue
		}
		err := l.visitFile(ctx, name, body, func(f *File, _ Reading, parts []*Part) error {
			for _, p := range parts {
				if err := fn(f, p); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// Fill implements store.Store: it reads the files of the tree again.
func (l *logs) Fill(ctx context.Context, tree *session.Tree) error {
	wanted := map[string]*session.Session{}
	for _, s := range tree.Sessions {
		if len(s.Items) > 0 {
			wanted[s.ID] = s
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	err := l.visitParts(ctx, slices.Collect(maps.Keys(wanted)), true, func(_ *File, p *Part) error {
		if s := wanted[p.ID]; s != nil && s.TakeTexts(p.Session) {
			delete(wanted, p.ID)
		}
		return nil
	})
	if err == nil && len(wanted) > 0 {
		return problem.New(problem.Unreadable, "Try it again when nothing writes to it.", "session %s was changed while sessctl read it", slices.Min(slices.Collect(maps.Keys(wanted))))
	}
	return err
}

// Rehearse implements store.Rehearser: what is composed is read again.
func (l *logs) Rehearse(ctx context.Context, planned *store.Change) error {
	if l.piped != nil {
		return errors.New("it is standard input")
	}
	name, edits, err := l.compose(ctx, planned)
	if p, ok := errors.AsType[*problem.Error](err); ok && p.Class == problem.RolledBack {
		return errors.New(p.What)
	}
	if err != nil || len(edits) == 0 {
		return err
	}
	if err := filelog.CheckRegular(l.root, name); err != nil {
		return err
	}
	was, err := filelog.Open(l.root, name)
	if err != nil {
		return err
	}
	defer func() { _ = was.Close() }() // nothing was written to it
	is, err := filelog.Apply(was.Bytes(), l.sizeOf(name), edits)
	if err != nil {
		return err
	}
	after, same := *l, false
	after.file = func(string) (*filelog.Log, error) { return is.Log(), nil }
	err = after.visitFile(ctx, name, false, func(_ *File, _ Reading, parts []*Part) error {
		tree := treeOf(parts)
		same = tree != nil && change.ReadsAs(tree, planned)
		return nil
	})
	if err == nil && !same {
		err = errors.New("the lines would be read in another way than is planned")
	}
	return err
}

// compose composes what becomes of the file of a tree.
func (l *logs) compose(ctx context.Context, planned *store.Change) (name string, edits []filelog.Splice, err error) {
	all, err := change.CompareSessions(planned)
	if err != nil {
		return "", nil, err
	}
	root := planned.Before.Root().ID
	at := slices.IndexFunc(l.list, func(name string) bool { return l.idOf(name) == root })
	if at < 0 {
		return "", nil, problem.New(problem.RolledBack, "", "session %s cannot be changed: the store has no session with that id", root)
	}
	err = l.visitFile(ctx, l.list[at], false, func(_ *File, r Reading, parts []*Part) error {
		edits, err = r.Compose(all, parts)
		return err
	})
	return l.list[at], edits, err
}
