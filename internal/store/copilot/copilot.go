// Package copilot reads the sessions of GitHub Copilot CLI: a folder for each, with one file
// of the lines of its agents. The facts were seen with 1.0.24 and 1.0.102;
// docs/stores/copilot-cli.md has them.
package copilot

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/filelog"
	"github.com/sessctl/sessctl/internal/store/forest"
)

const (
	kindName  = "copilot-cli"
	kindTitle = "Copilot CLI"

	states      = "session-state"
	events      = "events.jsonl"
	ending      = ".jsonl"
	producer    = "copilot-agent"
	lastVersion = "1.0.102"

	// backupMark is in the names of the backups of repairs, which hold the sessions once more.
	backupMark = ".sessctl-"
)

// Kind is Copilot CLI's row in the table of adapters.
var Kind = store.Kind{Name: kindName, Title: kindTitle, Folder: true, Locations: listLocations, Detect: detectEvents, Empty: hasNoSession, Open: openEvents, Edit: openEdit}

// listLocations lists the folder in which Copilot CLI keeps everything.
func listLocations(home string) []string {
	if folder := os.Getenv("COPILOT_HOME"); folder != "" {
		return []string{folder}
	}
	if home == "" {
		return nil
	}
	return []string{filepath.Join(home, ".copilot")}
}

// listFiles lists the files of events of a folder: of that of Copilot CLI, of its sessions, or of one
// of these.
func listFiles(root *os.Root) (names []string) {
	for _, form := range []string{states + "/*/" + events, "*/" + events, events} {
		found, _ := fs.Glob(root.FS(), form) // its one error is a bad pattern
		names = append(names, slices.DeleteFunc(found, func(name string) bool { return strings.Contains(name, backupMark) })...)
		if len(names) > 0 {
			return names
		}
	}
	return nil
}

// detectEvents looks into the first lines of the first files.
func detectEvents(ctx context.Context, src *store.Source) store.Detection {
	const enough = 50
	sure := store.Detection{Sure: store.Certain, Why: "lines with type, data, id, timestamp and parentId"}
	if src.Stream != nil && looksRight(ctx, filelog.Over(src.Stream)) {
		return sure
	}
	if src.Folder == nil {
		return store.Detection{}
	}
	names := listFiles(src.Folder)
	for _, name := range names[:min(len(names), enough)] {
		file, err := filelog.Open(src.Folder, name)
		if err != nil {
			continue
		}
		right := looksRight(ctx, file)
		_ = file.Close()
		if right {
			return sure
		}
	}
	return store.Detection{}
}

// hasNoSession reports whether nothing was ever said.
func hasNoSession(src *store.Source) bool { return len(listFiles(src.Folder)) == 0 }

// looksRight reports whether one of the first lines of a file is one that only Copilot CLI writes.
func looksRight(ctx context.Context, file *filelog.Log) bool {
	const enough = 50
	n := 0
	is := func(text []byte) bool { _, ok := parseEvent(text); return ok }
	for at, err := range file.Records(ctx, is) {
		if n++; err != nil || n > enough {
			break
		}
		e, ok := parseEvent(at.Text)
		if at.Err == nil && ok && e.Data.Kind() == '{' && schema()[e.Type] != nil && (e.text("producer") == producer || len(e.ID)*len(e.Time)*len(e.Parent) > 0) {
			return true
		}
	}
	return false
}

// copilot is an opened store.
type copilot struct {
	facts session.Store
	root  *os.Root
	close bool // the folder was opened here
	list  []string
	path  string // of the folder
	opts  store.Options
	piped *filelog.Log // a file on standard input
	file  func(name string) (*filelog.Log, error)
}

func openEvents(_ context.Context, src *store.Source, opts store.Options) (store.Store, error) {
	c := &copilot{facts: storeFacts(src), root: src.Folder, opts: opts, path: src.Path}
	c.file = func(name string) (*filelog.Log, error) { return filelog.Open(c.root, name) }
	switch {
	case src.Folder != nil:
		c.list = listFiles(src.Folder)
		for _, name := range c.list {
			if info, err := c.root.Stat(name); err == nil {
				c.facts.Bytes += info.Size()
			}
		}
		if only := slices.DeleteFunc(slices.Clone(c.list), func(name string) bool { return !strings.HasPrefix(c.sessionOf(name), opts.Only) }); opts.Only != "" && len(only) == 1 {
			c.list, c.facts.Read = only, session.ByIndex
		}
	case src.Path == "-":
		c.piped, c.list = filelog.Over(src.Stream), []string{"stdin"}
		c.facts.ReadOnly = "it is standard input"
	default:
		folder, err := os.OpenRoot(filepath.Dir(src.Path))
		if err != nil {
			return nil, err
		}
		c.root, c.close, c.list, c.path = folder, true, []string{filepath.Base(src.Path)}, filepath.Dir(src.Path)
	}
	return c, nil
}

// sessionOf is the id of the root session of a file: the name of its folder.
func (c *copilot) sessionOf(name string) string {
	folder := path.Dir(name)
	if base := path.Base(name); base != events || c.root == nil {
		return strings.TrimSuffix(base, ending)
	}
	if full, err := filepath.Abs(c.path); folder == "." && err == nil {
		folder = filepath.Base(full)
	}
	return path.Base(folder)
}

// storeFacts are what is known of the store before a session is read.
func storeFacts(src *store.Source) session.Store {
	const places = "sends an error in its place"
	return session.Store{
		Path: src.Path, Kind: kindName, Title: kindTitle, Bytes: src.Bytes, Generation: "events.jsonl",
		Runtime: session.Runtime{
			Name: kindTitle,
			Sanitiser: &session.Sanitiser{
				By: "Copilot CLI " + lastVersion, Pairs: "anthropic", Always: true, Result: placeholder, Elsewhere: placeholder,
				Tail: interrupted + ". Its effects may be absent, partial, or already complete, and other tools may have completed successfully. Check the current state before retrying; do not assume success or replay this operation blindly.",
			},
		},
		Requests: session.Requests{Model: "claude", Adapts: map[string]string{"SC113": "leaves it out of requests, since the summary covers the other half"}, Loses: map[string]string{
			"SC101": places + "; 1.0.24 sends the call alone, and the provider refuses that",
			"SC103": "leaves the result out of requests; 1.0.24 sends it, and the provider refuses that",
			"SC104": places, "SC105": places, "SC112": places,
			"SC106": "sends the first of them", "SC107": "sends the first of them",
			"SC201": places + ", behind the second call", "SC202": "sends both calls",
		}},
		Versions: "written by Copilot CLI 1.0.24 to " + lastVersion,
		Children: session.Children{ChildrenClosed: true},
		Reader:   session.Reader{Retells: session.Retelling{Bare: true}},
		Keys:     session.Keys{Renumbers: true},
	}
}

// placeholder is what 1.0.102 sends in place of a result that is not where it looks for one.
const placeholder = "The execution of this tool, or a previous tool was interrupted."

// Facts implements store.Store.
func (c *copilot) Facts() *session.Store { return &c.facts }

// Close implements store.Store.
func (c *copilot) Close() error {
	if c.close {
		return c.root.Close()
	}
	return nil
}

// Trees implements store.Store: a tree for each file, in the order of their names.
func (c *copilot) Trees(ctx context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) {
		var bytes int64
		for _, name := range c.list {
			tree, err := c.readTree(ctx, name, false, nil)
			if err != nil && ctx.Err() == nil && c.piped == nil { // the others are read
				s := &session.Session{ID: c.sessionOf(name), Writer: session.WriterUnknown}
				s.Faults = []session.Fault{{Kind: session.Undecodable, Item: -1, Ref: s.Ref(), Field: name, Detail: problem.Reason(err), Lost: true, Remedy: "Make it readable, or put the file itself in its place."}}
				tree, err = forest.GroupHeads([]forest.Head{{Session: s}})[0], nil
			}
			if err != nil {
				yield(nil, fmt.Errorf("%s: %w", name, err))
				return
			}
			if info, err := os.Stat(filepath.Join(c.path, name)); err == nil && c.opts.Progress != nil {
				bytes += info.Size()
				c.opts.Progress(bytes)
			}
			if tree != nil && !yield(tree, nil) {
				return
			}
		}
	}
}

// part is a session with what it was read from.
type part struct {
	*session.Session
	in    *reader
	lines map[string]int // of its items, by their keys
}

// openLog opens a file and reads its lines; nil where nothing is in it.
func (c *copilot) openLog(ctx context.Context, name string, body bool) (*reader, func(), error) {
	file, err := c.piped, error(nil)
	if file == nil {
		if file, err = c.file(name); err != nil {
			return nil, nil, err
		}
	}
	release := func() { _ = file.Close() } // nothing was written to it
	l, err := readLog(ctx, file, c.sessionOf(name))
	if err != nil || len(l.nodes) == 0 {
		release()
		return nil, nil, err
	}
	l.settleOwners()
	r := &reader{log: l, source: file, name: name, text: file.Window(), body: body, used: map[string]int{}}
	if c.root != nil {
		r.kept, r.title, r.writer = c.readKept(ctx, name, l), c.titleOf(name), c.writerOf(name)
	}
	return r, release, nil
}

// readParts reads the sessions of all agents of a file.
func (r *reader) readParts() (parts []*part, err error) {
	for a := range r.agents {
		p := &part{Session: r.beginSession(int32(a)), in: r, lines: map[string]int{}}
		if err := r.readItems(p, int32(a)); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// readTree reads the sessions of a file, nil where nothing is in it. each, which may be nil, is handed
// every one of them.
func (c *copilot) readTree(ctx context.Context, name string, body bool, each func(*part) error) (*session.Tree, error) {
	r, release, err := c.openLog(ctx, name, body)
	if r == nil {
		return nil, err
	}
	defer release()
	parts, err := r.readParts()
	if err != nil {
		return nil, err
	}
	var heads []forest.Head
	for _, p := range parts {
		if each != nil {
			if err := each(p); err != nil {
				return nil, err
			}
		}
		heads = append(heads, forest.HeadOf(p.Session))
	}
	if root := parts[0]; len(parts) == 1 && len(root.Items)+len(root.Faults) == 0 { // nothing was said
		return nil, nil
	}
	whole := &session.Tree{}
	for _, t := range forest.GroupHeads(heads) {
		whole.Sessions = append(whole.Sessions, t.Sessions...)
	}
	return whole, nil
}

// titleOf is what the file beside says that the session is called.
func (c *copilot) titleOf(name string) string {
	const most = 1 << 16
	text, _ := filelog.Read(c.root, path.Join(path.Dir(name), "workspace.yaml"), most)
	for line := range strings.Lines(string(text)) {
		for _, key := range []string{"name: ", "summary: "} {
			if title, is := strings.CutPrefix(strings.TrimSpace(line), key); is {
				return strings.ReplaceAll(strings.Trim(title, `'"`), "''", "'")
			}
		}
	}
	return ""
}

// Fill implements store.Store: it reads the files of the tree again.
func (c *copilot) Fill(ctx context.Context, tree *session.Tree) error {
	wanted := map[string]*session.Session{}
	for _, s := range tree.Sessions {
		if len(s.Items) > 0 {
			wanted[s.ID] = s
		}
	}
	err := c.visitParts(ctx, slices.Collect(maps.Keys(wanted)), true, func(p *part) error {
		if s := wanted[p.ID]; s != nil && fillItems(s, p.Session) {
			delete(wanted, p.ID)
		}
		return nil
	})
	if err == nil && len(wanted) > 0 {
		return problem.New(problem.Unreadable, "Try it again when nothing writes to it.", "session %s was changed while sessctl read it", slices.Min(slices.Collect(maps.Keys(wanted))))
	}
	return err
}

// fillItems gives items their texts, if they are there.
func fillItems(s, from *session.Session) bool {
	texts := make(map[string]*session.Item, len(from.Items))
	for i := range from.Items {
		texts[from.Items[i].Key] = &from.Items[i]
	}
	for i := range s.Items {
		it, text := &s.Items[i], texts[s.Items[i].Key]
		if text == nil || len(it.Calls) != len(text.Calls) || len(it.Results) != len(text.Results) {
			return false
		}
		it.TakeTexts(text)
	}
	return true
}

// visitParts hands the sessions of files to fn; nil asks for all files.
func (c *copilot) visitParts(ctx context.Context, sessions []string, body bool, fn func(p *part) error) error {
	for _, name := range c.list {
		root := c.sessionOf(name)
		if sessions == nil || slices.ContainsFunc(sessions, func(id string) bool { return id == root || strings.HasSuffix(id, "@"+root) }) {
			if _, err := c.readTree(ctx, name, body, fn); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}
