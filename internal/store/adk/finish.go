package adk

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// finish sets what only all items together can tell.
func (n *notes) finish(s *session.Session) {
	n.relate(s)
	n.tellDialects(s)
}

// relate sets what items tell of each other, anew where it was set before.
func (n *notes) relate(s *session.Session) {
	for i := range s.Items {
		it := &s.Items[i]
		it.Flags &^= session.Rewound | session.Compacted
		if it.Kind == session.Other && n.of(it).summary != nil {
			it.Kind = session.Summary // it was annulled
		}
		if it.Kind == session.Summary {
			it.KeptFrom = 0
		}
	}
	n.rewind(s)
	n.compact(s)
	if n.follows {
		follow(s)
	}
	n.supersede(s)
	n.ask(s)
}

// follow marks results as their calls are marked that are sent to no model.
func follow(s *session.Session) {
	const unsent = session.Compacted | session.Unshown
	calls := map[string]session.Flags{}
	for i := range s.Items {
		it := &s.Items[i]
		for n := range it.Calls {
			calls[it.Calls[n].ID] = it.Flags & unsent
		}
		if len(it.Results) == 0 || it.Flags&unsent != 0 {
			continue
		}
		all := unsent
		for n := range it.Results {
			all &= calls[it.Results[n].CallID]
		}
		it.Flags |= all
	}
}

// rewind marks what was annulled: everything from the first event of an invocation
// up to the event that says so, itself included. A rewind that a later one annulled
// annuls nothing; one to an invocation that is not there, only itself.
func (n *notes) rewind(s *session.Session) {
	for i := len(s.Items) - 1; i >= 0; i-- {
		to := n.of(&s.Items[i]).rewind
		if to == "" {
			continue
		}
		first := slices.IndexFunc(s.Items[:i], func(it session.Item) bool { return it.Invocation == to })
		if first < 0 {
			first = i
		}
		for k := first; k <= i; k++ {
			s.Items[k].Flags |= session.Rewound
			if s.Items[k].Kind == session.Summary {
				s.Items[k].Kind = session.Other // it stands for nothing any more
			}
		}
		i = first
	}
}

// supersede says which results of a long-running call stand for a later one: the
// last one counts (3.5). The only one is an answer, whatever it says: that a tool's
// own words mean that more will come, a reader cannot know, and a call that still
// waits for it is answered for every provider.
func (n *notes) supersede(s *session.Session) {
	type waiting struct{ item, nth int } // of the last result, item -1 without one
	calls := map[string]waiting{}
	for i := range s.Items {
		it := &s.Items[i]
		if !it.OnWire() {
			continue
		}
		asks := n.of(it).asks
		for nth := range it.Results {
			last, ok := calls[it.Results[nth].CallID]
			if !asks {
				setPending(it, nth, false)
			}
			if !ok {
				continue
			}
			if last.item >= 0 {
				setPending(&s.Items[last.item], last.nth, true)
			}
			calls[it.Results[nth].CallID] = waiting{i, nth}
		}
		for nth := range it.Calls {
			delete(calls, it.Calls[nth].ID) // used again
			if it.Calls[nth].Waits {
				calls[it.Calls[nth].ID] = waiting{item: -1}
			}
		}
	}
}

// setPending leaves the results of an item that another session shares.
func setPending(it *session.Item, nth int, pending bool) {
	if it.Results[nth].Pending != pending {
		it.Results = slices.Clone(it.Results)
		it.Results[nth].Pending = pending
	}
}
