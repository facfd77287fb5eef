package loom

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/session"
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

var stepName = pattern.Lazy(`^step_([0-9]{1,9})\.json$`)

// unread is a file or folder that could not be read.
type unread struct {
	path string // below the workspace
	err  error
}

// listAgents lists the folders with a history, by name. A history that cannot be read
// counts: leaving it out would pass it over in silence. So would a folder that cannot
// be looked into, and a link out of the workspace, behind which an agent may be.
func (w workspace) listAgents() (list []agent, missed []unread, err error) {
	entries, err := w.listFolder(".")
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		is, err := w.isAgent(e.Name())
		if is {
			list = append(list, agent{dir: e.Name(), id: displayName(e.Name())})
		}
		if err != nil {
			missed = append(missed, unread{e.Name(), err})
		}
	}
	return list, missed, nil
}

// isAgent reports whether a folder has a history. The error says that nobody can tell.
func (w workspace) isAgent(folder string) (bool, error) {
	at, info, err := w.findFile(folder)
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
	_, info, err = w.findFile(at)
	return err != nil || info.IsDir(), nil
}

// listSteps lists the files of an agent's steps, by number.
func (w workspace) listSteps(a agent) ([]stepFile, error) {
	folder := path.Join(a.dir, historyFolder)
	entries, err := w.listFolder(folder)
	if err != nil {
		return nil, err
	}
	var files []stepFile
	for _, e := range entries {
		parts := stepName().FindStringSubmatch(e.Name())
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

// listCaptures lists the files of events beside the agents, and of each agent's own.
func (w workspace) listCaptures(agents []agent) (list []capture, missed []unread) {
	for _, a := range append([]agent{{dir: "."}}, agents...) {
		entries, err := w.listFolder(a.dir)
		if err != nil {
			missed = append(missed, unread{a.dir, err})
			continue
		}
		for _, e := range entries {
			name := path.Join(a.dir, e.Name())
			if !strings.HasSuffix(name, captureEnding) {
				continue
			}
			switch _, info, err := w.findFile(name); {
			case errors.Is(err, errOutside) || errors.Is(err, fs.ErrPermission):
				missed = append(missed, unread{name, err})
			case err == nil && info.Mode().IsRegular():
				list = append(list, capture{path: name, owner: a.id})
			}
		}
	}
	return list, missed
}

// listFolder lists the entries of a folder, by name.
func (w workspace) listFolder(folder string) ([]fs.DirEntry, error) {
	f, _, err := w.openAs(folder, fs.FileMode.IsDir, "it is not a folder")
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

// readStepFile reads a file of a history.
func (w workspace) readStepFile(name string) ([]byte, error) {
	f, size, err := w.openFile(name)
	if err != nil {
		return nil, err
	}
	if size > longestStep {
		return nil, errors.Join(fmt.Errorf("it has %d bytes, and a step has at most %d", size, longestStep), f.Close())
	}
	data, err := io.ReadAll(io.LimitReader(f, longestStep))
	return data, errors.Join(err, f.Close())
}

// openFile opens a regular file.
func (w workspace) openFile(name string) (*os.File, int64, error) {
	return w.openAs(name, fs.FileMode.IsRegular, "it is not a regular file")
}

// openAs opens what has the right mode. Pipes and devices may block, or do something
// when they are opened; one that takes the name's place meanwhile does not block.
func (w workspace) openAs(name string, right func(fs.FileMode) bool, otherwise string) (*os.File, int64, error) {
	real, info, err := w.findFile(name)
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

// displayName is a name of a file as an id. Bytes that are no UTF-8 are written out, in
// quotes, and a name that looks like that is put in quotes itself: two names stay two.
func displayName(name string) string {
	if _, err := strconv.Unquote(name); utf8.ValidString(name) && (err != nil || name[0] != '"') {
		return name
	}
	return strconv.Quote(name)
}

// index is what is known of a workspace after it was read once: who spawned whom, and
// the events. Steps are read again, agent by agent.
type index struct {
	workspace
	agents []*history
	byID   map[string]*history
	events map[string]*event // by key
	bytes  int64
	faults []session.Fault
	unread []unread
	missed map[string]bool // the paths of these
}

// history is what is known of one agent.
type history struct {
	agent
	steps       map[string]*delegation // its spawn steps, by the step's path
	delegations []*delegation          // these, and the spawns that only events tell of
	asked       []*event               // the spawns that are for it
	sent        []*event               // the results that are from it
	strays      []*event               // results for it that belong to no spawn
	named       bool                   // somebody spawned it
}

// readIndex reads every step and every event once.
func readIndex(ctx context.Context, w workspace, progress func(int64)) (*index, error) {
	agents, missed, err := w.listAgents()
	if err != nil {
		return nil, err
	}
	x := &index{workspace: w, byID: map[string]*history{}, events: map[string]*event{}, missed: map[string]bool{}}
	x.noteUnread(missed...)
	var steps []*delegation
	for _, a := range agents {
		h := &history{agent: a, steps: map[string]*delegation{}}
		x.agents, x.byID[a.id] = append(x.agents, h), h
		spawns, err := x.readSpawns(ctx, h, progress)
		if err != nil {
			return nil, err
		}
		steps = append(steps, spawns...)
	}
	events, err := x.readCaptures(ctx, agents)
	if err != nil {
		return nil, err
	}
	all, left := matchEvents(x.byID, steps, events)
	x.attachEvents(all, left, events)
	return x, nil
}

// readSpawns reads the spawns among the steps of an agent.
func (x *index) readSpawns(ctx context.Context, h *history, progress func(int64)) ([]*delegation, error) {
	files, err := x.listSteps(h.agent)
	if err != nil {
		x.noteUnread(unread{path.Join(h.dir, historyFolder), err})
	}
	var list []*delegation
	for _, file := range files {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		data, err := x.readStepFile(file.path)
		if err != nil {
			x.noteUnread(unread{file.path, err})
			continue
		}
		if x.bytes += int64(len(data)); progress != nil {
			progress(x.bytes)
		}
		if s, usable, _ := decodeStep(data); usable && s.Tool == spawnTool {
			d := &delegation{parent: h.id, child: displayName(s.stringArgs()["child_id"]), step: file.path}
			h.steps[file.path] = d
			list = append(list, d)
		}
	}
	return list, nil
}

// readCaptures reads the events of all captures by time, each once: two captures may
// have heard the same one.
func (x *index) readCaptures(ctx context.Context, agents []agent) ([]*event, error) {
	captures, missed := x.listCaptures(agents)
	x.noteUnread(missed...)
	type identity struct {
		id, child string
		result    bool
		said      session.Digest
		time      time.Time
	}
	heard := map[identity]bool{}
	var list []*event
	for _, c := range captures {
		events, faults, err := x.readEvents(ctx, c)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			x.noteUnread(unread{c.path, err})
		}
		x.faults = append(x.faults, faults...)
		for _, ev := range events {
			who, nameless := identity{ev.id, ev.child, ev.result, ev.said, ev.time}, ev.id == "" && ev.time.IsZero()
			if nameless || !heard[who] {
				heard[who] = true
				list = append(list, ev)
				x.bytes += int64(ev.at.Length)
				x.events[ev.key] = ev
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *event) int { return a.time.Compare(b.time) })
	return list, nil
}

// attachEvents gives delegations and events to the agents that they are about.
func (x *index) attachEvents(all []*delegation, left, events []*event) {
	for _, d := range all {
		h := x.byID[d.parent]
		h.delegations = append(h.delegations, d)
		if child := x.byID[d.child]; child != nil {
			child.named = true
		}
	}
	for _, ev := range left {
		if h := x.byID[ev.parent]; h != nil && ev.result {
			h.strays = append(h.strays, ev)
			continue
		}
		x.faults = append(x.faults, session.Fault{
			Kind: session.OrphanRecord, Item: -1, Ref: session.Ref{Table: tableEvents, Key: ev.key},
			Detail: explainOrphan(ev),
		})
	}
	for _, ev := range events {
		switch h := x.byID[ev.child]; {
		case h == nil:
		case ev.result:
			h.sent = append(h.sent, ev)
		default:
			h.asked = append(h.asked, ev)
			h.named = true
		}
	}
}

// explainOrphan says why an event belongs to no agent.
func explainOrphan(ev *event) string {
	if ev.parent == "" {
		return "an event of the bus names no parent, and no spawn matches it"
	}
	return "an event of the bus is about a child of " + strconv.Quote(ev.parent) + ", which has no folder with a history in the workspace"
}

// noteUnread notes what could not be read. What is in a folder that could not be read is
// that folder's, and told with it.
func (x *index) noteUnread(list ...unread) {
	for _, u := range list {
		told := false
		for at := u.path; at != "." && !told; at = path.Dir(at) {
			told = x.missed[at]
		}
		if !told {
			x.missed[u.path] = true
			x.unread = append(x.unread, u)
		}
	}
}

func (u unread) String() string { return displayName(u.path) + ": " + describeReason(u.err) }

// storeFacts is what is known of the workspace as a whole.
func (x *index) storeFacts(folder string) session.Store {
	f := session.Store{
		Path: folder, Kind: kindName, Title: kindTitle, Generation: "design", Bytes: x.bytes,
		Condition: session.Condition{
			Faults:   x.faults,
			ReadOnly: "the files of a workspace belong to its agents, and no known Loom would read changed files",
		},
		Versions: "the layout of Loom's design document; no released Loom writes it",
		Requests: session.Requests{Adapts: adaptations}, Reader: session.Reader{GathersResults: true},
	}
	switch n := len(x.unread); n {
	case 0:
	case 1:
		f.Incomplete = "not everything could be read: " + x.unread[0].String()
	default:
		f.Incomplete = fmt.Sprintf("%d files or folders could not be read; the first is %s", n, x.unread[0])
	}
	return f
}

// wanted is what a delegation has to be of. "" for the parent or the correlation is
// any; "" for the child is a step that names none.
type wanted struct{ child, parent, correlation string }

// queues are delegations in their order, under everything that they may be wanted by.
// A parent may have thousands, so none is searched for.
type queues map[wanted][]*delegation

func queueDelegations(list []*delegation, counts func(*delegation) bool) queues {
	q := queues{}
	for _, d := range list {
		if !counts(d) {
			continue
		}
		for _, parent := range []string{"", d.parent} {
			for _, correlation := range []string{"", d.resultCorrelation()} {
				w := wanted{d.child, parent, correlation}
				q[w] = append(q[w], d)
			}
		}
	}
	return q
}

// nextLacking is the first that still lacks what is sought, nil for none.
func (q queues) nextLacking(w wanted, lacks func(*delegation) bool) *delegation {
	for list := q[w]; len(list) > 0; list = list[1:] {
		if q[w] = list; lacks(list[0]) {
			return list[0]
		}
	}
	delete(q, w)
	return nil
}
