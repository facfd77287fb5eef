package replay

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// attribute gives every leaked item of a window its delegation, its frame and
// its twin.
func attribute(rs *Session, w *window) {
	if len(w.leaked) == 0 {
		return
	}
	a := &attribution{rs: rs, w: w, makers: map[string]*Frame{}}
	for _, d := range w.calls {
		a.copies = append(a.copies, copiesBelow(d.Child))
		a.stacks = append(a.stacks, &Frame{Item: d.Item, Nth: d.Nth, Caller: d.Caller(), Agent: d.Call().Delegation.Agent})
	}
	for _, i := range w.leaked {
		a.place(i)
	}
	for n, d := range w.calls {
		a.copies[n].takeLeftOver(d)
		markUndecidable(d)
	}
}

// attribution is the state between two leaked items of a window.
type attribution struct {
	rs     *Session
	w      *window
	copies []*copies         // by call of the window
	stacks []*Frame          // the frame in force, by call of the window
	makers map[string]*Frame // where the leaked call of an id was made
}

// place finds out where the leaked item at index i belongs.
func (a *attribution) place(i int) {
	it := &a.rs.Session.Items[i]
	n := a.w.callOf(it, i, a.copies, a.stacks)
	frame := a.frame(n, it)
	if it.Role != session.Tool {
		a.stacks[n] = nested(frame, a.rs.Session, i)
	}
	for _, c := range it.Calls {
		a.makers[c.ID] = frame
	}
	d := a.w.calls[n]
	d.Leaked = append(d.Leaked, Leaked{Item: i, Frame: frame, Twin: a.copies[n].take(it)})
	a.rs.Steps[i].Frame, a.rs.Steps[i].Depth = frame, frame.Depth()
}

// frame is the frame that a leaked item of the n-th call runs in. A result runs
// where its call was made, whatever name it carries.
func (a *attribution) frame(n int, it *session.Item) *Frame {
	for _, r := range it.Results {
		if maker := a.makers[r.CallID]; maker != nil {
			return maker
		}
	}
	return enter(a.stacks[n], it)
}

// markUndecidable marks the items that carry the caller's own name and have no
// twin. A result is as decidable as its call.
func markUndecidable(d *Delegation) {
	makers := map[string]bool{} // ids of calls that undecidable items made
	for n := range d.Leaked {
		l := &d.Leaked[n]
		it := &d.Session.Items[l.Item]
		l.Undecidable = l.Twin == nil && it.Agent == d.Caller() && !answersOther(it, makers)
		if l.Undecidable {
			for _, c := range it.Calls {
				makers[c.ID] = true
			}
		}
	}
}

// answersOther reports whether a tool item answers calls whose makers are
// decidable.
func answersOther(it *session.Item, undecidable map[string]bool) bool {
	if it.Role != session.Tool {
		return false
	}
	for _, r := range it.Results {
		if undecidable[r.CallID] {
			return false
		}
	}
	return true
}

// callOf is the index of the delegation whose child produced the leaked item at
// index i. Runtimes that leak run the calls of a batch one after another, so it
// is the call whose result comes next. Another open call has the item only when
// its child holds the copy, the next call's child exists without one, and no
// open frame of the next call names the item's agent.
func (w *window) callOf(it *session.Item, i int, copies []*copies, stacks []*Frame) int {
	next := -1
	var open []int
	for n, d := range w.calls {
		if d.Result >= 0 && d.Result < i {
			continue
		}
		open = append(open, n)
		if next < 0 || before(d, w.calls[next]) {
			next = n
		}
	}
	if next < 0 { // the window outlived its calls: cannot be, but never fail
		return len(w.calls) - 1
	}
	if w.calls[next].Child == nil || copies[next].has(it) || stacks[next].names(it.Agent) {
		return next
	}
	for _, n := range open {
		if copies[n].has(it) {
			return n
		}
	}
	return next
}

// before orders open calls by the place of their results; calls without one
// come last, in the order of the batch.
func before(a, b *Delegation) bool {
	if a.Result < 0 || b.Result < 0 {
		return a.Result >= 0 && b.Result < 0
	}
	return a.Result < b.Result
}

// names reports whether one of the open frames asked this agent.
func (f *Frame) names(agent string) bool {
	for ; f != nil; f = f.Parent {
		for sibling := f; sibling != nil; sibling = sibling.next {
			if sibling.Agent == agent {
				return true
			}
		}
	}
	return false
}

// enter is the frame that the item runs in: the innermost one that asked the
// item's agent, or the one around it when the agent is its caller, who speaks
// again. A third agent took over inside the innermost frame.
func enter(top *Frame, it *session.Item) *Frame {
	for f := top; f != nil; f = f.Parent {
		for sibling := f; sibling != nil; sibling = sibling.next {
			if sibling.Agent == it.Agent {
				return sibling
			}
		}
		if f.Parent != nil && f.Caller == it.Agent {
			return f.Parent
		}
	}
	return top
}

// nested is the frame in force behind the item: an inner one when the item
// itself holds a blocking delegation call.
func nested(frame *Frame, s *session.Session, i int) *Frame {
	it := &s.Items[i]
	var first *Frame
	for n := range slices.Backward(it.Calls) {
		if d := it.Calls[n].Delegation; d != nil && d.Blocking {
			first = &Frame{Parent: frame, Item: i, Nth: n, Caller: it.Agent, Agent: d.Agent, next: first}
		}
	}
	if first == nil {
		return frame
	}
	return first
}
