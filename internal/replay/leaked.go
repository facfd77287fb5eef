package replay

import "github.com/sessctl/sessctl/internal/session"

// heard is a recorded item that a child produced.
type heard struct {
	TreeItem
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

// findLeaks explains stored items of a session by what the children of its calls
// produced while these were open. Runtimes that leak run the calls of a batch
// one after another, so a child comes first in its own stretch.
func (c *comparer) findLeaks(p *pair) {
	intervals := c.intervals(p)
	used := map[TreeItem]bool{}
	explain := func(j int, h *heard, v *interval) {
		p.leaks[j], used[h.TreeItem] = &leak{h, v.call}, true
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
func (v *interval) left(used map[TreeItem]bool) []*heard {
	var list []*heard
	for i := range v.below {
		if !used[v.below[i].TreeItem] {
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

// unexplained lists the stored items of an interval that have no partner and that
// a child can have said.
func (p *pair) unexplained(begin, end int) []int {
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
	return it.Kind == session.Summary || it.Kind == session.Message && (it.Role == session.Assistant || it.Answers())
}

// standsForChild reports whether a stored item can be what a child said. A result
// under another name can be the caller's own, which it then says in full.
func (p *pair) standsForChild(stored, recorded said) bool {
	stands := standsFor(stored, recorded)
	if !stands || stored.Agent == recorded.Agent {
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
		answers := map[int]bool{}      // results of children that spoke last
		for _, d := range c.recorded.session(s).Delegations {
			if d.Child != nil {
				children[ended(d)] = append(children[ended(d)], &route{d, r})
				answers[d.Result] = LastAnswer(d.Child) >= 0
			}
		}
		for i := range len(s.Items) + 1 {
			for _, child := range children[i] {
				add(child)
			}
			if i < len(s.Items) && canLeak(&s.Items[i]) {
				said := c.of[s].events[i]
				said.answer = answers[i]
				list = append(list, heard{TreeItem{s, i}, said, r})
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
