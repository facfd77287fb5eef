package kagent

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// relate sets what the items of a session tell of each other, anew where it was set
// before. What another session shares with this one is left as it is there.
func (r *reader) relate(s *session.Session) {
	r.wait(s)
	r.documents.Relate(s)
	approvals := map[string]session.Question{}
	for i := range s.Items {
		it := &s.Items[i]
		n := r.notes.of(it)
		for id, q := range n.asks {
			approvals[id] = q
		}
		for nth := range it.Results {
			if n.waits(it.Results[nth].CallID) { // ADK alone does not know what that answer means
				setPending(it, nth)
			}
		}
	}
	own := -1 // the item whose calls no other session has
	for _, d := range delegations(s) {
		settled, differs := r.settled(s, d, approvals)
		if !differs {
			continue
		}
		it := &s.Items[d.item]
		if own != d.item { // the calls of an item come one behind the other
			it.Calls, own = slices.Clone(it.Calls), d.item
		}
		it.Calls[d.nth].Delegation = settled
	}
	r.retell(s)
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
			d := &delegated{item: i, nth: nth}
			list, open[it.Calls[nth].ID] = append(list, d), d
		}
		for nth := range it.Results {
			if d := open[it.Results[nth].CallID]; d != nil && it.Results[nth].Child != "" {
				d.child = it.Results[nth].Child
			}
		}
	}
	return list
}

// settled says of a call which session it started, and that it is no delegation where
// nothing speaks for one; and whether that is something else than what is known.
func (r *reader) settled(s *session.Session, d *delegated, approvals map[string]session.Question) (_ *session.Delegation, differs bool) {
	c := &s.Items[d.item].Calls[d.nth]
	var want session.Delegation
	switch {
	case c.Delegation != nil:
		if want = *c.Delegation; want.Child != "" && !want.Likely && d.child == "" { // the result that said so is gone
			stamped := r.stamps[stamp{r.stored(s), c.ID}]
			want.Child, want.Likely = r.named(s.User, stamped), stamped != ""
		}
	case d.child != "":
		want = session.Delegation{Agent: c.Name, Blocking: true, Apart: true}
	default:
		return nil, false
	}
	if a, ok := approvals[c.ID]; ok {
		want.Child, want.Run, want.Likely = r.named(s.User, a.Child), a.Run, true
	}
	if d.child != "" {
		want.Child, want.Likely = d.child, false
	}
	if want.Child == "" && !r.isDelegation(c.Name) {
		return nil, c.Delegation != nil
	}
	differs = c.Delegation == nil || c.Delegation.Child != want.Child || c.Delegation.Run != want.Run || c.Delegation.Likely != want.Likely
	return &want, differs
}
