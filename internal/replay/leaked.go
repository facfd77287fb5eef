package replay

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// heard is a recorded item that a child produced.
type heard struct {
	Place
	said  said
	route *route
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

// interval is the time in which a delegation was open, as a part of the stored
// items of its caller.
type interval struct {
	call  *Delegation // the recorded one
	below []heard     // what its child and those below it said
	own   int         // index of the item behind the latest result before its own, or behind the call
	begin int         // index of the item behind the call
	end   int         // index of the result, or behind the last item
}

// findLeaks explains stored items of a session by what the children of its calls
// produced while these were open. Runtimes that leak run the calls of a batch
// one after another, so a child comes first in its own stretch.
func (c *comparer) findLeaks(p *pair) {
	intervals := c.intervals(p)
	used := map[Place]bool{}
	explain := func(j int, h *heard, v *interval) {
		p.leaks[j], used[h.Place] = &leak{h, v.call}, true
	}
	for n := range intervals {
		v := &intervals[n]
		left, rows := v.left(used), p.unexplained(v.own, v.end)
		for i, at := range align(saidOf(left), pick(p.rows, rows), p.standsForChild) {
			if at >= 0 {
				explain(rows[at], left[i], v)
			}
		}
	}
	for n := range intervals { // children that ran at the same time
		v := &intervals[n]
		rows := p.unexplained(v.begin, v.end)
		if len(rows) == 0 {
			continue
		}
		left := map[session.Digest][]*heard{}
		for _, h := range v.left(used) {
			left[h.said.key] = append(left[h.said.key], h)
		}
		for _, j := range rows {
			if list := left[p.rows[j].key]; len(list) > 0 {
				explain(j, list[0], v)
				left[p.rows[j].key] = list[1:]
			}
		}
	}
}

// left lists what no stored item of the caller's session is yet.
func (v *interval) left(used map[Place]bool) []*heard {
	var list []*heard
	for i := range v.below {
		if !used[v.below[i].Place] {
			list = append(list, &v.below[i])
		}
	}
	return list
}

func saidOf(list []*heard) []said {
	items := make([]said, len(list))
	for i, h := range list {
		items[i] = h.said
	}
	return items
}

// intervals are the times of the session's calls whose children are recorded, in
// the order of their ends.
func (c *comparer) intervals(p *pair) []interval {
	var list []interval
	for _, d := range c.recorded.session(p.recorded).Delegations {
		if d.Child == nil || p.storedCall(d) == nil {
			continue
		}
		begin := p.match[d.Item] + 1
		list = append(list, interval{d, c.below(d), begin, begin, p.closes(d)})
	}
	slices.SortStableFunc(list, func(a, b interval) int { return a.end - b.end })
	for n := range list {
		v := &list[n]
		for _, other := range c.recorded.session(p.recorded).Delegations {
			if other.Item != v.call.Item || other.Result < 0 {
				continue
			}
			if at := p.match[other.Result]; at < v.end {
				v.own = max(v.own, at+1)
			}
		}
	}
	return list
}

// storedCall is the stored form of a recorded delegation call, nil when it is
// lost or delegates nothing.
func (p *pair) storedCall(d *Delegation) *session.Call {
	j := p.match[d.Item]
	if j < 0 || d.Nth >= len(p.rows[j].Calls) {
		return nil
	}
	call := &p.rows[j].Calls[d.Nth]
	if call.ID != d.Call().ID || call.Delegation == nil {
		return nil
	}
	return call
}

// closes is the index of the stored item that ends a recorded delegation: its
// result, or where that is missing the caller's next turn or the user's, or
// behind the last item.
func (p *pair) closes(d *Delegation) int {
	begin := p.match[d.Item] + 1
	if d.Result >= 0 && p.match[d.Result] >= begin {
		return p.match[d.Result]
	}
	for j := begin; j < len(p.rows); j++ {
		if i := p.back[j]; i > d.Item && !isReply(p.events[i]) || i < 0 && isPrompt(p.rows[j]) {
			return j
		}
	}
	return len(p.rows)
}

// unexplained lists the stored items of an interval that have no partner and that
// a child can have said.
func (p *pair) unexplained(begin, end int) []int {
	var list []int
	for j := begin; j < end; j++ {
		if p.back[j] < 0 && p.leaks[j] == nil && canLeak(p.rows[j].Item) {
			list = append(list, j)
		}
	}
	return list
}

// canLeak reports whether the stream has the item as an event of a child: a task
// that a child gets is on no stream, and its sub-sessions are in its record.
func canLeak(it *session.Item) bool {
	return it.Kind == session.Summary || it.Kind == session.Message && (it.Role == session.Assistant || it.Answers())
}

// standsForChild reports whether a stored item can be what a child said. A result
// under another name can be the caller's own, which it then says in full.
func (p *pair) standsForChild(stored, recorded *session.Item) bool {
	stands := standsFor(stored, recorded)
	if !stands || stored.Agent == recorded.Agent {
		return stands
	}
	key := keyOf(stored)
	for i, own := range p.events {
		if p.match[i] < 0 && own.key == key {
			return false
		}
	}
	return true
}

func pick(rows []said, list []int) []said {
	picked := make([]said, len(list))
	for n, j := range list {
		picked[n] = rows[j]
	}
	return picked
}

// below lists what the child of a recorded call and those below it said, in the
// order in which it was said when one call runs after another.
func (c *comparer) below(call *Delegation) []heard {
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
		for _, d := range c.recorded.session(s).Delegations {
			if d.Child != nil {
				children[ended(d)] = append(children[ended(d)], &route{d, r})
			}
		}
		for i := range len(s.Items) + 1 {
			for _, child := range children[i] {
				add(child)
			}
			if i < len(s.Items) && canLeak(&s.Items[i]) {
				list = append(list, heard{Place{s, i}, c.of[s].events[i], r})
			}
		}
	}
	add(&route{call, nil})
	return list
}

// ended is the index of the item before which a recorded child was over.
func ended(d *Delegation) int {
	switch {
	case d.Reference >= 0:
		return d.Reference
	case d.Result >= 0:
		return d.Result
	}
	return d.End
}
