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

	asked map[string]int // the opener's calls without a result so far, by id
	made  map[string]int // calls that leaked items made, by id
}

// walk finds the windows of one session and gives every item its step; which
// child is meant and where a leaked item belongs is decided later.
func walk(s *session.Session) (*Session, []*window) {
	w := &walker{rs: &Session{Session: s, Steps: make([]Step, len(s.Items))}}
	for i := range s.Items {
		it := &s.Items[i]
		switch {
		case it.Kind == session.SubSession:
			w.rs.Steps[i].Reason = OwnRecord
		case it.Kind != session.Message:
		case it.Role == session.User && !it.Flags.Has(session.Implicit):
			w.shut(i)
			w.batch = nil
		case it.Role == session.Assistant && w.open != nil:
			w.open.leak(w.rs, i, BehindCall)
		case it.Role == session.Assistant:
			w.own(i)
		case it.Role == session.Tool:
			w.result(i)
		}
	}
	w.shut(len(s.Items))
	return w.rs, w.windows
}

// walker is the state between two items.
type walker struct {
	rs      *Session
	windows []*window
	open    *window       // the window that is open, nil for none
	batch   []*Delegation // those of the last own assistant item
}

// own takes the session's own assistant item at index i.
func (w *walker) own(i int) {
	w.batch = delegations(w.rs.Session, i)
	w.rs.Delegations = append(w.rs.Delegations, w.batch...)
	if opened := openWindow(i, w.batch); opened != nil {
		w.windows, w.open = append(w.windows, opened), opened
	}
}

// result takes the tool item at index i.
func (w *walker) result(i int) {
	if w.open != nil && w.open.fromLeaked(w.rs, i) {
		w.open.leak(w.rs, i, ResultOfLeaked)
		return
	}
	answer(w.batch, &w.rs.Session.Items[i], i)
	if w.open == nil {
		return
	}
	w.rs.Steps[i].Reason = OwnResult
	if w.open.answered() {
		w.shut(i + 1)
	}
}

// shut closes the open window before the item at index end.
func (w *walker) shut(end int) {
	if w.open == nil {
		return
	}
	w.open.end = end
	for _, d := range w.open.calls {
		d.End = end
	}
	w.open = nil
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
	if w.made[id] == 0 {
		return it.Agent != "" && it.Agent != opener.Agent && !ownCall(rs, i, id)
	}
	return w.asked[id] <= 0 || answeredAgain(rs.Session, i, id)
}

// answeredAgain reports whether behind the item at index i, and before the next
// user turn, a further result of the call id stands that no call in between
// asked for.
func answeredAgain(s *session.Session, i int, id string) bool {
	asked := 0
	for j := i + 1; j < len(s.Items); j++ {
		it := &s.Items[j]
		switch {
		case it.Role == session.User && !it.Flags.Has(session.Implicit):
			return false
		case hasCall(it, id):
			asked++
		case hasResult(it, id) && asked == 0:
			return true
		case hasResult(it, id):
			asked--
		}
	}
	return false
}

// ownCall reports whether an own item before index i made a call with the id.
func ownCall(rs *Session, i int, id string) bool {
	for j := range i {
		if rs.Steps[j].Action == Persist && hasCall(&rs.Session.Items[j], id) {
			return true
		}
	}
	return false
}

// answer notes which of the calls of a batch the tool item at index i answers.
func answer(batch []*Delegation, it *session.Item, i int) {
	for _, d := range batch {
		if d.Result < 0 && hasResult(it, d.Call().ID) && !claimedBefore(batch, d, i) {
			d.Result = i
		}
	}
}

// answered reports whether all calls of the window have their result.
func (w *window) answered() bool {
	for _, d := range w.calls {
		if d.Result < 0 {
			return false
		}
	}
	return true
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
