package replay

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// TraceStored replays the stored items of every session of a tree.
func TraceStored(tree *session.Tree) *Trace {
	trace, windows := walkAll(tree, nil)
	linkChildren(tree, trace, windows, nil)
	for i, rs := range trace.Sessions {
		for _, w := range windows[i] {
			attributeLeaks(trace, rs, w)
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
		rs, ws := walkSession(s, known)
		trace.Sessions = append(trace.Sessions, rs)
		windows = append(windows, ws)
		if trace.bySession != nil {
			trace.bySession[s] = rs
		}
	}
	return trace, windows
}

// walkSession finds the windows of one session and gives every item its step; which
// child is meant and where a leaked item belongs is decided later.
func walkSession(s *session.Session, known witness) (*Session, []*window) {
	w := &walker{rs: &Session{Session: s, Steps: make([]Step, len(s.Items))}, told: known != nil}
	for i := range s.Items {
		it := &s.Items[i]
		leaked, isKnown := known[TreeItem{s, i}]
		switch {
		case leaked:
			w.rs.Steps[i].Action = Skip
		case isKnown:
		case it.Home() != "" && it.Home() != s.ID && it.Home() != session.HomeUnknown: // which the store itself tells
			w.rs.Steps[i].Action = Skip
		case it.Kind == session.SubSession:
			if w.open != nil {
				w.open.complete++
			}
		case it.Kind != session.Message:
		case it.Role == session.User && !it.Flags.Has(session.Implicit) && !it.IsAnswer():
			w.closeWindow(i)
			w.batch = nil
		case it.Role == session.Assistant:
			w.takeAnswer(i)
		case it.IsAnswer():
			w.takeResult(i)
		}
	}
	w.closeWindow(len(s.Items))
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

// takeAnswer takes the assistant item at index i.
func (w *walker) takeAnswer(i int) {
	if w.open != nil && w.speaksAgain(i) {
		w.closeWindow(i)
	}
	if w.open != nil {
		w.open.recordLeak(w.rs, i)
		return
	}
	w.batch = itemDelegations(w.rs.Session, i)
	w.rs.Delegations = append(w.rs.Delegations, w.batch...)
	w.awaitResults(i)
	if opened := openWindow(i, w.batch); opened != nil {
		w.windows, w.open = append(w.windows, opened), opened
	}
}

// speaksAgain reports whether the assistant item at index i is the session's own
// although results are missing: the caller is back when all its children are
// complete, and a repair gives a rebuilt session nothing but its own items.
func (w *walker) speaksAgain(i int) bool {
	s := w.rs.Session
	return w.told || IsRebuilt(s) || w.open.isOver() && s.Items[i].Agent() == s.Items[w.open.opener].Agent()
}

// takeResult takes the tool item at index i.
func (w *walker) takeResult(i int) {
	if w.open != nil && !w.told && w.open.isFromLeaked(w.rs, i) {
		w.open.recordLeak(w.rs, i)
		return
	}
	waiting := 0
	if w.open != nil {
		waiting = w.open.countUnanswered()
	}
	noteResults(w.batch, &w.rs.Session.Items[i], i)
	w.settleResults(i)
	if w.open == nil {
		return
	}
	w.open.complete = max(0, w.open.complete-(waiting-w.open.countUnanswered()))
	if w.open.countUnanswered() == 0 {
		w.closeWindow(i + 1)
	}
}

// awaitResults takes up the delegations of the own item at index i.
func (w *walker) awaitResults(i int) {
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

// settleResults gives the tool item at index i to delegations that it answers late. The first
// result of a call that has a window comes with its batch (see noteResults); others come at any
// time: of a child in the background or in another process, and of one that a person had
// to let go on.
func (w *walker) settleResults(i int) {
	it := &w.rs.Session.Items[i]
	for n := range it.Results {
		r := &it.Results[n]
		list := w.asked[r.CallID]
		at := slices.IndexFunc(list, (*Delegation).awaitsResult)
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

// awaitsResult reports whether a result can still come behind the caller's next items.
func (d *Delegation) awaitsResult() bool {
	if r := d.Outcome(); r != nil {
		return r.Pending
	}
	return !leaksIntoCaller(d.Call().Delegation)
}

// closeWindow closes the open window before the item at index end.
func (w *walker) closeWindow(end int) {
	if w.open == nil {
		return
	}
	w.open.end = end
	for _, d := range w.open.calls {
		d.End = end
	}
	w.open = nil
}

// linkChildren decides which child session belongs to which delegation call, from the
// strongest evidence to the weakest: the id that the store recorded with the
// call, the sub-session item in the call's own stretch of the window, equal
// task texts, the child's last answer, and for children that no item refers to
// whatever fits exactly one call. Where several fit, nobody is linked. known has
// the ids of children that are sure besides, whether the tree has them or not.
func linkChildren(tree *session.Tree, trace *Trace, windows [][]*window, known map[*Delegation]string) {
	if len(tree.Sessions) == 1 {
		return
	}
	l := &linker{known: known, byID: map[string]*session.Session{}, referenced: map[string]bool{}, taken: map[*session.Session]bool{}}
	for _, s := range tree.Sessions {
		l.byID[s.ID] = s
		for i := range s.Items {
			if s.Items[i].Kind == session.SubSession {
				l.referenced[s.Items[i].Child()] = true
			}
		}
	}
	for i, rs := range trace.Sessions {
		refs := l.listReferences(rs.Session)
		l.linkRecorded(rs, refs)
		for _, w := range windows[i] {
			l.linkByPosition(rs, w, refs)
		}
		l.linkByContent(rs, refs)
		for _, w := range windows[i] {
			l.linkBehindResult(rs, w, refs)
		}
	}
	for _, rs := range trace.Sessions {
		l.linkUnreferenced(rs)
	}
	for _, rs := range trace.Sessions {
		for _, d := range rs.Delegations {
			if d.Child != nil && trace.Callers[d.Child] == nil {
				trace.Callers[d.Child] = d
			}
		}
	}
}

type linker struct {
	known      map[*Delegation]string
	byID       map[string]*session.Session
	referenced map[string]bool // ids that some sub-session item names
	taken      map[*session.Session]bool
}

// reference is a sub-session item whose child exists.
type reference struct {
	item  int
	child *session.Session
}

func (l *linker) listReferences(s *session.Session) []reference {
	var list []reference
	for i := range s.Items {
		if s.Items[i].Kind != session.SubSession {
			continue
		}
		if c := l.byID[s.Items[i].Child()]; c != nil && c != s {
			list = append(list, reference{i, c})
		}
	}
	return list
}

// isSettled reports whether the child of a call is known, stored or not.
func (l *linker) isSettled(d *Delegation) bool { return d.Child != nil || l.known[d] != "" }

func (l *linker) assignChild(d *Delegation, child *session.Session, item int) {
	d.Child, d.Reference = child, item
	l.taken[child] = true
}

// linkRecorded links the children whose id the store keeps with the call.
func (l *linker) linkRecorded(rs *Session, refs []reference) {
	for _, d := range rs.Delegations {
		id := cmp.Or(l.known[d], d.Call().Delegation.Child)
		if id == "" {
			continue
		}
		if c := l.byID[id]; c != nil && c != rs.Session {
			item := slices.IndexFunc(refs, func(r reference) bool { return r.child == c })
			if item >= 0 {
				item = refs[item].item
			}
			l.assignChild(d, c, item)
		}
	}
}

// linkByPosition links the sub-session item that stands alone between the previous
// result of the batch and a call's own result (docker agent 3.2), unless task or
// agent say that it is another call's.
func (l *linker) linkByPosition(rs *Session, w *window, refs []reference) {
	for n, d := range w.calls {
		if l.isSettled(d) {
			continue
		}
		from, to := w.callStretch(n, refs)
		found := slices.DeleteFunc(slices.Clone(refs), func(r reference) bool { return r.item <= from || r.item >= to || l.taken[r.child] })
		if len(found) == 1 && !isAnothers(rs, d, found[0]) {
			l.assignChild(d, found[0].child, found[0].item)
		}
	}
}

// callStretch is the part of the window that belongs to the n-th delegation when
// calls run one after another: from the end of the latest earlier one to its own. A
// call without a result has what is left, if it is the first such call.
func (w *window) callStretch(n int, refs []reference) (from, to int) {
	d := w.calls[n]
	from, to = w.opener, d.lastItem(refs)+1
	if d.Result < 0 {
		to = w.end
		for _, other := range w.calls[:n] {
			if other.Result < 0 {
				return to, to
			}
		}
	}
	for _, other := range w.calls {
		if last := other.lastItem(refs); other != d && last > from && last < to {
			from = last
		}
	}
	return from, to
}

// lastItem is the index of the item that ends the delegation: its result, or the reference
// right behind it where the result took over a row of the child (docs/stores/docker-agent.md#which-versions-leak).
func (d *Delegation) lastItem(refs []reference) int {
	agent := ""
	if d.Result >= 0 {
		agent = d.Session.Items[d.Result].Agent()
	}
	if agent != "" && agent != d.Caller() && slices.ContainsFunc(refs, func(r reference) bool {
		return r.item == d.Result+1 && !contradictsCall(d, r.child)
	}) {
		return d.Result + 1
	}
	return d.Result
}

// isAnothers reports whether the child cannot be the call's and can be that of
// another call before the reference.
func isAnothers(rs *Session, d *Delegation, r reference) bool {
	return differsFromCall(d, r.child) && slices.ContainsFunc(rs.Delegations, func(other *Delegation) bool {
		return other != d && other.Child == nil && other.Item < r.item && !differsFromCall(other, r.child)
	})
}

// linkByContent links the referenced children that position did not decide: by the
// task text, then by the answer that came back.
func (l *linker) linkByContent(rs *Session, refs []reference) {
	for _, same := range []func(*Delegation, *session.Session) bool{sameTask, sameAnswer} {
		for _, r := range refs {
			if l.taken[r.child] {
				continue
			}
			var fits []*Delegation
			for _, d := range rs.Delegations {
				if !l.isSettled(d) && d.Item < r.item && (r.item < d.End || !d.Call().Delegation.Blocking) && same(d, r.child) {
					fits = append(fits, d)
				}
			}
			if len(fits) > 0 && (len(fits) == 1 || sameWindow(fits)) {
				l.assignChild(fits[0], r.child, r.item)
			}
		}
	}
}

// linkBehindResult links a sub-session item that stands behind its call's result in
// the same answer group (docs/stores/docker-agent.md#which-versions-leak: the child's unfinished row became
// the parent's result row, which is older than the sub-session item).
func (l *linker) linkBehindResult(rs *Session, w *window, refs []reference) {
	s := rs.Session
	for _, d := range w.calls {
		if l.isSettled(d) || d.Result < 0 {
			continue
		}
		for i := d.Result + 1; i < len(s.Items) && (!s.Items[i].OnWire() || s.Items[i].Role == session.Tool); i++ {
			n := slices.IndexFunc(refs, func(r reference) bool { return r.item == i && !l.taken[r.child] })
			if n >= 0 && !isAnothers(rs, d, refs[n]) {
				l.assignChild(d, refs[n].child, i)
				break
			}
		}
	}
}

// sameWindow reports whether all calls stand in one item: then equal children
// of equal calls are linked in order, since nothing can tell them apart.
func sameWindow(list []*Delegation) bool {
	return !slices.ContainsFunc(list, func(d *Delegation) bool { return d.Item != list[0].Item })
}

// linkUnreferenced links children that name the session as parent and that no item
// refers to (a crash, or the compaction bug: docs/stores/docker-agent.md#which-versions-leak).
func (l *linker) linkUnreferenced(rs *Session) {
	for _, c := range rs.Session.Children {
		if c.Parent != rs.Session.ID || l.referenced[c.ID] || l.taken[c] {
			continue
		}
		if d := l.onlyFit(rs.Delegations, c); d != nil {
			l.assignChild(d, c, -1)
		}
	}
}

// onlyFit is the one call without a child that could have started c: one whose
// task or answer is the child's, else one whose agent and time do not
// contradict it.
func (l *linker) onlyFit(list []*Delegation, c *session.Session) *Delegation {
	var strong, weak []*Delegation
	for _, d := range list {
		switch {
		case l.isSettled(d) || contradictsCall(d, c):
		case sameTask(d, c) || sameAnswer(d, c):
			strong = append(strong, d)
		default:
			weak = append(weak, d)
		}
	}
	if len(strong) > 0 {
		weak = strong
	}
	if len(weak) != 1 {
		return nil
	}
	return weak[0]
}
