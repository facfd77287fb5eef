package replay

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// frames follows the delegations below one call of a window while its leaked
// items go by. What is stored of the child tells exactly where an item with a
// twin belongs; an item without one belongs below a call whose child is not
// stored, unless the child that is there lost it.
type frames struct {
	trace  *Trace
	root   *Delegation
	base   *Frame
	top    *Frame                  // the frame in force
	stored map[*Delegation]*Frame  // those of root and of calls in the sessions below it
	calls  map[string][]leakedCall // leaked calls without a result so far, by id
	asked  map[string]bool         // agents that root and leaked calls asked
}

// leakedCall is a call that a leaked item made.
type leakedCall struct {
	maker *Frame // where it was made
	opens *Frame // the frame that it opened, nil when it delegates nothing
}

func newFrames(trace *Trace, d *Delegation) *frames {
	base := &Frame{Item: d.Item, Nth: d.Nth, Caller: d.Caller(), Agent: d.Call().Delegation.Agent}
	return &frames{
		trace: trace, root: d, base: base, top: base,
		stored: map[*Delegation]*Frame{d: base}, calls: map[string][]leakedCall{},
		asked: map[string]bool{base.Agent: true},
	}
}

// enter is the frame that a leaked item belongs to. It is in force from there
// on, except behind a result: other calls of the same batch may still run.
func (f *frames) enter(it *session.Item, twin *TreeItem) *Frame {
	maker := f.answer(it)
	switch {
	case twin != nil:
		f.top = f.of(twin.Session)
	case maker != nil:
		return maker
	default:
		f.top = f.search(it)
	}
	return f.top
}

// answer notes which leaked calls an item answers, and returns where they were
// made, whatever name the item carries. Of several open calls with an id it
// answers the latest, because inner calls end first.
func (f *frames) answer(it *session.Item) (maker *Frame) {
	for i := range it.Results {
		id := it.Results[i].CallID
		open := f.calls[id]
		if len(open) == 0 {
			continue
		}
		last := open[len(open)-1]
		f.calls[id] = open[:len(open)-1]
		maker = last.maker
		if last.opens != nil {
			last.opens.done = true
		}
	}
	return maker
}

// search is the frame of an item without a twin, by its agent and time.
func (f *frames) search(it *session.Item) *Frame {
	if found := f.climb(it, f.unsaved); found != nil {
		return found
	}
	asked, around := f.lost(it)
	running := f.top.running(it)
	switch {
	case asked != nil:
		return f.call(asked)
	case f.unsaved(running): // a third agent took over
		return running
	case around != nil:
		return f.call(around)
	}
	if found := f.climb(it, func(*Frame) bool { return true }); found != nil {
		return found
	}
	return running
}

// climb looks for the innermost open frame that asked the item's agent, in which
// it spoke last or a handoff passed on to it, or the one around it when the agent
// is its caller, who speaks again.
func (f *frames) climb(it *session.Item, wanted func(*Frame) bool) *Frame {
	running := f.top.running(it)
	for at := f.top; at != nil; at = at.Parent {
		if at == running && (at.speaker == it.Agent || at.passed && at.Caller != it.Agent) && wanted(at) {
			return at
		}
		for sibling := at; sibling != nil; sibling = sibling.next {
			if sibling.Agent == it.Agent && !sibling.over(it) && wanted(sibling) {
				return sibling
			}
		}
		if at.Parent != nil && at.Caller == it.Agent && wanted(at.Parent) {
			return at.Parent
		}
	}
	return nil
}

// unsaved reports whether the child of the frame's call is not stored.
func (f *frames) unsaved(frame *Frame) bool {
	if frame == f.base {
		return f.root.Child == nil
	}
	return frame.Copy == nil || frame.Copy.Child == nil
}

// lost looks for calls below the child that did not leak themselves and whose own
// child is not stored: one that asked the item's agent, and one in whose time the
// item was said, by an agent that took over or was asked further down.
func (f *frames) lost(it *session.Item) (asked, around *Delegation) {
	if f.root.Child == nil {
		return nil, nil
	}
	for _, rs := range f.trace.Sessions {
		for _, d := range rs.Delegations {
			what := d.Call().Delegation
			switch {
			case d == f.root || d.Child != nil || !leaks(what) || !d.covers(it) || !lies(rs.Session, f.root.Child):
			case asked == nil && what.Agent == it.Agent:
				asked = d
			case d.timed() && !it.Time.IsZero():
				around = d
			}
		}
	}
	return asked, around
}

// of is the frame whose items a stored session holds.
func (f *frames) of(s *session.Session) *Frame {
	if d := f.trace.Callers[s]; d != nil && s != f.root.Child {
		return f.call(d)
	}
	return f.base
}

// call is the frame of a stored call, made together with those of the other
// calls of its item.
func (f *frames) call(d *Delegation) *Frame {
	if known := f.stored[d]; known != nil {
		return known
	}
	var next *Frame
	for _, other := range slices.Backward(f.trace.session(d.Session).Delegations) {
		if other.Item != d.Item || !leaks(other.Call().Delegation) || f.stored[other] != nil {
			continue
		}
		next = &Frame{
			Parent: f.base, Item: -1, Nth: other.Nth, Caller: other.Caller(), Agent: other.Call().Delegation.Agent,
			Copy: other, next: next,
		}
		f.stored[other] = next
	}
	frame := f.stored[d]
	if frame == nil { // no runtime leaks from it
		return f.base
	}
	if parent := f.of(d.Session); !parent.within(frame) {
		for sibling := next; sibling != nil; sibling = sibling.next {
			sibling.Parent = parent
		}
	}
	return frame
}

// open puts an inner frame in force when the leaked item itself holds blocking
// delegation calls.
func (f *frames) open(it *session.Item, l *Leaked) {
	if it.Role == session.Assistant {
		l.Frame.speaker = it.Agent
		l.Frame.passed = slices.ContainsFunc(it.Calls, func(c session.Call) bool { return session.IsHandoff(c.Name) })
	}
	var first *Frame
	for n := range slices.Backward(it.Calls) {
		call := leakedCall{maker: l.Frame}
		if d := it.Calls[n].Delegation; d != nil && leaks(d) {
			call.opens = &Frame{Parent: l.Frame, Item: l.Item, Nth: n, Caller: it.Agent, Agent: d.Agent, next: first}
			if stored := f.trace.delegation(l.Twin, n); stored != nil {
				call.opens = f.call(stored)
				call.opens.Item = l.Item
			}
			first = call.opens
			f.asked[d.Agent] = true
		}
		f.calls[it.Calls[n].ID] = append(f.calls[it.Calls[n].ID], call)
	}
	f.top = cmp.Or(first, f.top)
}

// names reports whether the call or one below it, leaked or stored, asked the agent.
func (f *frames) names(agent string) bool {
	if f.asked[agent] {
		return true
	}
	for _, rs := range f.trace.Sessions {
		for _, d := range rs.Delegations {
			if d.Call().Delegation.Agent == agent && lies(rs.Session, f.root.Child) {
				return true
			}
		}
	}
	return false
}

// over reports whether the frame's call, or one around it, had its result before
// the item.
func (f *Frame) over(it *session.Item) bool {
	for ; f != nil; f = f.Parent {
		if f.done || f.Copy != nil && !f.Copy.covers(it) {
			return true
		}
	}
	return false
}

// running is the innermost frame that is not over at the item: this one, that of
// a later call of its item, or one around them.
func (f *Frame) running(it *session.Item) *Frame {
	for ; f.Parent != nil; f = f.Parent {
		for sibling := f; sibling != nil; sibling = sibling.next {
			if !sibling.over(it) {
				return sibling
			}
		}
	}
	return f
}

// within reports whether the frame is another one or lies inside it.
func (f *Frame) within(other *Frame) bool {
	for ; f != nil; f = f.Parent {
		if f == other {
			return true
		}
	}
	return false
}

// covers reports whether an item can have been said between the call and its
// result, as far as times are known.
func (d *Delegation) covers(it *session.Item) bool {
	if it.Time.IsZero() {
		return true
	}
	if it.Time.Before(d.Session.Items[d.Item].Time) {
		return false
	}
	if d.Final < 0 {
		return true
	}
	answered := d.Session.Items[d.Final].Time
	return answered.IsZero() || !it.Time.After(answered)
}

// timed reports whether it is known when the call was made and answered.
func (d *Delegation) timed() bool {
	return d.Final >= 0 && !d.Session.Items[d.Item].Time.IsZero() && !d.Session.Items[d.Final].Time.IsZero()
}

// session is the replay of a session of the tree.
func (t *Trace) session(s *session.Session) *Session {
	if len(t.Sessions) == 1 {
		return t.Sessions[0]
	}
	return t.bySession[s]
}

// delegation is the nth call of an item as a delegation, nil when there is no
// item or it is no own delegation of its session.
func (t *Trace) delegation(at *TreeItem, nth int) *Delegation {
	if at == nil {
		return nil
	}
	for _, d := range t.session(at.Session).Delegations {
		if d.Item == at.Item && d.Nth == nth {
			return d
		}
	}
	return nil
}

// lies reports whether s is the session top or lies below it.
func lies(s, top *session.Session) bool {
	return top != nil && (s == top || slices.ContainsFunc(top.Children, func(child *session.Session) bool { return lies(s, child) }))
}
