// Package codex reads the rollouts of Codex CLI: a file of JSON lines for each thread, below
// sessions and archived_sessions of its folder. The facts were seen with codex-cli 0.63.0 and
// 0.169.0; docs/stores/codex.md has them.
package codex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/filelog"
	"github.com/sessctl/sessctl/internal/store/forest"
)

const (
	kindName  = "codex"
	kindTitle = "Codex"

	prefix   = "rollout-"
	ending   = ".jsonl"
	sessions = "sessions"
	archive  = "archived_sessions"
)

// Kind is Codex's row in the table of adapters.
var Kind = store.Kind{Name: kindName, Title: kindTitle, Folder: true, Locations: listLocations, Detect: detectRollouts, Empty: hasNoRollout, Open: openRollouts, Edit: openEdit}

// listLocations lists the folder in which Codex keeps everything.
func listLocations(home string) []string {
	if folder := os.Getenv("CODEX_HOME"); folder != "" {
		return []string{folder}
	}
	if home == "" {
		return nil
	}
	return []string{filepath.Join(home, ".codex")}
}

// rollout is the file of a thread.
type rollout struct {
	meta
	name    string // below the folder; "" for standard input
	id      string // of the session, unique in the store
	wrong   string // why Codex cannot resume the thread, whatever else is in the file
	size    int64
	last    time.Time // when it was written to
	history int64     // up to where forks read it
}

// codex is an opened store.
type codex struct {
	facts session.Store
	root  *os.Root
	close bool // the folder was opened here
	list  []*rollout
	byID  map[string]*rollout
	index index
	opts  store.Options
	// wanted are the roots of the trees that are wanted, nil for all.
	wanted map[string]bool
	// file opens one of the folder, as a transaction sees it where one is open, with the keys
	// that its lines have there.
	file func(name string) (*filelog.Log, filelog.Keys, error)
}

// folderFiles are the rollouts that a folder has.
type folderFiles struct {
	names      []string
	compressed int
	unread     []error
}

// listFiles lists the rollouts of a folder: that of Codex, or one of those in which it sorts them by
// date; at least so many, where there are.
func listFiles(root *os.Root, enough int) (f folderFiles) {
	var look func(folder string)
	look = func(folder string) {
		in, err := root.OpenRoot(folder)
		if err != nil {
			f.unread = append(f.unread, err)
			return
		}
		defer func() { _ = in.Close() }()
		entries, err := fs.ReadDir(in.FS(), ".")
		if err != nil {
			f.unread = append(f.unread, err)
		}
		for _, e := range entries {
			name := e.Name()
			switch {
			case len(f.names) >= enough:
				return
			case e.IsDir() && strings.Trim(name, "0123456789") == "": // YYYY, MM, DD
				look(path.Join(folder, name))
			case !e.IsDir() && strings.HasPrefix(name, prefix) && strings.HasSuffix(name, ending):
				f.names = append(f.names, path.Join(folder, name))
			case strings.HasPrefix(name, prefix) && strings.HasSuffix(name, ending+".zst"):
				f.compressed++
			}
		}
	}
	for _, top := range topFolders(root) {
		look(top)
	}
	return f
}

// topFolders are the folders with rollouts in that of Codex, or the folder itself.
func topFolders(root *os.Root) (tops []string) {
	for _, name := range []string{sessions, archive} {
		if info, err := root.Stat(name); err == nil && info.IsDir() {
			tops = append(tops, name)
		}
	}
	if tops == nil {
		return []string{"."}
	}
	return tops
}

// detectRollouts looks into the first lines of the first files.
func detectRollouts(ctx context.Context, src *store.Source) store.Detection {
	const enough = 20
	sure := store.Detection{Sure: store.Certain, Why: "lines with timestamp, type and payload"}
	switch {
	case src.Stream != nil && looksRight(ctx, filelog.Over(src.Stream)):
		return sure
	case src.Folder == nil:
		return store.Detection{}
	}
	for _, name := range listFiles(src.Folder, enough).names {
		if log, err := filelog.Open(src.Folder, name); err == nil {
			right := looksRight(ctx, log)
			_ = log.Close()
			if right {
				return sure
			}
		}
	}
	return store.Detection{}
}

// hasNoRollout reports whether a folder has no rollout.
func hasNoRollout(src *store.Source) bool {
	f := listFiles(src.Folder, 1)
	return len(f.names)+f.compressed+len(f.unread) == 0
}

// looksRight reports whether one of the first lines of a file is one that only Codex writes.
func looksRight(ctx context.Context, log *filelog.Log) bool {
	const enough = 50
	n := 0
	for at, err := range log.Lines(ctx) {
		l, wrong := parseLine(at.Text)
		if n++; err != nil || n > enough {
			break
		}
		if at.Err == nil && wrong == "" && l.Time != "" && l.Payload.Kind() == '{' && slices.Contains(lineTypes, l.Type) {
			return true
		}
	}
	return false
}

// homeOf is the folder of Codex that a rollout lies in, and its name there: the threads that it
// builds on, and that build on it, are in others of its files. A file elsewhere is by itself.
func homeOf(file string) (folder, name string) {
	folder, name = filepath.Split(file)
	folder = cmp.Or(filepath.Clean(folder), ".")
	full, err := filepath.Abs(file)
	if err != nil {
		return folder, name
	}
	for up, below := filepath.Dir(full), filepath.Base(full); ; up, below = filepath.Dir(up), path.Join(filepath.Base(up), below) {
		switch base := filepath.Base(up); {
		case base == sessions || base == archive:
			return filepath.Dir(up), path.Join(base, below)
		case strings.Trim(base, "0123456789") != "" || base == up:
			return folder, name
		}
	}
}

func openRollouts(ctx context.Context, src *store.Source, opts store.Options) (store.Store, error) {
	c := &codex{opts: opts, root: src.Folder, facts: storeFacts(src)}
	c.file = func(name string) (l *filelog.Log, keys filelog.Keys, err error) {
		l, err = filelog.Open(c.root, name)
		return l, keys, err
	}
	var err error
	switch only := ""; {
	case src.Stream != nil && src.Path == "-":
		c.facts.ReadOnly = "it is standard input"
		c.file = func(string) (*filelog.Log, filelog.Keys, error) { return filelog.Over(src.Stream), filelog.Keys{}, nil }
		c.addRollout(ctx, "")
		c.finishHeads("-")
	case src.Stream != nil:
		var folder string
		folder, only = homeOf(src.Path)
		if c.root, err = os.OpenRoot(folder); err != nil {
			return nil, err
		}
		c.close = true
		fallthrough
	case src.Folder != nil:
		err = c.readHeads(ctx, only)
	default:
		err = problem.New(problem.Unreadable, "Name a rollout (rollout-….jsonl), or ~/.codex.", "%s is not a rollout of Codex", src.Path)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// readHeads reads what the first line of each rollout says, and the index. only is the file that was
// asked for, "" for all.
func (c *codex) readHeads(ctx context.Context, only string) error {
	found := listFiles(c.root, 1<<30)
	if only != "" && !slices.Contains(found.names, only) { // it has another name
		found = folderFiles{names: []string{only}}
	}
	for _, name := range found.names {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.addRollout(ctx, name)
	}
	if topFolders(c.root)[0] != "." && len(found.names) > 0 {
		c.index = readIndex(ctx, c.root)
	}
	switch {
	case len(found.unread) > 0:
		c.facts.Incomplete = fmt.Sprintf("%d folders could not be read; the first: %v", len(found.unread), found.unread[0])
	case found.compressed > 0 && only == "":
		c.facts.Incomplete = fmt.Sprintf("%d rollouts are compressed (.zst), which sessctl does not read; decompress a copy of them", found.compressed)
	}
	c.finishHeads(only)
	return nil
}

// addRollout reads the first line of a file.
func (c *codex) addRollout(ctx context.Context, name string) {
	r := &rollout{name: name}
	log, _, err := c.file(name)
	if err == nil {
		r.meta, r.wrong = readMeta(ctx, log)
		err = log.Close()
	}
	if err != nil {
		r.wrong = problem.Reason(err)
	}
	if c.root != nil {
		if info, err := c.root.Stat(name); err == nil {
			r.size, r.last = info.Size(), info.ModTime()
		}
	}
	stem := strings.TrimSuffix(path.Base(name), ending)
	const uuid = 36
	r.id = cmp.Or(r.ID, stem[max(0, len(stem)-uuid):], "stdin")
	if c.byID == nil {
		c.byID = map[string]*rollout{}
	}
	for n, id := 2, r.id; c.byID[r.id] != nil; n++ { // openai/codex#43689
		r.id = fmt.Sprintf("%s@%d", id, n)
	}
	c.byID[r.id] = r
	c.list = append(c.list, r)
}

// finishHeads makes what follows from the first lines of all rollouts.
func (c *codex) finishHeads(only string) {
	for _, r := range c.list {
		if r.Base != nil && c.byID[r.Base.Thread] != nil {
			base := c.byID[r.Base.Thread]
			base.history = max(base.history, r.Base.End)
		}
		if only == "" {
			c.facts.Bytes += r.size
		}
		c.facts.Generation = cmp.Or(c.facts.Generation, r.Version)
	}
	c.facts.Generation = cmp.Or(c.facts.Generation, "unknown")
	if only == "" {
		c.facts.Faults = c.index.findOrphans(c.byID)
	}
	c.selectTrees(only)
}

// Runtime is what Codex does, whatever its sessions are read from (seen in requests of 0.63.0 and
// 0.169.0; codex-rs/core/src/context_manager/normalize.rs).
var Runtime = session.Runtime{
	Name:      kindTitle,
	API:       "openai-responses",
	Sanitiser: &session.Sanitiser{By: "Codex 0.63 and later", Always: true, Result: "aborted"},
}

// storeFacts are what is known of the store before a thread is read.
func storeFacts(src *store.Source) session.Store {
	return session.Store{
		Path: src.Path, Kind: kindName, Title: kindTitle, Bytes: src.Bytes, Runtime: Runtime,
		Versions: "written by Codex CLI, its app or an editor",
		Children: session.Children{ChildrenClosed: true},
		Reader:   session.Reader{Retells: session.Retelling{Bare: true}},
		Requests: session.Requests{Loses: map[string]string{
			"SC101": `sends "aborted" in the place of the result each time`,
			"SC103": "leaves the result out of requests",
		}},
		Keys: session.Keys{Renumbers: true},
	}
}

// Facts implements store.Store.
func (c *codex) Facts() *session.Store { return &c.facts }

// Close implements store.Store.
func (c *codex) Close() error {
	if c.close {
		return c.root.Close()
	}
	return nil
}

// heads are fresh sessions without items: a tree belongs to whom it was yielded to.
func (c *codex) heads() (list []forest.Head) {
	for _, r := range c.list {
		list = append(list, forest.Head{Session: c.newSession(r)})
	}
	return list
}

// selectTrees finds the trees that are wanted: that of a file, of a session whose id begins so, or
// those that were written to last.
func (c *codex) selectTrees(only string) {
	all := forest.GroupHeads(c.heads())
	var found []*session.Tree
	find := func(is func(r *rollout) bool) []*session.Tree {
		return slices.DeleteFunc(slices.Clone(all), func(t *session.Tree) bool {
			return !slices.ContainsFunc(t.Sessions, func(s *session.Session) bool { return is(c.byID[s.ID]) })
		})
	}
	switch enough := c.opts.Newest; {
	case only == "-":
		return
	case only != "":
		found = find(func(r *rollout) bool { return r.name == only })
	case c.opts.Only != "":
		if found = find(func(r *rollout) bool { return strings.HasPrefix(r.id, c.opts.Only) }); len(found) != 1 {
			return
		}
		c.facts.Read = session.ByIndex
	case enough > 0 && c.facts.Bytes >= worthIt*enough:
		slices.SortStableFunc(all, func(a, b *session.Tree) int { return c.lastOf(b).Compare(c.lastOf(a)) })
		for _, t := range all {
			if enough > 0 {
				found = append(found, t)
			}
			for _, s := range t.Sessions {
				enough -= c.byID[s.ID].size
			}
		}
		c.facts.Left = len(all) - len(found)
	default:
		return
	}
	c.wanted = map[string]bool{}
	for _, t := range found {
		c.wanted[t.Root().ID] = true
	}
}

// worthIt is how many times as large as what is enough a folder has to be so that the rest is not
// looked at.
const worthIt = 4

// lastOf is when a tree was written to last.
func (c *codex) lastOf(t *session.Tree) (last time.Time) {
	for _, s := range t.Sessions {
		if at := c.byID[s.ID].last; at.After(last) {
			last = at
		}
	}
	return last
}

// Trees implements store.Store. They come in the order of their files, whose names begin with times.
func (c *codex) Trees(ctx context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) {
		var bytes int64
		for _, tree := range forest.GroupHeads(c.heads()) {
			if c.wanted != nil && !c.wanted[tree.Root().ID] {
				continue
			}
			for _, s := range tree.Sessions {
				if err := c.readThread(ctx, &thread{Session: s}, false); err != nil {
					yield(nil, err)
					return
				}
				bytes += c.byID[s.ID].size
			}
			if c.opts.Progress != nil {
				c.opts.Progress(bytes)
			}
			if !yield(tree, nil) {
				return
			}
		}
	}
}

// Fill implements store.Store: it reads the files of the tree again. A tree may have some of its
// sessions and items only.
func (c *codex) Fill(ctx context.Context, tree *session.Tree) error {
	for _, s := range tree.Sessions {
		if len(s.Items) == 0 {
			continue
		}
		from := &thread{Session: c.newSession(c.byID[s.ID])}
		if err := c.readThread(ctx, from, true); err != nil {
			return err
		}
		texts := make(map[string]*session.Item, len(from.Items))
		for i := range from.Items {
			texts[from.Items[i].Key] = &from.Items[i]
		}
		for i := range s.Items {
			it, text := &s.Items[i], texts[s.Items[i].Key]
			if text == nil || it.Meaning != text.Meaning {
				return problem.New(problem.Unreadable, "Try it again when nothing writes to it.", "the rollout of session %s was changed while sessctl read it", s.ID)
			}
			it.TakeTexts(text)
		}
	}
	return nil
}
