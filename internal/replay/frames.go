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

// enterItem is the frame that a leaked item belongs to. It is in force from there
// on, except behind a result: other calls of the same batch may still run.
func (f *frames) enterItem(it *session.Item, twin *TreeItem) *Frame {
	maker := f.noteAnswers(it)
	switch {
	case twin != nil:
		f.top = f.frameOf(twin.Session)
	case maker != nil:
		return maker
	default:
		f.top = f.findFrame(it)
	}
	return f.top
}

// noteAnswers notes which leaked calls an item answers, and returns where they were
// made, whatever name the item carries. Of several open calls with an id it
// answers the latest, because inner calls end first.
func (f *frames) noteAnswers(it *session.Item) (maker *Frame) {
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

// findFrame finds the frame of an item without a twin, by its agent and time.
func (f *frames) findFrame(it *session.Item) *Frame {
	if found := f.climbFrames(it, f.isUnsaved); found != nil {
		return found
	}
	asked, around := f.findLostCalls(it)
	running := f.top.innermostRunning(it)
	switch {
	case asked != nil:
		return f.callFrame(asked)
	case f.isUnsaved(running): // a third agent took over
		return running
	case around != nil:
		return f.callFrame(around)
	}
	if found := f.climbFrames(it, func(*Frame) bool { return true }); found != nil {
		return found
	}
	return running
}

// climbFrames looks for the innermost open frame that asked the item's agent, in which
// it spoke last or a handoff passed on to it, or the one around it when the agent
// is its caller, who speaks again.
func (f *frames) climbFrames(it *session.Item, wanted func(*Frame) bool) *Frame {
	running := f.top.innermostRunning(it)
	for at := f.top; at != nil; at = at.Parent {
		if at == running && (at.speaker == it.Agent() || at.passed && at.Caller != it.Agent()) && wanted(at) {
			return at
		}
		for sibling := at; sibling != nil; sibling = sibling.next {
			if sibling.Agent == it.Agent() && !sibling.isOver(it) && wanted(sibling) {
				return sibling
			}
		}
		if at.Parent != nil && at.Caller == it.Agent() && wanted(at.Parent) {
			return at.Parent
		}
	}
	return nil
}

// isUnsaved reports whether the child of the frame's call is not stored.
func (f *frames) isUnsaved(frame *Frame) bool {
	if frame == f.base {
		return f.root.Child == nil
	}
	return frame.Copy == nil || frame.Copy.Child == nil
}

// findLostCalls looks for calls below the child that did not leak themselves and whose own
// child is not stored: one that asked the item's agent, and one in whose time the
// item was said, by an agent that took over or was asked further down.
func (f *frames) findLostCalls(it *session.Item) (asked, around *Delegation) {
	if f.root.Child == nil {
		return nil, nil
	}
	for _, rs := range f.trace.Sessions {
		for _, d := range rs.Delegations {
			what := d.Call().Delegation
			switch {
			case d == f.root || d.Child != nil || !leaksIntoCaller(what) || !d.spansItem(it) || !isInSubtree(rs.Session, f.root.Child):
			case asked == nil && what.Agent == it.Agent():
				asked = d
			case d.hasTimes() && !it.Time.IsZero():
				around = d
			}
		}
	}
	return asked, around
}

// frameOf is the frame whose items a stored session holds.
func (f *frames) frameOf(s *session.Session) *Frame {
	if d := f.trace.Callers[s]; d != nil && s != f.root.Child {
		return f.callFrame(d)
	}
	return f.base
}

// callFrame is the frame of a stored call, made together with those of the other
// calls of its item.
func (f *frames) callFrame(d *Delegation) *Frame {
	if known := f.stored[d]; known != nil {
		return known
	}
	var next *Frame
	for _, other := range slices.Backward(f.trace.sessionReplay(d.Session).Delegations) {
		if other.Item != d.Item || !leaksIntoCaller(other.Call().Delegation) || f.stored[other] != nil {
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
	if parent := f.frameOf(d.Session); !parent.isWithin(frame) {
		for sibling := next; sibling != nil; sibling = sibling.next {
			sibling.Parent = parent
		}
	}
	return frame
}

// openInnerFrame puts an inner frame in force when the leaked item itself holds blocking
// delegation calls.
func (f *frames) openInnerFrame(it *session.Item, l *Leaked) {
	if it.Role == session.Assistant {
		l.Frame.speaker = it.Agent()
		l.Frame.passed = slices.ContainsFunc(it.Calls, func(c session.Call) bool { return session.IsHandoff(c.Name) })
	}
	var first *Frame
	for n := range slices.Backward(it.Calls) {
		call := leakedCall{maker: l.Frame}
		if d := it.Calls[n].Delegation; d != nil && leaksIntoCaller(d) {
			call.opens = &Frame{Parent: l.Frame, Item: l.Item, Nth: n, Caller: it.Agent(), Agent: d.Agent, next: first}
			if stored := f.trace.findDelegation(l.Twin, n); stored != nil {
				call.opens = f.callFrame(stored)
				call.opens.Item = l.Item
			}
			first = call.opens
			f.asked[d.Agent] = true
		}
		f.calls[it.Calls[n].ID] = append(f.calls[it.Calls[n].ID], call)
	}
	f.top = cmp.Or(first, f.top)
}

// hasAsked reports whether the call or one below it, leaked or stored, asked the agent.
func (f *frames) hasAsked(agent string) bool {
	if f.asked[agent] {
		return true
	}
	for _, rs := range f.trace.Sessions {
		for _, d := range rs.Delegations {
			if d.Call().Delegation.Agent == agent && isInSubtree(rs.Session, f.root.Child) {
				return true
			}
		}
	}
	return false
}

// isOver reports whether the frame's call, or one around it, had its result before
// the item.
func (f *Frame) isOver(it *session.Item) bool {
	for ; f != nil; f = f.Parent {
		if f.done || f.Copy != nil && !f.Copy.spansItem(it) {
			return true
		}
	}
	return false
}

// innermostRunning is the innermost frame that is not over at the item: this one, that of
// a later call of its item, or one around them.
func (f *Frame) innermostRunning(it *session.Item) *Frame {
	for ; f.Parent != nil; f = f.Parent {
		for sibling := f; sibling != nil; sibling = sibling.next {
			if !sibling.isOver(it) {
				return sibling
			}
		}
	}
	return f
}

// isWithin reports whether the frame is another one or lies inside it.
func (f *Frame) isWithin(other *Frame) bool {
	for ; f != nil; f = f.Parent {
		if f == other {
			return true
		}
	}
	return false
}

// spansItem reports whether an item can have been said between the call and its
// result, as far as times are known.
func (d *Delegation) spansItem(it *session.Item) bool {
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

// hasTimes reports whether it is known when the call was made and answered.
func (d *Delegation) hasTimes() bool {
	return d.Final >= 0 && !d.Session.Items[d.Item].Time.IsZero() && !d.Session.Items[d.Final].Time.IsZero()
}

// sessionReplay is the replay of a session of the tree.
func (t *Trace) sessionReplay(s *session.Session) *Session {
	if len(t.Sessions) == 1 {
		return t.Sessions[0]
	}
	return t.bySession[s]
}

// findDelegation finds the nth call of an item as a delegation, nil when there is no
// item or it is no own delegation of its session.
func (t *Trace) findDelegation(at *TreeItem, nth int) *Delegation {
	if at == nil {
		return nil
	}
	for _, d := range t.sessionReplay(at.Session).Delegations {
		if d.Item == at.Item && d.Nth == nth {
			return d
		}
	}
	return nil
}

// isInSubtree reports whether s is the session top or lies below it.
func isInSubtree(s, top *session.Session) bool {
	return top != nil && (s == top || slices.ContainsFunc(top.Children, func(child *session.Session) bool { return isInSubtree(s, child) }))
}
