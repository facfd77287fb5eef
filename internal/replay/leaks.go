package replay

import "github.com/sessctl/sessctl/internal/session"

// attribute gives every leaked item of a window its delegation, its frame and
// its twin.
func attribute(rs *Session, w *window) {
	if len(w.leaked) == 0 {
		return
	}
	copies := make([]*copies, len(w.calls))
	stacks := make([]*Frame, len(w.calls))
	makers := map[string]bool{} // ids of calls that undecidable items made
	for n, d := range w.calls {
		copies[n] = copiesBelow(d.Child)
		stacks[n] = &Frame{Item: d.Item, Nth: d.Nth, Caller: d.Caller(), Agent: d.Call().Delegation.Agent}
	}
	for _, i := range w.leaked {
		it := &rs.Session.Items[i]
		n := w.callOf(it, i, copies, stacks)
		frame := enter(stacks[n], it)
		stacks[n] = nested(frame, rs.Session, i)
		leaked := Leaked{Item: i, Frame: frame, Twin: copies[n].take(it.Meaning)}
		leaked.Undecidable = leaked.Twin == nil && it.Agent == w.calls[n].Caller() && !answersOther(it, makers)
		if leaked.Undecidable {
			for _, c := range it.Calls {
				makers[c.ID] = true
			}
		}
		w.calls[n].Leaked = append(w.calls[n].Leaked, leaked)
		rs.Steps[i].Frame, rs.Steps[i].Depth = frame, frame.Depth()
	}
}

// answersOther reports whether a tool item answers a leaked call whose maker is
// decidable: then the result is as decidable as the call.
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
	if w.calls[next].Child == nil || copies[next].has(it.Meaning) || stacks[next].names(it.Agent) {
		return next
	}
	for _, n := range open {
		if copies[n].has(it.Meaning) {
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
		if f.Agent == agent {
			return true
		}
	}
	return false
}

// enter is the frame that the item runs in: the innermost one that asked the
// item's agent, or the one around it when the agent is its caller, who speaks
// again. A third agent took over inside the innermost frame.
func enter(top *Frame, it *session.Item) *Frame {
	for f := top; f != nil; f = f.Parent {
		if f.Agent == it.Agent {
			return f
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
	for n := range it.Calls {
		if d := it.Calls[n].Delegation; d != nil && d.Blocking {
			return &Frame{Parent: frame, Item: i, Nth: n, Caller: it.Agent, Agent: d.Agent}
		}
	}
	return frame
}

// copies are the items of a child and of everything below it, to look for
// twins: each vouches for one leaked item only.
type copies struct {
	places map[session.Digest][]Place
}

func copiesBelow(child *session.Session) *copies {
	c := &copies{places: map[session.Digest][]Place{}}
	c.add(child, map[*session.Session]bool{})
	return c
}

func (c *copies) add(s *session.Session, seen map[*session.Session]bool) {
	if s == nil || seen[s] {
		return
	}
	seen[s] = true
	for i := range s.Items {
		if m := s.Items[i].Meaning; m != 0 {
			c.places[m] = append(c.places[m], Place{s, i})
		}
	}
	for _, child := range s.Children {
		c.add(child, seen)
	}
}

func (c *copies) has(m session.Digest) bool { return len(c.places[m]) > 0 }

// take finds the first copy that no other leaked item has and takes it.
func (c *copies) take(m session.Digest) *Place {
	list := c.places[m]
	if len(list) == 0 {
		return nil
	}
	c.places[m] = list[1:]
	return &list[0]
}
