package loom

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// delegation is one spawn of a child: a step of the parent, an event, or both, and
// what came back.
type delegation struct {
	parent  string
	child   string // "" when nothing says
	step    string // the path of the step, "" when only the event tells
	request *event // nil without a capture of it
	answer  *event // nil without one
}

// correlation is what the result has to carry: what the spawn says, or else the
// child's id, which the design waits by (ISOLATION.md, Spawning an Agent).
func (d *delegation) correlation() string {
	if d.request != nil && d.request.correlation != "" {
		return d.request.correlation
	}
	return d.child
}

// answered reports whether the step's own observation stands for the result: nothing
// says that another one was to come.
func (d *delegation) answered() bool { return d.request == nil && d.answer == nil }

// matcher brings the spawn steps and the captured events together.
type matcher struct {
	agents  map[string]*history
	byChild map[string][]*delegation // those that still lack what is sought
	unnamed map[string][]*delegation // by parent: steps that name no child
	tied    map[string]string        // the child by the correlation of its spawn
}

// match gives every event to a delegation, in the order of time: the first of the
// child that has none yet. A spawn without a step is a delegation of its own. What
// belongs to no agent of the workspace is left.
func match(agents map[string]*history, steps []*delegation, events []*event) (all []*delegation, left []*event) {
	m := matcher{agents: agents}
	all = steps
	m.wanting(all, func(*delegation) bool { return true })
	for _, ev := range events {
		if ev.result {
			continue
		}
		d := m.spawned(ev)
		if d == nil && agents[m.parent(ev)] == nil {
			left = append(left, ev)
			continue
		}
		if d == nil {
			d = &delegation{parent: m.parent(ev)}
			all = append(all, d)
		}
		d.request, d.child = ev, cmp.Or(d.child, ev.child)
	}
	m.wanting(all, func(d *delegation) bool { return d.child != "" })
	m.tied = map[string]string{}
	for _, d := range all {
		m.tied[d.correlation()] = d.child
	}
	var later []*event
	for _, ev := range events {
		if ev.result && !m.returned(ev, func(d *delegation) bool { return d.correlation() == ev.correlation }) {
			later = append(later, ev)
		}
	}
	for _, ev := range later {
		if !m.returned(ev, func(*delegation) bool { return true }) {
			left = append(left, ev)
		}
	}
	return all, left
}

// wanting starts a new search among the delegations that count.
func (m *matcher) wanting(list []*delegation, counts func(*delegation) bool) {
	m.byChild, m.unnamed = map[string][]*delegation{}, map[string][]*delegation{}
	for _, d := range list {
		switch {
		case !counts(d):
		case d.child != "":
			m.byChild[d.child] = append(m.byChild[d.child], d)
		default:
			m.unnamed[d.parent] = append(m.unnamed[d.parent], d)
		}
	}
}

// parent is the agent that an event of a spawn is from, or a result for; "" when it
// does not say.
func (m *matcher) parent(ev *event) string {
	if ev.parent == "" && !ev.result && m.agents[ev.source] != nil {
		return ev.source
	}
	return ev.parent
}

// childOf is the agent that a result is from.
func (m *matcher) childOf(ev *event) string {
	if ev.child == "" && m.agents[ev.source] != nil {
		return ev.source
	}
	return cmp.Or(ev.child, m.tied[ev.correlation])
}

// spawned is the step that an event of a spawn belongs to, nil for none.
func (m *matcher) spawned(ev *event) *delegation {
	parent := m.parent(ev)
	if d := take(m.byChild, ev.child, func(d *delegation) bool { return parent == "" || d.parent == parent }); d != nil {
		return d
	}
	return take(m.unnamed, parent, func(*delegation) bool { return true })
}

// returned gives a result to a delegation that fits, and reports whether there was one.
func (m *matcher) returned(ev *event, fits func(*delegation) bool) bool {
	ev.child = m.childOf(ev)
	d := take(m.byChild, ev.child, func(d *delegation) bool {
		return (ev.parent == "" || d.parent == ev.parent) && fits(d)
	})
	if d != nil {
		d.answer = ev
		ev.parent = d.parent
	}
	return d != nil
}

// take takes the first that fits out of a list.
func take(lists map[string][]*delegation, key string, fits func(*delegation) bool) *delegation {
	list := lists[key]
	i := slices.IndexFunc(list, fits)
	if i < 0 {
		return nil
	}
	d := list[i]
	if i == 0 {
		lists[key] = list[1:]
	} else {
		lists[key] = slices.Delete(list, i, i+1)
	}
	return d
}

// model is what the model has of it.
func (d *delegation) model() *session.Delegation {
	m := &session.Delegation{Agent: d.child, Child: d.child, Correlation: d.correlation()}
	if d.request != nil {
		m.Task, m.Tools, m.Timeout = d.request.said, d.request.tools, d.request.timeout
	}
	return m
}
