package replay

import "github.com/sessctl/sessctl/internal/session"

// attribute gives every leaked item of a window its delegation, its frame and
// its twin.
func attribute(trace *Trace, rs *Session, w *window) {
	if len(w.leaked) == 0 {
		return
	}
	a := &attribution{trace: trace, rs: rs, w: w}
	for _, d := range w.calls {
		a.copies = append(a.copies, copiesBelow(d.Child))
		a.frames = append(a.frames, newFrames(trace, d))
	}
	for _, i := range w.leaked {
		a.place(i)
	}
	for n, d := range w.calls {
		a.copies[n].takeLeftOver(d)
		markUndecidable(d)
	}
}

// attribution is the state between two leaked items of a window; the lists are
// parallel to its calls.
type attribution struct {
	trace  *Trace
	rs     *Session
	w      *window
	copies []*copies
	frames []*frames
}

// place finds out where the leaked item at index i belongs.
func (a *attribution) place(i int) {
	it := &a.rs.Session.Items[i]
	n := a.callOf(it, i)
	leaked := Leaked{Item: i, Twin: a.copies[n].take(it)}
	leaked.Frame = a.frames[n].enter(it, leaked.Twin)
	a.frames[n].open(it, &leaked)
	d := a.w.calls[n]
	d.Leaked = append(d.Leaked, leaked)
	a.rs.Steps[i].Frame, a.rs.Steps[i].Depth = leaked.Frame, leaked.Frame.Depth()
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
// its child holds the copy, the next call's child exists without one, and neither
// the next call nor one below it asked the item's agent.
func (a *attribution) callOf(it *session.Item, i int) int {
	calls, next := a.w.calls, -1
	var open []int
	for n, d := range calls {
		if d.Result >= 0 && d.Result < i {
			continue
		}
		open = append(open, n)
		if next < 0 || before(d, calls[next]) {
			next = n
		}
	}
	if next < 0 { // the window outlived its calls: cannot be, but never fail
		return len(calls) - 1
	}
	if calls[next].Child == nil || a.copies[next].has(it) || a.frames[next].names(it.Agent) {
		return next
	}
	for _, n := range open {
		if a.copies[n].has(it) {
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
