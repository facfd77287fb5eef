package loom

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

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
	agents, missed, err := w.agents()
	if err != nil {
		return nil, err
	}
	x := &index{workspace: w, byID: map[string]*history{}, events: map[string]*event{}, missed: map[string]bool{}}
	x.miss(missed...)
	var steps []*delegation
	for _, a := range agents {
		h := &history{agent: a, steps: map[string]*delegation{}}
		x.agents, x.byID[a.id] = append(x.agents, h), h
		spawns, err := x.spawnSteps(ctx, h, progress)
		if err != nil {
			return nil, err
		}
		steps = append(steps, spawns...)
	}
	events, err := x.readCaptures(ctx, agents)
	if err != nil {
		return nil, err
	}
	all, left := match(x.byID, steps, events)
	x.attach(all, left, events)
	return x, nil
}

// spawnSteps are the spawns among the steps of an agent.
func (x *index) spawnSteps(ctx context.Context, h *history, progress func(int64)) ([]*delegation, error) {
	files, err := x.history(h.agent)
	if err != nil {
		x.miss(unread{path.Join(h.dir, historyFolder), err})
	}
	var list []*delegation
	for _, file := range files {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		data, err := x.read(file.path)
		if err != nil {
			x.miss(unread{file.path, err})
			continue
		}
		if x.bytes += int64(len(data)); progress != nil {
			progress(x.bytes)
		}
		if s, usable, _ := decodeStep(data); usable && s.Tool == spawnTool {
			d := &delegation{parent: h.id, child: shown(s.members()["child_id"]), step: file.path}
			h.steps[file.path] = d
			list = append(list, d)
		}
	}
	return list, nil
}

// readCaptures are the events of all captures by time, each once: two captures may
// have heard the same one.
func (x *index) readCaptures(ctx context.Context, agents []agent) ([]*event, error) {
	captures, missed := x.captures(agents)
	x.miss(missed...)
	type identity struct {
		id, child string
		result    bool
		said      session.Digest
		time      time.Time
	}
	heard := map[identity]bool{}
	var list []*event
	for _, c := range captures {
		events, faults, err := x.workspace.events(ctx, c)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			x.miss(unread{c.path, err})
		}
		x.faults = append(x.faults, faults...)
		for _, ev := range events {
			who, nameless := identity{ev.id, ev.child, ev.result, ev.said, ev.time}, ev.id == "" && ev.time.IsZero()
			if nameless || !heard[who] {
				heard[who] = true
				list = append(list, ev)
				x.bytes += ev.at.length
				x.events[ev.key] = ev
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *event) int { return a.time.Compare(b.time) })
	return list, nil
}

// attach gives delegations and events to the agents that they are about.
func (x *index) attach(all []*delegation, left, events []*event) {
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
			Detail: orphaned(ev),
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

// orphaned says why an event belongs to no agent.
func orphaned(ev *event) string {
	if ev.parent == "" {
		return "an event of the bus names no parent, and no spawn fits it"
	}
	return "an event of the bus is about a child of " + strconv.Quote(ev.parent) + ", which has no folder with a history in the workspace"
}

// miss notes what could not be read. What is in a folder that could not be read is
// that folder's, and told with it.
func (x *index) miss(list ...unread) {
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

func (u unread) String() string { return shown(u.path) + ": " + reason(u.err) }

// facts is what is known of the workspace as a whole.
func (x *index) facts(folder string) session.Store {
	f := session.Store{
		Path: folder, Kind: kindName, Title: kindTitle, Generation: "design", Bytes: x.bytes,
		Condition: session.Condition{
			Faults:   x.faults,
			ReadOnly: "the files of a workspace belong to its agents, and no Loom is known that would read changed ones",
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
