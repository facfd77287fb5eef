package loom

import (
	"cmp"

	"github.com/sessctl/sessctl/internal/session"
)

// delegation is one spawn of a child: a step of the parent, an event, or both, and
// what came back.
type delegation struct {
	parent  string
	child   string   // "" when nothing says
	step    string   // the path of the step, "" when only the event tells
	request *event   // nil without a capture of it
	answer  *event   // nil without one
	again   []*event // further results of it
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
	agents map[string]*history
	queues queues
	tied   map[string]string // the child by the correlation of its spawn
}

// match gives every event to a delegation, in the order of time: the first of the
// child that has none yet. A spawn without a step is a delegation of its own. What
// belongs to no agent of the workspace is left.
func match(agents map[string]*history, steps []*delegation, events []*event) (all []*delegation, left []*event) {
	all = steps
	m := matcher{agents: agents, queues: queued(all, func(*delegation) bool { return true }), tied: map[string]string{}}
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
	m.queues = queued(all, func(d *delegation) bool { return d.child != "" })
	for _, d := range all {
		m.tied[d.correlation()] = d.child
	}
	var later []*event
	for _, ev := range events {
		if ev.result && (ev.correlation == "" || !m.returned(ev, ev.correlation)) {
			later = append(later, ev)
		}
	}
	var extra []*event
	for _, ev := range later {
		if !m.returned(ev, "") {
			extra = append(extra, ev)
		}
	}
	return all, append(left, again(all, extra)...)
}

// again gives results of children that all have theirs to the delegation with their
// correlation, else to the last one of the child, and returns those that fit none.
func again(all []*delegation, events []*event) (left []*event) {
	answered := queued(all, func(d *delegation) bool { return d.answer != nil })
	for _, ev := range events {
		var found *delegation
		if of := answered[wanted{ev.child, ev.parent, ""}]; len(of) > 0 {
			found = of[len(of)-1]
		}
		if tied := answered[wanted{ev.child, ev.parent, ev.correlation}]; ev.correlation != "" && len(tied) > 0 {
			found = tied[0]
		}
		if found == nil {
			left = append(left, ev)
			continue
		}
		found.again, ev.parent = append(found.again, ev), found.parent
	}
	return left
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
	parent, lacks := m.parent(ev), func(d *delegation) bool { return d.request == nil }
	if ev.child != "" {
		if d := m.queues.next(wanted{ev.child, parent, ""}, lacks); d != nil {
			return d
		}
	}
	if parent == "" {
		return nil
	}
	return m.queues.next(wanted{"", parent, ""}, lacks)
}

// returned gives a result to a delegation with a correlation, "" for any, and reports
// whether there was one.
func (m *matcher) returned(ev *event, correlation string) bool {
	ev.child = m.childOf(ev)
	d := m.queues.next(wanted{ev.child, ev.parent, correlation}, func(d *delegation) bool { return d.answer == nil })
	if d != nil {
		d.answer = ev
		ev.parent = d.parent
	}
	return d != nil
}

// model is what the model has of it.
func (d *delegation) model() *session.Delegation {
	m := &session.Delegation{Agent: d.child, Child: d.child, Correlation: d.correlation()}
	if d.request != nil {
		m.Task, m.Tools, m.Timeout = d.request.said, d.request.tools, d.request.timeout
	}
	return m
}
