package replay

import "github.com/sessctl/sessctl/internal/session"

// Stored replays the stored items of every session of a tree.
func Stored(tree *session.Tree) *Trace {
	trace := &Trace{Callers: map[*session.Session]*Delegation{}}
	var windows [][]*window
	for _, s := range tree.Sessions {
		rs, ws := walk(s)
		trace.Sessions = append(trace.Sessions, rs)
		windows = append(windows, ws)
	}
	link(tree, trace, windows)
	for i, rs := range trace.Sessions {
		for _, w := range windows[i] {
			attribute(rs, w)
		}
	}
	return trace
}

// window is the time in which an own item's delegations block its agent: from
// the item to the last of their results, to a user item that is not implicit,
// or to the end of the session.
type window struct {
	opener int
	calls  []*Delegation // the blocking ones of the opener
	leaked []int         // items inside that the session's agent cannot have produced
	end    int           // index behind the last item
	made   map[string]int
}

// walk finds the windows of one session and gives every item its step; which
// child is meant and where a leaked item belongs is decided later.
func walk(s *session.Session) (*Session, []*window) {
	rs := &Session{Session: s, Steps: make([]Step, len(s.Items))}
	var windows []*window
	var open *window
	shut := func(end int) {
		if open == nil {
			return
		}
		open.end = end
		for _, d := range open.calls {
			d.End = end
		}
		open = nil
	}
	for i := range s.Items {
		it := &s.Items[i]
		switch {
		case it.Kind == session.SubSession:
			rs.Steps[i].Reason = OwnRecord
		case it.Kind != session.Message:
		case it.Role == session.User && !it.Flags.Has(session.Implicit):
			shut(i)
		case it.Role == session.Assistant && open != nil:
			open.leak(rs, i, BehindCall)
		case it.Role == session.Assistant:
			if own := delegations(s, i); len(own) > 0 {
				rs.Delegations = append(rs.Delegations, own...)
				if w := openWindow(i, own); w != nil {
					windows, open = append(windows, w), w
				}
			}
		case it.Role == session.Tool && open != nil:
			if open.fromLeaked(s, i) {
				open.leak(rs, i, ResultOfLeaked)
				break
			}
			rs.Steps[i].Reason = OwnResult
			if open.answer(it, i) {
				shut(i + 1)
			}
		}
	}
	shut(len(s.Items))
	return rs, windows
}

// delegations lists the delegation calls of the item at index i.
func delegations(s *session.Session, i int) []*Delegation {
	var list []*Delegation
	for n := range s.Items[i].Calls {
		if s.Items[i].Calls[n].Delegation != nil {
			list = append(list, &Delegation{Session: s, Item: i, Nth: n, Result: -1, Reference: -1, End: len(s.Items)})
		}
	}
	return list
}

// openWindow opens a window for the blocking ones of an item's delegations, nil
// when none blocks.
func openWindow(opener int, list []*Delegation) *window {
	w := &window{opener: opener}
	for _, d := range list {
		if d.Call().Delegation.Blocking {
			w.calls = append(w.calls, d)
		}
	}
	if len(w.calls) == 0 {
		return nil
	}
	return w
}

// leak records an item of the window as a child's.
func (w *window) leak(rs *Session, i int, why Reason) {
	rs.Steps[i] = Step{Depth: 1, Action: Skip, Reason: why}
	w.leaked = append(w.leaked, i)
	for _, c := range rs.Session.Items[i].Calls {
		if w.made == nil {
			w.made = map[string]int{}
		}
		w.made[c.ID]++
	}
}

// fromLeaked reports whether the tool item at index i answers a call that a
// leaked item made. An id may be both the opener's and the child's (providers
// repeat ids): the last result of that id is then the opener's.
func (w *window) fromLeaked(s *session.Session, i int) bool {
	results := s.Items[i].Results
	if len(results) == 0 {
		return false
	}
	id := results[0].CallID
	if w.made[id] == 0 {
		return false
	}
	if !hasCall(&s.Items[w.opener], id) {
		return true
	}
	for j := i + 1; j < len(s.Items); j++ {
		next := &s.Items[j]
		if next.Role == session.User && !next.Flags.Has(session.Implicit) {
			break
		}
		if hasResult(next, id) {
			w.made[id]--
			return true
		}
	}
	return false
}

// answer notes the results of an own tool item and reports whether the last
// open call of the window got its result.
func (w *window) answer(it *session.Item, i int) bool {
	open := 0
	for _, d := range w.calls {
		if d.Result < 0 && hasResult(it, d.Call().ID) && !claimedBefore(w.calls, d, i) {
			d.Result = i
		}
		if d.Result < 0 {
			open++
		}
	}
	return open == 0
}

// claimedBefore reports whether the item at index i already answers another
// delegation with the same id: each result answers one call.
func claimedBefore(calls []*Delegation, d *Delegation, i int) bool {
	for _, other := range calls {
		if other == d {
			return false
		}
		if other.Result == i && other.Call().ID == d.Call().ID {
			return true
		}
	}
	return false
}

func hasCall(it *session.Item, id string) bool {
	for i := range it.Calls {
		if it.Calls[i].ID == id {
			return true
		}
	}
	return false
}

func hasResult(it *session.Item, id string) bool {
	for i := range it.Results {
		if it.Results[i].CallID == id {
			return true
		}
	}
	return false
}
