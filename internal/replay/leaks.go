package replay

import (
	"slices"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/session"
)

// attributeLeaks gives every leaked item of a window its delegation, its frame and
// its twin.
func attributeLeaks(trace *Trace, rs *Session, w *window) {
	if len(w.leaked) == 0 {
		return
	}
	a := &attribution{trace: trace, rs: rs, w: w}
	for _, d := range w.calls {
		a.copies = append(a.copies, copiesBelow(d.Child))
		a.frames = append(a.frames, newFrames(trace, d))
	}
	for _, i := range w.leaked {
		a.placeLeaked(i)
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
	copies []copies
	frames []*frames
}

// placeLeaked finds out where the leaked item at index i belongs.
func (a *attribution) placeLeaked(i int) {
	it := &a.rs.Session.Items[i]
	n := a.callOf(it, i)
	leaked := Leaked{Item: i, Twin: a.copies[n].takeCopy(it)}
	leaked.Frame = a.frames[n].enterItem(it, leaked.Twin)
	a.frames[n].openInnerFrame(it, &leaked)
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
		l.Undecidable = l.Twin == nil && it.Agent() == d.Caller() && !answersOther(it, makers)
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
	return it.Role == session.Tool && !slices.ContainsFunc(it.Results, func(r session.Result) bool { return undecidable[r.CallID] })
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
		if next < 0 || endsBefore(d, calls[next]) {
			next = n
		}
	}
	if next < 0 { // the window outlived its calls: cannot be, but never fail
		return len(calls) - 1
	}
	if calls[next].Child == nil || a.copies[next].has(it) || a.frames[next].hasAsked(it.Agent()) {
		return next
	}
	for _, n := range open {
		if a.copies[n].has(it) {
			return n
		}
	}
	return next
}

// endsBefore orders open calls by the place of their results; calls without one
// come last, in the order of the batch.
func endsBefore(a, b *Delegation) bool {
	if a.Result < 0 || b.Result < 0 {
		return a.Result >= 0 && b.Result < 0
	}
	return a.Result < b.Result
}

// heard is a recorded item that a child produced.
type heard struct {
	TreeItem
	content content
	route   *route
}

// route is how a recorded session was reached from that of a caller.
type route struct {
	call  *Delegation // the recorded call that started it
	outer *route      // nil for a call of the caller itself
}

// leak is the recorded item that a leaked one is.
type leak struct {
	of   *heard
	call *Delegation // the call of the session that holds it
}

// findLeaks explains stored items of a session by what the children of its calls
// produced while these were open. Runtimes that leak run the calls of a batch
// one after another, so a child comes first in its own stretch.
func (c *comparer) findLeaks(p *pair) {
	intervals := c.callIntervals(p)
	used := map[TreeItem]bool{}
	explain := func(j int, h *heard, v *interval) {
		p.leaks[j], used[h.TreeItem] = &leak{h, v.call}, true
	}
	for n := range intervals {
		v := &intervals[n]
		left, rows := v.listUnused(used), p.listUnexplained(v.own, v.end)
		for i, at := range alignContents(contentsOf(left), pickRows(p.rows, rows), p.standsForChild) {
			if at >= 0 {
				explain(rows[at], left[i], v)
			}
		}
	}
	for n := range intervals { // children that ran at the same time
		v := &intervals[n]
		rows := p.listUnexplained(v.begin, v.end)
		if len(rows) == 0 {
			continue
		}
		left := map[session.Digest][]*heard{}
		for _, h := range v.listUnused(used) {
			left[h.content.key] = append(left[h.content.key], h)
		}
		for _, j := range rows {
			if list := left[p.rows[j].key]; len(list) > 0 {
				explain(j, list[0], v)
				left[p.rows[j].key] = list[1:]
			}
		}
	}
}

// listUnused lists what no stored item of the caller's session is yet.
func (v *interval) listUnused(used map[TreeItem]bool) []*heard {
	var list []*heard
	for i := range v.below {
		if !used[v.below[i].TreeItem] {
			list = append(list, &v.below[i])
		}
	}
	return list
}

func contentsOf(list []*heard) []content {
	return lists.MapEach(list, func(h *heard) content { return h.content })
}

// listUnexplained lists the stored items of an interval that have no partner and that
// a child can have said.
func (p *pair) listUnexplained(begin, end int) []int {
	var list []int
	for j := begin; j < end; j++ {
		if p.back[j] < 0 && p.leaks[j] == nil && canLeak(p.rows[j].Item) && !p.rows[j].Flags.Has(session.Synthetic) {
			list = append(list, j)
		}
	}
	return list
}

// canLeak reports whether the stream has the item as an event of a child: a task
// that a child gets is on no stream, and its sub-sessions are in its record.
func canLeak(it *session.Item) bool {
	return it.Kind == session.Summary || it.Kind == session.Message && (it.Role == session.Assistant || it.IsAnswer())
}

// standsForChild reports whether a stored item can be what a child said. A result
// under another name can be the caller's own, which it then says in full.
func (p *pair) standsForChild(stored, recorded content) bool {
	stands := standsFor(stored, recorded)
	if !stands || stored.Agent() == recorded.Agent() {
		return stands
	}
	if recorded.answer {
		return false
	}
	for i, own := range p.events {
		if p.match[i] < 0 && own.key == stored.key {
			return false
		}
	}
	return true
}

func pickRows(rows []content, list []int) []content {
	return lists.MapEach(list, func(j int) content { return rows[j] })
}

// heardBelow lists what the child of a recorded call and those below it said, in the
// order in which it was said when one call runs after another.
func (c *comparer) heardBelow(call *Delegation) []heard {
	var list []heard
	seen := map[*session.Session]bool{}
	var add func(*route)
	add = func(r *route) {
		s := r.call.Child
		if seen[s] {
			return
		}
		seen[s] = true
		children := map[int][]*route{} // by the item before which they ended
		answers := map[int]bool{}      // results of children that spoke last
		for _, d := range c.recorded.sessionReplay(s).Delegations {
			if d.Child != nil {
				children[endIndex(d)] = append(children[endIndex(d)], &route{d, r})
				answers[d.Result] = LastAnswer(d.Child) >= 0
			}
		}
		for i := range len(s.Items) + 1 {
			for _, child := range children[i] {
				add(child)
			}
			if i < len(s.Items) && canLeak(&s.Items[i]) {
				it := c.of[s].events[i]
				it.answer = answers[i]
				list = append(list, heard{TreeItem{s, i}, it, r})
			}
		}
	}
	add(&route{call, nil})
	return list
}

// endIndex is the index of the item before which a recorded child was over.
func endIndex(d *Delegation) int {
	switch {
	case d.Reference >= 0:
		return d.Reference
	case d.Result >= 0:
		return d.Result
	}
	return d.End
}

// copies are the items of a child and of everything below it, to look for
// twins: each vouches for one leaked item only.
type copies map[session.Digest][]TreeItem

func copiesBelow(child *session.Session) copies {
	c := copies{}
	c.addSession(child, map[*session.Session]bool{})
	return c
}

func (c copies) addSession(s *session.Session, seen map[*session.Session]bool) {
	if s == nil || seen[s] {
		return
	}
	seen[s] = true
	for i := range s.Items {
		if m := s.Items[i].Meaning; m != 0 {
			c[m] = append(c[m], TreeItem{s, i})
		}
	}
	for _, child := range s.Children {
		c.addSession(child, seen)
	}
}

// has reports whether a copy of the item is left that its time does not rule out.
func (c copies) has(it *session.Item) bool { return c.findCopy(it) >= 0 }

// takeCopy takes the copy of the item that has its time, else the first one whose
// time is not known. An agent may say the same thing several times, and not
// every time need be stored.
func (c copies) takeCopy(it *session.Item) *TreeItem {
	if n := c.findCopy(it); n >= 0 {
		return c.removeCopy(it.Meaning, n)
	}
	return nil
}

func (c copies) findCopy(it *session.Item) int {
	list := c[it.Meaning]
	if n := slices.IndexFunc(list, func(p TreeItem) bool { return p.item().Time.Equal(it.Time) }); n >= 0 {
		return n
	}
	return slices.IndexFunc(list, func(p TreeItem) bool { return it.Time.IsZero() || p.item().Time.IsZero() })
}

func (c copies) removeCopy(m session.Digest, n int) *TreeItem {
	taken := c[m][n]
	c[m] = slices.Delete(c[m], n, n+1)
	return &taken
}

// takeLeftOver gives the leaked items without a twin the copies of another time
// that none has taken: a store may date the two copies differently.
func (c copies) takeLeftOver(d *Delegation) {
	for n := range d.Leaked {
		l := &d.Leaked[n]
		if m := d.Session.Items[l.Item].Meaning; l.Twin == nil && len(c[m]) > 0 {
			l.Twin = c.removeCopy(m, 0)
		}
	}
}

func (p TreeItem) item() *session.Item { return &p.Session.Items[p.Item] }
