// Package codex reads the rollouts of Codex CLI: a file of JSON lines for each thread, below
// sessions and archived_sessions of its folder. The facts were seen with codex-cli 0.63.0 and
// 0.169.0; docs/stores/codex.md has them.
package codex

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/filelog"
	"github.com/sessctl/sessctl/internal/store/forest"
)

const (
	kindName  = "codex"
	kindTitle = "Codex"

	prefix = "rollout-"
	ending = ".jsonl"
)

// Kind is Codex's row in the table of adapters.
var Kind = store.Kind{Name: kindName, Title: kindTitle, Folder: true, Locations: filelog.HomeFolder("CODEX_HOME", ".codex"), Detect: detectRollouts, Empty: hasNoRollout, Index: []string{"threads", "id", "rollout_path"}, Marks: marksOf, Open: openRollouts, Edit: openEdit}

// rollout is the file of a thread.
type rollout struct {
	meta
	name  string // below the folder; "" for standard input
	id    string // of the session, unique in the store
	wrong string // why Codex cannot resume the thread, whatever else is in the file
	size  int64
	last  time.Time      // when it was written to
	read  int64          // up to where forks read it
	apart *session.Fault // other files have its thread, and Codex may resume one of them
}

// codex is an opened store.
type codex struct {
	facts  session.Store
	root   *os.Root // nil for standard input
	close  bool     // it was opened here
	list   []*rollout
	byID   map[string]*rollout
	index  index
	wanted map[string]bool // the roots of the trees that are wanted; nil for all

	opts store.Options
	// file opens one of the folder, as a transaction sees it where one is open, with the keys
	// that its lines have there.
	file func(ctx context.Context, name string) (*filelog.Log, filelog.Keys, error)
}

// tops are the folders with rollouts in that of Codex, by YYYY/MM/DD or at once.
var tops = []string{"sessions", "archived_sessions"}

// visitFiles visits the rollouts of a folder until each is false: of that of Codex, or of one of those
// in which it sorts them. Of a rollout that is there compressed, too, Codex reads the other file
// (codex-rs/rollout/src/compression.rs).
func visitFiles(root *os.Root, each func(name string) bool) (unread error) {
	more, last := true, ""
	look := func(top string) {
		_ = fs.WalkDir(root.FS(), top, func(name string, e fs.DirEntry, err error) error { // which returns none
			switch {
			case err != nil:
				unread = cmp.Or(unread, err)
			case e.IsDir() && name != top && strings.Trim(e.Name(), "0123456789") != "":
				return fs.SkipDir
			case !e.IsDir() && strings.HasPrefix(e.Name(), prefix) && strings.HasSuffix(plain(name), ending):
				if plain(name) != last {
					last, more = plain(name), each(name)
				}
			}
			if !more {
				return fs.SkipAll
			}
			return nil
		})
	}
	home := false
	for _, top := range tops {
		if info, err := root.Stat(top); more && err == nil && info.IsDir() {
			look(top)
			home = true
		}
	}
	if !home {
		look(".")
	}
	return unread
}

// plain is the name that a rollout has where it is not compressed.
func plain(name string) string { return strings.TrimSuffix(name, filelog.Packed) }

// detectRollouts looks into the first lines of the first files.
func detectRollouts(ctx context.Context, src *store.Source) store.Detection {
	names := func(yield func(string) bool) { _ = visitFiles(src.Folder, yield) }
	stream := src.Stream
	if stream != nil && plain(src.Path) != src.Path {
		stream = filelog.Unpack(stream)
	}
	return filelog.Recognize(ctx, stream, src.Folder, names, "lines with timestamp, type and payload", func(text []byte) bool {
		l, wrong := parseLine(text)
		return wrong == "" && l.Time != "" && l.Payload.Kind() == '{' && slices.Contains(lineTypes, l.Type)
	})
}

// hasNoRollout reports whether a folder has no rollout.
func hasNoRollout(src *store.Source) bool {
	none := true
	unread := visitFiles(src.Folder, func(string) bool { none = false; return false })
	return none && unread == nil
}

// marksOf tells the size and the time of each rollout, by the id in its name.
func marksOf(ctx context.Context, src *store.Source) (map[string]string, error) {
	if src.Folder == nil {
		return nil, nil
	}
	marks := map[string]string{}
	err := visitFiles(src.Folder, func(name string) bool {
		marks[idInName(name)] += filelog.Mark(src.Folder, name) // of two with one id nobody knows which is meant
		return ctx.Err() == nil
	})
	return marks, cmp.Or(ctx.Err(), err)
}

// idInName is the id of a thread in the name of its rollout.
func idInName(name string) string {
	const uuid = 36
	stem := strings.TrimSuffix(path.Base(plain(name)), ending)
	return stem[max(0, len(stem)-uuid):]
}

// homeOf is the folder of Codex that a rollout or a folder lies in, and how names there begin that
// are of it: what it continues, and what continues it, is in others of its files. A file elsewhere
// is by itself.
func homeOf(named string) (folder, only string) {
	full, _ := filepath.Abs(named)
	parts := strings.Split(filepath.ToSlash(full), "/")
	for i := len(parts) - 1; i > 0; i-- {
		if slices.Contains(tops, parts[i]) {
			return filepath.FromSlash(strings.Join(parts[:i], "/")), path.Join(parts[i:]...)
		}
	}
	if info, err := os.Stat(named); err == nil && info.IsDir() {
		return named, ""
	}
	return filepath.Dir(named), filepath.Base(named)
}

func openRollouts(ctx context.Context, src *store.Source, opts store.Options) (_ store.Store, err error) {
	c, only := &codex{facts: storeFacts(src), opts: opts}, ""
	c.file = c.openPlain
	switch {
	case src.Stream != nil && src.Path == "-":
		c.facts.ReadOnly = "it is standard input"
		c.file = func(context.Context, string) (*filelog.Log, filelog.Keys, error) {
			return filelog.Over(src.Stream), filelog.Keys{}, nil
		}
	case src.Stream == nil && src.Folder == nil:
		return nil, problem.New(problem.Unreadable, "Name a rollout (rollout-….jsonl), or ~/.codex.", "%s is not a rollout of Codex", src.Path)
	default:
		var folder string
		folder, only = homeOf(src.Path)
		if c.root, err = os.OpenRoot(folder); err != nil {
			return nil, err
		}
		c.close = true
	}
	return c, c.readHeads(ctx, only)
}

func (c *codex) openPlain(_ context.Context, name string) (*filelog.Log, filelog.Keys, error) {
	log, err := filelog.OpenPacked(c.root, name)
	return log, filelog.Keys{}, err
}

// readHeads reads what the first line of each rollout says, and the index. only is how the names of
// those begin that were asked for, "" for all.
func (c *codex) readHeads(ctx context.Context, only string) error {
	names, unread := []string{only}, error(nil)
	if c.byID = map[string]*rollout{}; c.root != nil {
		var all []string
		unread = visitFiles(c.root, func(name string) bool {
			all = append(all, name)
			return true
		})
		if only == "" || slices.ContainsFunc(all, func(name string) bool { return strings.HasPrefix(name, only) }) {
			names = all
		}
		c.index = readIndex(ctx, c.root)
	}
	bytes := int64(0)
	for _, name := range names {
		r := c.addRollout(ctx, name)
		if strings.HasPrefix(name, only) {
			bytes += r.size
		}
		c.facts.Generation = cmp.Or(c.facts.Generation, r.Version)
	}
	for _, r := range c.list {
		if r.Base != nil && c.byID[r.Base.Thread] != nil {
			base := c.byID[r.Base.Thread]
			base.read = max(base.read, r.Base.End)
		}
	}
	c.tellDoubled()
	c.facts.NewestFirst = c.opts.Lacks != nil && c.root != nil
	c.facts.Generation, c.facts.Bytes = cmp.Or(c.facts.Generation, "unknown"), cmp.Or(c.facts.Bytes, bytes)
	wanted := func(r *rollout) bool { return strings.HasPrefix(r.id, c.opts.Only) }
	switch {
	case only != "":
		c.wantTrees(func(r *rollout) bool { return strings.HasPrefix(r.name, only) })
		return ctx.Err()
	case c.opts.Only != "" && len(slices.DeleteFunc(slices.Clone(c.list), func(r *rollout) bool { return !wanted(r) })) == 1:
		c.wantTrees(wanted)
		c.facts.Read = session.ByIndex
		return ctx.Err()
	case unread != nil:
		c.facts.Incomplete = "a folder could not be read: " + unread.Error()
	}
	if c.facts.Faults = c.index.findOrphans(c.byID); len(c.index.files) > 0 {
		c.facts.Advice = []string{"Codex builds its index of a repaired thread again when it resumes it, so a repair leaves its databases as they are."}
	}
	c.facts.Brief = c.opts.Brief > 0 && !c.opts.Counted && bytes >= c.opts.Brief
	c.facts.Uncounted = c.facts.Brief
	c.keepNewest()
	return ctx.Err()
}

// addRollout reads the first line of a file.
func (c *codex) addRollout(ctx context.Context, name string) *rollout {
	r := &rollout{name: name}
	log, _, err := c.file(ctx, name)
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
	r.ID = cmp.Or(r.ID, idInName(name))
	r.id = r.ID
	for n := 2; c.byID[r.id] != nil; n++ { // openai/codex#43689
		r.id = fmt.Sprintf("%s@%d", r.ID, n)
	}
	c.byID[r.id], c.list = r, append(c.list, r)
	return r
}

// Profile is that of the API that Codex asks through, and has its items of.
const Profile = "openai-responses"

// Runtime is what Codex does, whatever its sessions are read from (seen in requests of 0.63.0 and
// 0.169.0; codex-rs/core/src/context_manager/normalize.rs).
var Runtime = session.Runtime{
	Name:      kindTitle,
	Sanitiser: &session.Sanitiser{By: "Codex 0.63 and later", Always: true, Result: "aborted"},
}

// storeFacts are what is known of the store before a thread is read.
func storeFacts(src *store.Source) session.Store {
	return session.Store{
		Path: src.Path, Kind: kindName, Title: kindTitle, Bytes: src.Bytes, Runtime: Runtime,
		Versions: "written by Codex CLI, its app or an editor",
		Children: session.Children{ChildrenClosed: true},
		Reader:   session.Reader{Retells: session.Retelling{Bare: true}},
		Requests: session.Requests{Profile: Profile, Loses: map[string]string{
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

// groupHeads are the trees, of sessions without items. They come in the order of the names of
// files, which begin with times.
func (c *codex) groupHeads() []*session.Tree {
	heads := lists.MapEach(c.list, func(r *rollout) forest.Head { return forest.Head{Session: c.newSession(r)} })
	return forest.GroupHeads(heads)
}

// wantTrees leaves the trees with such a rollout.
func (c *codex) wantTrees(is func(r *rollout) bool) {
	c.wanted = map[string]bool{}
	for _, t := range c.groupHeads() {
		c.wanted[t.Root().ID] = slices.ContainsFunc(t.Sessions, func(s *session.Session) bool { return is(c.byID[s.ID]) })
	}
}

// keepNewest leaves the rollouts that were written to last, and those of their trees, where those
// of so many bytes are enough. A folder that is a few times as large is read in full.
func (c *codex) keepNewest() {
	latest, left := store.KeepNewest(c.list, c.opts.Newest, func(r *rollout) (int64, time.Time) { return r.size, r.last })
	if left == 0 {
		return
	}
	c.wantTrees(func(r *rollout) bool { return slices.Contains(latest, r) })
	for _, wanted := range c.wanted {
		if !wanted {
			c.facts.Left++
		}
	}
}

// Trees implements store.Store.
func (c *codex) Trees(ctx context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) {
		var bytes int64
		trees := c.groupHeads()
		if c.facts.NewestFirst {
			slices.Reverse(trees)
		}
		for _, tree := range trees {
			if c.wanted != nil && !c.wanted[tree.Root().ID] || c.lacksWords(ctx, tree) {
				continue
			}
			for _, s := range tree.Sessions {
				bytes += c.byID[s.ID].size
				if c.facts.Brief {
					s.Updated = c.byID[s.ID].last
				} else if err := c.readThread(ctx, &thread{Session: s}); err != nil {
					yield(nil, err)
					return
				}
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

// lacksWords reports whether no line of the rollouts of a tree, or of those that these continue, can
// say what is looked for.
func (c *codex) lacksWords(ctx context.Context, tree *session.Tree) bool {
	var names []string
	for _, s := range tree.Sessions {
		for r := c.byID[s.ID]; r != nil && !slices.Contains(names, r.name); {
			if names = append(names, r.name); r.Base == nil {
				break
			}
			r = c.byID[r.Base.Thread]
		}
	}
	open := func(name string) (*filelog.Log, error) { return filelog.OpenPacked(c.root, name) }
	return c.facts.NewestFirst && filelog.LackWords(ctx, c.opts.Lacks, open, names...)
}

// Fill implements store.Store: it reads the files of the tree again. A tree may have some of its
// sessions and items only.
func (c *codex) Fill(ctx context.Context, tree *session.Tree) error {
	for _, s := range tree.Sessions {
		from := &thread{Session: c.newSession(c.byID[s.ID]), body: true}
		if err := c.readThread(ctx, from); err != nil {
			return err
		}
		if !s.TakeTexts(from.Session) {
			return problem.New(problem.Unreadable, "Try it again when nothing writes to it.", "the rollout of session %s was changed while sessctl read it", s.ID)
		}
	}
	return nil
}

// Sums implements store.Summer. The record of a session is its file, to the byte, and what it has
// of the rollout that it continues.
func (c *codex) Sums(ctx context.Context, sessions []string) (map[string]store.Sum, error) {
	sums := map[string]store.Sum{}
	for _, id := range sessions {
		sums[id] = store.Sum{}
	}
	for _, r := range c.list {
		if sessions != nil && !slices.Contains(sessions, r.id) {
			continue
		}
		t := &thread{Session: c.newSession(r), sums: map[string]string{}}
		err := c.readThread(ctx, t)
		all := t.whole
		for i := range t.Items {
			if key := t.Items[i].Key; strings.HasPrefix(key, r.id+"<") { // of the rollout that it continues
				all = digestOf(all + t.sums[key])
			}
		}
		if sums[r.id] = (store.Sum{Own: r.id, Record: all, Exact: all, Items: t.sums}); err != nil {
			return nil, err
		}
	}
	return sums, nil
}
