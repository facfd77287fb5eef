package kagent

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// relate sets what the items of a session tell of each other, anew where it was set
// before. What another session shares with this one is left as it is there.
func (r *reader) relate(s *session.Session) {
	r.documents.Relate(s)
	approvals := map[string]asks{}
	for i := range s.Items {
		it := &s.Items[i]
		n := r.notes.of(it)
		for id, a := range n.asks {
			approvals[id] = a
		}
		for nth := range it.Results {
			if n.waits(it.Results[nth].CallID) { // ADK alone does not know what that answer means
				setPending(it, nth)
			}
		}
	}
	for _, d := range delegations(s) {
		r.settle(s, d, approvals)
	}
}

// setPending leaves the results of an item that another session shares.
func setPending(it *session.Item, nth int) {
	if !it.Results[nth].Pending {
		it.Results = slices.Clone(it.Results)
		it.Results[nth].Pending = true
	}
}

// delegated is a call with what came back for it.
type delegated struct {
	item, nth int
	result    int    // index of the item with its last result, -1 without one
	child     string // that a result names
}

// delegations are all calls of a session with their results. Of several calls with one
// id a result is that of the last one before it.
func delegations(s *session.Session) []*delegated {
	var list []*delegated
	open := map[string]*delegated{}
	for i := range s.Items {
		it := &s.Items[i]
		for nth := range it.Calls {
			d := &delegated{item: i, nth: nth, result: -1}
			list, open[it.Calls[nth].ID] = append(list, d), d
		}
		for nth := range it.Results {
			if d := open[it.Results[nth].CallID]; d != nil {
				d.result = i
				if child := it.Results[nth].Child; child != "" {
					d.child = child
				}
			}
		}
	}
	return list
}

// settle says of a call which session it started, and that it is no delegation where
// nothing speaks for one.
func (r *reader) settle(s *session.Session, d *delegated, approvals map[string]asks) {
	c := &s.Items[d.item].Calls[d.nth]
	var want session.Delegation
	switch {
	case c.Delegation != nil:
		want = *c.Delegation
	case d.child != "":
		want = session.Delegation{Agent: c.Name}
	default:
		return
	}
	if a, ok := approvals[c.ID]; ok {
		want.Child, want.Run, want.Likely = r.named(s.User, a.child), a.run, true
	}
	if d.child != "" {
		want.Child, want.Likely = d.child, false
	}
	want.Blocking = !interleaved(s, d)
	it := &s.Items[d.item]
	switch {
	case want.Child == "" && !r.isDelegation(c.Name):
		it.Calls = slices.Clone(it.Calls)
		it.Calls[d.nth].Delegation = nil
	case c.Delegation == nil || c.Delegation.Child != want.Child || c.Delegation.Run != want.Run ||
		c.Delegation.Likely != want.Likely || c.Delegation.Blocking != want.Blocking:
		it.Calls = slices.Clone(it.Calls)
		it.Calls[d.nth].Delegation = &want
	}
}

// interleaved reports whether another run of the session's agent speaks while the call
// waits, as runs that share a session do (D4): then the caller's silence says nothing.
func interleaved(s *session.Session, d *delegated) bool {
	caller, end := s.Items[d.item].Invocation, d.result
	if end < 0 {
		end = len(s.Items)
	}
	for i := d.item + 1; i < end; i++ {
		it := &s.Items[i]
		switch {
		case !it.OnWire() || it.Invocation == caller:
		case it.Role != session.User:
			return true
		case d.result < 0: // the next request: nobody waits any more
			return false
		}
	}
	return false
}
