package replay

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// Stored replays the stored items of every session of a tree.
func Stored(tree *session.Tree) *Trace {
	trace, windows := walkAll(tree, nil)
	link(tree, trace, windows, nil)
	for i, rs := range trace.Sessions {
		for _, w := range windows[i] {
			attribute(trace, rs, w)
		}
	}
	return trace
}

// witness knows which items of a tree leaked; those that it has as false are
// strangers, which open and close nothing, and all others are their session's own.
// nil knows nothing: then the items themselves have to tell.
type witness map[TreeItem]bool

// walkAll walks every session of a tree.
func walkAll(tree *session.Tree, known witness) (*Trace, [][]*window) {
	trace := &Trace{Callers: map[*session.Session]*Delegation{}}
	if len(tree.Sessions) > 1 {
		trace.bySession = make(map[*session.Session]*Session, len(tree.Sessions))
	}
	var windows [][]*window
	for _, s := range tree.Sessions {
		rs, ws := walk(s, known)
		trace.Sessions = append(trace.Sessions, rs)
		windows = append(windows, ws)
		if trace.bySession != nil {
			trace.bySession[s] = rs
		}
	}
	return trace, windows
}

// walk finds the windows of one session and gives every item its step; which
// child is meant and where a leaked item belongs is decided later.
func walk(s *session.Session, known witness) (*Session, []*window) {
	w := &walker{rs: &Session{Session: s, Steps: make([]Step, len(s.Items))}, told: known != nil}
	for i := range s.Items {
		it := &s.Items[i]
		leaked, isKnown := known[TreeItem{s, i}]
		switch {
		case leaked:
			w.rs.Steps[i] = Step{Action: Skip, Reason: reasonOf(it)}
		case isKnown:
		case it.Kind == session.SubSession:
			w.rs.Steps[i].Reason = OwnRecord
			if w.open != nil {
				w.open.complete++
			}
		case it.Kind != session.Message:
		case it.Role == session.User && !it.Flags.Has(session.Implicit) && !it.Answers():
			w.shut(i)
			w.batch = nil
		case it.Role == session.Assistant:
			w.answer(i)
		case it.Answers():
			w.result(i)
		}
	}
	w.shut(len(s.Items))
	for _, d := range w.rs.Delegations {
		if d.Call().Delegation.Apart && d.Final >= 0 {
			d.End = d.Final + 1
		}
	}
	return w.rs, w.windows
}

// walker is the state between two items.
type walker struct {
	rs      *Session
	told    bool // by a witness: what comes to the walker is the session's own
	windows []*window
	open    *window       // the window that is open, nil for none
	batch   []*Delegation // those of the last own assistant item

	// asked are the own delegations by the ids of their calls, until an id is used again.
	asked map[string][]*Delegation
}

// reasonOf says why a leaked item is one.
func reasonOf(it *session.Item) Reason {
	if it.Answers() {
		return ResultOfLeaked
	}
	return BehindCall
}

// answer takes the assistant item at index i.
func (w *walker) answer(i int) {
	if w.open != nil && w.speaksAgain(i) {
		w.shut(i)
	}
	if w.open != nil {
		w.open.leak(w.rs, i, BehindCall)
		return
	}
	w.batch = delegations(w.rs.Session, i)
	w.rs.Delegations = append(w.rs.Delegations, w.batch...)
	w.await(i)
	if opened := openWindow(i, w.batch); opened != nil {
		w.windows, w.open = append(w.windows, opened), opened
	}
}

// speaksAgain reports whether the assistant item at index i is the session's own
// although results are missing: the caller is back when all its children are
// complete, and a repair gives a rebuilt session nothing but its own items.
func (w *walker) speaksAgain(i int) bool {
	s := w.rs.Session
	return w.told || rebuilt(s) || w.open.over() && s.Items[i].Agent == s.Items[w.open.opener].Agent
}

// result takes the tool item at index i.
func (w *walker) result(i int) {
	if w.open != nil && !w.told && w.open.fromLeaked(w.rs, i) {
		w.open.leak(w.rs, i, ResultOfLeaked)
		return
	}
	waiting := 0
	if w.open != nil {
		waiting = w.open.unanswered()
	}
	note(w.batch, &w.rs.Session.Items[i], i)
	w.settle(i)
	if w.open == nil {
		return
	}
	w.open.complete = max(0, w.open.complete-(waiting-w.open.unanswered()))
	w.rs.Steps[i].Reason = OwnResult
	if w.open.unanswered() == 0 {
		w.shut(i + 1)
	}
}

// await takes up the delegations of the own item at index i.
func (w *walker) await(i int) {
	for n := range w.rs.Session.Items[i].Calls {
		delete(w.asked, w.rs.Session.Items[i].Calls[n].ID)
	}
	if len(w.batch) > 0 && w.asked == nil {
		w.asked = map[string][]*Delegation{}
	}
	for _, d := range w.batch {
		w.asked[d.Call().ID] = append(w.asked[d.Call().ID], d)
	}
}

// settle gives the tool item at index i to delegations that it answers late. The first
// result of a call that has a window comes with its batch (see note); others come at any
// time: of a child in the background or in another process, and of one that a person had
// to let go on.
func (w *walker) settle(i int) {
	it := &w.rs.Session.Items[i]
	for n := range it.Results {
		r := &it.Results[n]
		list := w.asked[r.CallID]
		at := slices.IndexFunc(list, (*Delegation).awaits)
		if at < 0 || slices.ContainsFunc(list, func(d *Delegation) bool { return d.Final == i }) {
			continue
		}
		switch d := list[at]; {
		case d.Result < 0:
			d.Result, d.Final = i, i
		case !r.Synthetic:
			d.Final = i
		}
	}
}

// awaits reports whether a result can still come behind the caller's next items.
func (d *Delegation) awaits() bool {
	if r := d.Outcome(); r != nil {
		return r.Pending
	}
	return !leaks(d.Call().Delegation)
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
