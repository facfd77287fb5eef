package replay

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// comparer holds two trees against each other.
type comparer struct {
	recorded *Trace  // of the recording, in which nothing leaked
	pairs    []*pair // by session of the recording, in its order
	of       map[*session.Session]*pair

	leaked    map[TreeItem]bool     // recorded items that stand in the session of a caller
	elsewhere map[TreeItem]TreeItem // lost recorded items by where they stand
}

func newComparer(recorded, stored *session.Tree, runtime *session.Runtime) *comparer {
	c := &comparer{
		of: map[*session.Session]*pair{}, leaked: map[TreeItem]bool{}, elsewhere: map[TreeItem]TreeItem{},
	}
	trace, windows := walkAll(recorded, witness{})
	link(recorded, trace, windows, nil)
	linkInOrder(recorded, trace)
	c.recorded = trace
	byID, complete := map[string]*session.Session{}, map[string]bool{}
	marks := false
	for _, s := range stored.Sessions {
		byID[s.ID] = s
		marks = marks || slices.ContainsFunc(s.Items, failed)
	}
	for _, s := range recorded.Sessions {
		for i := range s.Items {
			if s.Items[i].Kind == session.SubSession {
				complete[s.Items[i].Child] = true
			}
		}
	}
	for _, s := range recorded.Sessions {
		same := byID[s.ID]
		if same == nil && !complete[s.ID] {
			same = c.rebuilt(s, byID)
		}
		p := newPair(s, same, !complete[s.ID], runtime)
		p.marks, p.mended = marks, same != nil && same.ID != s.ID
		if same != nil {
			delete(byID, same.ID)
		}
		c.pairs = append(c.pairs, p)
		c.of[s] = p
	}
	return c
}

// failed reports whether an item is a result that is an error.
func failed(it session.Item) bool {
	return slices.ContainsFunc(it.Results, func(r session.Result) bool { return r.IsError })
}

// rebuilt is the stored session that a repair made of what had leaked of a recorded
// one, nil for none: behind the call that started it. The reference to it is known
// then.
func (c *comparer) rebuilt(s *session.Session, stored map[string]*session.Session) *session.Session {
	d := c.recorded.Callers[s]
	if d == nil || c.of[d.Session] == nil || c.of[d.Session].storedCall(d) == nil {
		return nil
	}
	p := c.of[d.Session]
	begin := p.match[d.Item] + 1
	for j := begin; j < p.closes(d, begin, nil); j++ {
		child := stored[p.rows[j].Child]
		if p.back[j] < 0 && !p.excused[j] && child != nil && rebuilt(child) && !differs(d, child) {
			p.excused[j] = true
			return child
		}
	}
	return nil
}

// linkInOrder links the children that link left because several calls fit: those
// of a caller stand in the recording in the order of its calls. Of one that never
// completed there is no other evidence, and an agent that failed is often asked
// again in the same words.
func linkInOrder(recorded *session.Tree, trace *Trace) {
	for _, rs := range trace.Sessions {
		calls := rs.Delegations
		for _, child := range recorded.Sessions {
			if child.Parent != rs.Session.ID || trace.Callers[child] != nil {
				continue
			}
			n := slices.IndexFunc(calls, func(d *Delegation) bool {
				return d.Child == nil && d.Call().Delegation.Blocking && !contradicts(d, child)
			})
			if n >= 0 {
				calls[n].Child, trace.Callers[child] = child, calls[n]
				calls = calls[n+1:]
			}
		}
	}
}

// explain finds partners for what neither stands at its place nor leaked: first
// the same at another place, then something else at the same place.
func (p *pair) explain() {
	anywhere := func(said) bool { return false }
	for _, i := range p.claim(said.same, anywhere) {
		p.moved[i] = true
	}
	p.claim(of(isReply, said.ids), isTurn)
	p.claim(said.ids, isAny)
	p.claim(said.voices, isAny)
	p.extent()
}

// foreign reports whether no event of the recording explains a stored item that
// stands among those of the run. What a repair wrote is known.
func (p *pair) foreign(j int) bool {
	return p.free(j) && p.among[j] && !p.rows[j].Flags.Has(session.Synthetic)
}

// compared counts the stored items among those of the recorded runs, and what
// leaked behind them.
func (c *comparer) compared() int {
	n := 0
	for _, p := range c.pairs {
		for j := range p.rows {
			if p.among[j] || p.back[j] >= 0 || p.leaks[j] != nil {
				n++
			}
		}
	}
	return n
}

// findElsewhere looks for lost items in sessions that are not their own.
func (c *comparer) findElsewhere() {
	for _, p := range c.pairs {
		for j := range p.rows {
			if l := p.leaks[j]; l != nil {
				c.leaked[l.of.TreeItem] = true
			}
		}
	}
	foreign := map[session.Digest][]TreeItem{}
	for _, p := range c.pairs {
		for j := range p.rows {
			if p.foreign(j) {
				foreign[p.rows[j].key] = append(foreign[p.rows[j].key], TreeItem{p.stored, j})
			}
		}
	}
	for _, p := range c.pairs {
		for i := range p.events {
			key := p.events[i].key
			if p.lost(i) && !c.leaked[TreeItem{p.recorded, i}] && len(foreign[key]) > 0 {
				c.elsewhere[TreeItem{p.recorded, i}] = foreign[key][0]
				foreign[key] = foreign[key][1:]
			}
		}
	}
}

// lost reports whether the session lacks a recorded item that was there to store.
// What a repair could not move into a session that it made never was.
func (p *pair) lost(i int) bool {
	return p.match[i] < 0 && p.events[i].key != 0 && !p.events[i].unsaid() && !p.mended
}
