package loom

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
	unread []string // what could not be read, with the reason
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
	agents, err := w.agents()
	if err != nil {
		return nil, err
	}
	x := &index{workspace: w, byID: map[string]*history{}, events: map[string]*event{}}
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
	x.outsiders(all)
	return x, nil
}

// spawnSteps are the spawns among the steps of an agent.
func (x *index) spawnSteps(ctx context.Context, h *history, progress func(int64)) ([]*delegation, error) {
	files, err := x.history(h.agent)
	if err != nil {
		x.miss(h.dir+"/"+historyFolder, err)
	}
	var list []*delegation
	for _, file := range files {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		data, err := x.read(file.path)
		if err != nil {
			x.miss(file.path, err)
			continue
		}
		if x.bytes += int64(len(data)); progress != nil {
			progress(x.bytes)
		}
		if s, usable, _ := decodeStep(data); usable && s.Tool == spawnTool {
			d := &delegation{parent: h.id, child: s.members()["child_id"], step: file.path}
			h.steps[file.path] = d
			list = append(list, d)
		}
	}
	return list, nil
}

// readCaptures are the events of all captures by time, each once: two captures may
// have heard the same one.
func (x *index) readCaptures(ctx context.Context, agents []agent) ([]*event, error) {
	captures, err := x.captures(agents)
	if err != nil {
		x.miss("a folder of events", err)
	}
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
			x.miss(c.path, err)
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

// outsiders notes the children whose folder is a link out of the workspace: they are
// not read.
func (x *index) outsiders(all []*delegation) {
	seen := map[string]bool{}
	for _, d := range all {
		if d.child == "" || x.byID[d.child] != nil || seen[d.child] || strings.ContainsAny(d.child, `/\`) {
			continue
		}
		seen[d.child] = true
		if _, err := x.root.Lstat(d.child); err != nil {
			continue
		}
		if _, err := x.root.Stat(d.child); err != nil {
			x.miss(d.child, err)
		}
	}
}

// miss notes what could not be read.
func (x *index) miss(path string, err error) {
	x.unread = append(x.unread, shown(path)+": "+reason(err))
}

// facts is what is known of the workspace as a whole.
func (x *index) facts(path string) session.Store {
	f := session.Store{
		Path: path, Kind: kindName, Title: kindTitle, Generation: "design", Bytes: x.bytes, Faults: x.faults,
		Runtime:        "the layout of Loom's design document; no released Loom writes it",
		ReadOnly:       "the files of a workspace belong to its agents, and no Loom is known that would read changed ones",
		Adapts:         adaptations,
		GathersResults: true,
	}
	switch n := len(x.unread); n {
	case 0:
	case 1:
		f.Incomplete = "not everything could be read: " + x.unread[0]
	default:
		f.Incomplete = fmt.Sprintf("%d files or folders could not be read; the first is %s", n, x.unread[0])
	}
	return f
}
