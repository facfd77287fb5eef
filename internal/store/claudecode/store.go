// Package claudecode reads the transcripts of Claude Code: a folder for each project, a
// file for each session, and those of its sub-agents in a folder beside it. The facts were
// seen with Claude Code 1.0.60, 2.0.14, 2.1.197 and 2.1.330; docs/stores/claude-code.md
// has them.
package claudecode

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/filelog"
	"github.com/sessctl/sessctl/internal/store/forest"
)

const (
	kindName  = "claude-code"
	kindTitle = "Claude Code"

	ending   = ".jsonl"
	projects = "projects"
)

// Kind is Claude Code's row in the table of adapters.
var Kind = store.Kind{Name: kindName, Title: kindTitle, Folder: true, Locations: listLocations, Detect: detectTranscripts, Empty: hasNoTranscript, Whole: findTranscript, Marks: marksOf, Open: openTranscripts, Edit: openEdit}

var listLocations = filelog.HomeFolder("CLAUDE_CONFIG_DIR", ".claude")

// findTranscript finds the transcript of the session to which the folder of its sub-agents belongs, and what
// is in that.
func findTranscript(path string) string {
	for _, folder := range []string{path, filepath.Dir(path), filepath.Dir(filepath.Dir(path))} {
		if info, err := os.Stat(filepath.Join(folder, subagents)); err == nil && info.IsDir() {
			return folder + ending
		}
	}
	return ""
}

// transcript is the file of a session that nobody delegated.
type transcript struct {
	name   string // below the folder
	id     string // of the session, unique in the store
	copied string // what is behind the name in it, where another folder has the same
	size   int64
	last   time.Time // when it was written to
}

// listTranscripts lists the transcripts of a folder: of that of Claude Code, of its projects, or of one
// of these; at least so many, where there are. What cannot be listed is told.
func listTranscripts(root *os.Root, enough int) (found []transcript, unread []error) {
	top := "."
	if info, err := root.Stat(projects); err == nil && info.IsDir() {
		top = projects
	}
	used := map[string]bool{}
	var look func(folder string, deeper bool) error
	look = func(folder string, deeper bool) error {
		in, err := root.OpenRoot(folder)
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }()
		entries, err := fs.ReadDir(in.FS(), ".")
		for _, e := range entries {
			name, link := path.Join(folder, e.Name()), e.Type()&fs.ModeSymlink != 0
			stem, isLog := strings.CutSuffix(e.Name(), ending)
			switch {
			case len(found) >= enough:
				return nil
			case isLog && !e.IsDir() && !strings.HasPrefix(stem, agentPrefix):
				t := transcript{name: name, id: stem}
				for used[t.id] {
					t.copied += "@" + path.Base(folder)
					t.id = stem + t.copied
				}
				used[t.id] = true
				if info, err := in.Lstat(e.Name()); err == nil {
					t.size, t.last = info.Size(), info.ModTime()
				}
				found = append(found, t)
			case (e.IsDir() || link) && deeper && !strings.Contains(e.Name(), backupMark):
				if info, err := os.Stat(filepath.Join(root.Name(), name)); link && (err != nil || !info.IsDir()) {
					continue
				}
				if err := look(name, false); err != nil { // a link may lead out of the folder
					unread = append(unread, err)
				}
			}
		}
		return err
	}
	if err := look(top, true); err != nil {
		unread = append(unread, err)
	}
	return found, unread
}

// marksOf tells the sizes and the times of each transcript and of what its sub-agents have beside it.
func marksOf(ctx context.Context, src *store.Source) (map[string]string, error) {
	if src.Folder == nil {
		return nil, nil
	}
	marks := map[string]string{}
	found, _ := listTranscripts(src.Folder, math.MaxInt)
	for _, t := range found {
		marks[t.id] = filelog.Mark(src.Folder, t.name)
		beside, _ := fs.ReadDir(src.Folder.FS(), t.agentFolder()) // most have none
		for _, e := range beside {
			marks[t.id] += filelog.Mark(src.Folder, path.Join(t.agentFolder(), e.Name()))
		}
	}
	return marks, ctx.Err()
}

// backupMark is in the names of the backups of repairs, which hold the sessions once more.
const backupMark = ".sessctl-"

// detectTranscripts looks into the first lines of the first files.
func detectTranscripts(ctx context.Context, src *store.Source) store.Detection {
	const enough = 50
	sure := store.Detection{Sure: store.Certain, Why: "lines with uuid, parentUuid and sessionId"}
	if src.Stream != nil {
		if looksRight(ctx, filelog.Over(src.Stream)) {
			return sure
		}
		return store.Detection{}
	}
	if src.DB != nil {
		return detectMirror(ctx, src.DB)
	}
	if src.Folder == nil {
		return store.Detection{}
	}
	found, _ := listTranscripts(src.Folder, enough)
	for _, t := range found {
		log, err := filelog.Open(src.Folder, t.name)
		if err != nil {
			continue
		}
		right := looksRight(ctx, log)
		_ = log.Close()
		if right {
			return sure
		}
	}
	return store.Detection{}
}

// hasNoTranscript reports whether a folder has no transcript. Beside the folder of the projects there
// are settings and what was typed, in files of the same ending.
func hasNoTranscript(src *store.Source) bool {
	found, unread := listTranscripts(src.Folder, 1)
	_, err := src.Folder.Stat(projects)
	return len(unread) == 0 && (len(found) == 0 || errors.Is(err, fs.ErrNotExist))
}

// looksRight reports whether one of the first lines of a file is one that only Claude Code
// writes. A file of 2.0 may hold nothing but titles of branches of other files.
func looksRight(ctx context.Context, log *filelog.Log) (right bool) {
	const enough = 50
	n, titles := 0, 0
	for at, err := range log.Records(ctx, jsonscan.IsUsualJSON) {
		var l struct {
			line
			Parent *string `json:"parentUuid"`
		}
		if err == nil && at.Err == nil && jsonscan.Exact.Unmarshal(at.Text, &l) == nil {
			n++
			k := kindOf(l.Type)
			right = (k == user || k == assistant || l.Type == "attachment") && l.UUID != "" && l.Session != "" &&
				strings.Contains(string(at.Text), `"parentUuid"`)
			if right && k != unsaid { // Qwen Code has parts in place of content
				var said message
				right = jsonscan.Exact.Unmarshal(l.Message, &said) == nil && len(said.Content) > 0
			}
			right = right || l.Type == lastPrompt && l.Leaf != "" && l.Session != ""
			if l.Type == "summary" && l.Leaf != "" {
				titles++
			}
		}
		if right || n > enough {
			break
		}
	}
	return right || n > 0 && titles == n
}

// claude is an opened store.
type claude struct {
	facts session.Store
	root  *os.Root
	close bool // the folder was opened here
	// removeCopy removes the folder where the transcripts were written for reading, nil elsewhere.
	removeCopy func() error
	list       []transcript
	live       liveness
	opts       store.Options
	piped      *filelog.Log // a transcript on standard input, of which nobody knows the sub-agents
	// file opens one of the folder, as a transaction sees it where one is open.
	file    func(name string) (*filelog.Log, error)
	besides *besides
	others  *sync.Map // by the transcript, what otherFiles found there; nil where files change
}

func openTranscripts(ctx context.Context, src *store.Source, opts store.Options) (store.Store, error) {
	if src.DB != nil {
		return openMirror(ctx, src, opts)
	}
	c := &claude{opts: opts, root: src.Folder, besides: newBesides(), others: &sync.Map{}}
	c.file = func(name string) (*filelog.Log, error) { return filelog.Open(c.root, name) }
	c.facts = storeFacts(src)
	var unread []error
	switch {
	case src.Folder != nil:
		c.list, unread = listTranscripts(src.Folder, math.MaxInt)
		c.live = findLiving(src.Path)
		for _, t := range c.list {
			c.facts.Bytes += t.size
		}
		c.facts.Faults = c.findMissing()
		all := slices.Clone(c.list)
		c.keepOnly()
		c.keepNewest()
		c.facts.Brief = opts.Brief > 0 && !opts.Counted && c.facts.Bytes >= opts.Brief
		c.facts.Uncounted = c.facts.Brief
		c.addHomes(ctx, all)
	case src.Stream != nil && src.Path == "-":
		c.piped, c.list = filelog.Over(src.Stream), []transcript{{id: "stdin"}}
		c.facts.ReadOnly = "it is standard input"
	case src.Stream != nil:
		folder, err := os.OpenRoot(filepath.Dir(src.Path))
		if err != nil {
			return nil, err
		}
		name := filepath.Base(src.Path)
		c.root, c.close, c.list = folder, true, []transcript{oneOf(name, src.Bytes)}
		c.live = findLiving(filepath.Dir(src.Path))
	default:
		return nil, problem.New(problem.Unreadable, "Name a transcript (SESSION.jsonl), the folder of a project, or ~/.claude.", "%s is not a transcript of Claude Code", src.Path)
	}
	if c.facts.NewestFirst = opts.Lacks != nil && c.piped == nil; c.facts.NewestFirst {
		slices.SortStableFunc(c.list, func(a, b transcript) int { return b.last.Compare(a.last) })
	}
	c.facts.Generation = c.findGeneration()
	if len(unread) > 0 {
		c.facts.Incomplete = fmt.Sprintf("%d folders could not be read; the first: %v", len(unread), unread[0])
	}
	return c, nil
}

// findGeneration finds the version that wrote the first lines that name one.
func (c *claude) findGeneration() (version string) {
	for _, t := range c.list {
		log := c.piped
		if log == nil {
			var err error
			if log, err = c.file(t.name); err != nil {
				continue
			}
		}
		for at, err := range log.Lines(context.Background()) {
			if l, _, wrong := parseLine(at.Text); err == nil && wrong == "" && l.Version != "" {
				version = l.Version
				break
			}
		}
		_ = log.Close()
		if version != "" {
			return version
		}
	}
	return "unknown"
}

// oneOf is a transcript by itself.
func oneOf(name string, size int64) transcript {
	return transcript{name: name, id: strings.TrimSuffix(name, ending), size: size}
}

// keepOnly leaves the one transcript whose session is wanted, if a file is called so.
func (c *claude) keepOnly() {
	if c.opts.Only == "" {
		return
	}
	wanted := slices.DeleteFunc(slices.Clone(c.list), func(t transcript) bool { return !strings.HasPrefix(t.id, c.opts.Only) })
	if len(wanted) == 1 {
		c.list, c.facts.Read = wanted, session.ByIndex
	}
}

// keepNewest leaves the transcripts that were written to last, where those of so many bytes are
// enough. A folder that is a few times as large is read in full.
func (c *claude) keepNewest() {
	if c.facts.Read != session.ByIndex {
		c.list, c.facts.Left = store.KeepNewest(c.list, c.opts.Newest, func(t transcript) (int64, time.Time) { return t.size, t.last })
	}
}

// Runtime is what Claude Code does, whatever its sessions are read from; see also ResumedBy.
var Runtime = session.Runtime{
	Name:          kindTitle,
	BlankMessages: "Claude Code leaves answers without content out of the request, and since 2.1.152 such a message of the user that is joined with another text",
	BlankTexts:    "Claude Code 2.1.277 and later leave it out themselves, older versions in some places only",
	Sanitiser:     &session.Sanitiser{By: "Claude Code 2.1.197 and later", Pairs: "anthropic"},
}

// storeFacts are what is known of the store before a session is read.
func storeFacts(src *store.Source) session.Store {
	return session.Store{
		Path: src.Path, Kind: kindName, Title: kindTitle, Bytes: src.Bytes,
		Runtime:  Runtime,
		Requests: session.Requests{Model: "claude"},
		Versions: "written by Claude Code 1.0 to 2.1",
		Children: session.Children{ChildrenClosed: true},
		Reader:   session.Reader{Retells: session.Retelling{Bare: true}},
		Keys:     session.Keys{Renumbers: true, ByChain: true, PartsTexts: true, Omits: true},
	}
}

// Facts implements store.Store.
func (c *claude) Facts() *session.Store { return &c.facts }

// Close implements store.Store.
func (c *claude) Close() error {
	switch {
	case c.removeCopy != nil:
		return c.removeCopy()
	case c.close:
		return c.root.Close()
	}
	return nil
}

// Trees implements store.Store. Transcripts come in the order of their names; while one is
// looked at, the next one is read.
func (c *claude) Trees(ctx context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var bytes int64
		groups := c.groupTranscripts(ctx, c.list)
		next := c.startReading(ctx, groups, 0)
		defer func() { cancel(); _, _ = next() }() // a repair may write after this: no reading goes on
		for i, group := range groups {
			this := next
			next = c.startReading(ctx, groups, i+1)
			trees, err := this()
			for _, t := range group {
				bytes += t.size
			}
			if err == nil && c.opts.Progress != nil {
				c.opts.Progress(bytes)
			}
			for _, tree := range trees {
				if !yield(tree, nil) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// startReading reads transcripts beside the caller, who waits for them with the function.
func (c *claude) startReading(ctx context.Context, groups [][]transcript, i int) func() ([]*session.Tree, error) {
	read := sync.OnceValues(func() ([]*session.Tree, error) {
		if i >= len(groups) {
			return nil, nil
		}
		return c.readTranscript(ctx, groups[i])
	})
	go func() { _, _ = read() }()
	return read
}

// readTranscript reads transcripts as far as is wanted. Of one that cannot be read, there is a session
// that says so, and the others are read without it.
func (c *claude) readTranscript(ctx context.Context, group []transcript) (list []*session.Tree, err error) {
	t := group[0]
	if c.facts.NewestFirst && c.lacksWords(ctx, group) {
		return nil, nil
	}
	if c.facts.Brief {
		var tree *session.Tree
		if tree, err = c.readBrief(ctx, t); tree != nil {
			list = append(list, tree)
		}
	} else {
		list, err = c.readTrees(ctx, group, nil)
	}
	if err == nil {
		return list, nil
	}
	if ctx.Err() != nil || c.piped != nil {
		return nil, fmt.Errorf("%s: %w", t.name, err)
	}
	if len(group) > 1 {
		for _, t := range group {
			one, err := c.readTranscript(ctx, []transcript{t})
			if list = append(list, one...); err != nil {
				return list, err
			}
		}
		return list, nil
	}
	why := problem.Reason(err)
	if info, err := c.root.Lstat(t.name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		why = "it is a link that leads out of the folder, or to nothing"
	}
	s := &session.Session{ID: t.id, Writer: c.live.writerOf(t.id)}
	s.Faults = []session.Fault{unreadFile(s, t.name, why)}
	return forest.GroupHeads([]forest.Head{{Session: s}}), nil
}

// lacksWords reports whether no line of some transcripts, or of their sub-agents, can say what is looked for.
func (c *claude) lacksWords(ctx context.Context, group []transcript) bool {
	var names []string
	for _, t := range group {
		agents, err := c.listAgents(t)
		if err != nil {
			return false
		}
		names = append(names, t.name)
		for i := range agents {
			names = append(names, agents[i].name)
		}
	}
	return filelog.LackWords(ctx, c.opts.Lacks, c.file, names...)
}

// unreadFile is the fault of a session whose file cannot be read.
func unreadFile(s *session.Session, name, why string) session.Fault {
	return session.Fault{Kind: session.Undecodable, Item: -1, Ref: s.Ref(), Field: name, Detail: why, Lost: true, Remedy: "Make it readable, or put the file itself in its place."}
}
