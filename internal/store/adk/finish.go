package adk

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// finish sets what only all items together can tell.
func (n *notes) finish(s *session.Session) {
	n.rewind(s)
	n.compact(s)
	supersede(s)
	n.tellDialects(s)
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
func supersede(s *session.Session) {
	type waiting struct{ item, nth int } // of the last result, item -1 without one
	calls := map[string]waiting{}
	for i := range s.Items {
		it := &s.Items[i]
		if !it.OnWire() {
			continue
		}
		for n := range it.Results {
			last, ok := calls[it.Results[n].CallID]
			if !ok {
				continue
			}
			if last.item >= 0 {
				s.Items[last.item].Results[last.nth].Pending = true
			}
			calls[it.Results[n].CallID] = waiting{i, n}
		}
		for n := range it.Calls {
			delete(calls, it.Calls[n].ID) // used again
			if it.Calls[n].Waits {
				calls[it.Calls[n].ID] = waiting{item: -1}
			}
		}
	}
}
