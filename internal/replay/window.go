package replay

import "github.com/sessctl/sessctl/internal/session"

// window is the time in which an own item's delegations block its agent: from
// the item to the last of their results, to a user item that is not implicit,
// to the agent's next answer once all its children are complete, or to the end of
// the session.
type window struct {
	opener int
	calls  []*Delegation // the blocking ones of the opener
	leaked []int         // items inside that the session's agent cannot have produced
	end    int           // index behind the last item

	complete int // sub-session items since the last own result: a child gets one when it ends

	asked map[string]int // the opener's calls without a result so far, by id
	made  map[string]int // calls that leaked items made, by id
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
	w.asked, w.made = map[string]int{}, map[string]int{}
	for _, c := range w.calls[0].Session.Items[opener].Calls {
		w.asked[c.ID]++
	}
	return w
}

// leak records an item of the window as a child's.
func (w *window) leak(rs *Session, i int, why Reason) {
	rs.Steps[i] = Step{Depth: 1, Action: Skip, Reason: why}
	w.leaked = append(w.leaked, i)
	for _, c := range rs.Session.Items[i].Calls {
		w.made[c.ID]++
	}
}

// fromLeaked reports whether the tool item at index i answers nothing but calls
// of children, and notes which calls it answers.
func (w *window) fromLeaked(rs *Session, i int) bool {
	results := rs.Session.Items[i].Results
	leaked := len(results) > 0
	for n := range results {
		leaked = leaked && w.answersChild(rs, i, results[n].CallID)
	}
	for n := range results {
		switch id := results[n].CallID; {
		case !leaked:
			w.asked[id]--
		case w.asked[id] > 0:
			w.made[id]--
		}
	}
	return leaked
}

// answersChild reports whether the result of the call id in the item at index i
// is a child's: a leaked item made the call, or nobody in this session did and
// the result carries another agent's name (the call's own item did not leak).
// An id may be both the opener's and the child's, because providers repeat ids:
// the last result of that id is then the opener's.
func (w *window) answersChild(rs *Session, i int, id string) bool {
	it, opener := &rs.Session.Items[i], &rs.Session.Items[w.opener]
	foreign := it.Agent != "" && it.Agent != opener.Agent
	switch {
	case w.asked[id] <= 0 && w.made[id] > 0:
		return true
	case w.asked[id] <= 0:
		return foreign && !awaited(rs, i, id)
	case foreign && !delegates(opener, id):
		return true // only a delegation's result can carry its child's name
	case foreign && holds(nextChild(rs.Session, i), it.Meaning):
		return w.answeredAgain(rs.Session, i, id, false)
	case w.made[id] == 0:
		return foreign && w.answeredAgain(rs.Session, i, id, true)
	}
	return w.answeredAgain(rs.Session, i, id, true)
}

// delegates reports whether the item's call with the id is a delegation.
func delegates(it *session.Item, id string) bool {
	for n := range it.Calls {
		if it.Calls[n].ID == id && it.Calls[n].Delegation != nil {
			return true
		}
	}
	return false
}

// nextChild is the child whose sub-session item comes next behind index i: the
// one that ran at the item, since it gets its item when it ends.
func nextChild(s *session.Session, i int) *session.Session {
	for j := i + 1; j < len(s.Items); j++ {
		if s.Items[j].Kind != session.SubSession {
			continue
		}
		for _, c := range s.Children {
			if c.ID == s.Items[j].Child {
				return c
			}
		}
		return nil
	}
	return nil
}

// holds reports whether the session or one below it has an item of the meaning.
func holds(s *session.Session, m session.Digest) bool {
	if s == nil {
		return false
	}
	for i := range s.Items {
		if s.Items[i].Meaning == m {
			return true
		}
	}
	for _, c := range s.Children {
		if holds(c, m) {
			return true
		}
	}
	return false
}

// answeredAgain reports whether behind the item at index i, and before the
// opener's agent or the user speaks again, a further result of the call id
// stands; with ownCalls only one that no call in between asked for.
func (w *window) answeredAgain(s *session.Session, i int, id string, ownCalls bool) bool {
	asked, opener := 0, s.Items[w.opener].Agent
	for j := i + 1; j < len(s.Items); j++ {
		it := &s.Items[j]
		switch {
		case it.Role == session.User && !it.Flags.Has(session.Implicit):
			return false
		case it.Role == session.Assistant && it.Agent == opener && opener != "":
			return false
		case ownCalls && hasCall(it, id):
			asked++
		case hasResult(it, id) && asked == 0:
			return true
		case hasResult(it, id):
			asked--
		}
	}
	return false
}

// awaited reports whether an own call with the id, made before index i, has no
// result before it.
func awaited(rs *Session, i int, id string) bool {
	open := 0
	for j := range i {
		it := &rs.Session.Items[j]
		switch {
		case rs.Steps[j].Action == Skip:
		case hasCall(it, id):
			open++
		case hasResult(it, id):
			open--
		}
	}
	return open > 0
}

// note records which of the calls of a batch the tool item at index i answers.
func note(batch []*Delegation, it *session.Item, i int) {
	for _, d := range batch {
		if d.Result < 0 && hasResult(it, d.Call().ID) && !claimedBefore(batch, d, i) {
			d.Result = i
		}
	}
}

// unanswered counts the calls of the window without a result so far.
func (w *window) unanswered() int {
	n := 0
	for _, d := range w.calls {
		if d.Result < 0 {
			n++
		}
	}
	return n
}

// over reports whether every child that the window still waits for is complete.
func (w *window) over() bool { return w.complete >= w.unanswered() }

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
