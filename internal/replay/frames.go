package replay

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// frames follows the delegations below one call of a window while its leaked
// items go by. What is stored of the child tells exactly where an item with a
// twin belongs; an item without one belongs below a call whose child is not
// stored, unless the child that is there lost it.
type frames struct {
	trace  *Trace
	root   *Delegation
	base   *Frame
	top    *Frame                  // the frame in force
	stored map[*Delegation]*Frame  // those of root and of calls in the sessions below it
	calls  map[string][]leakedCall // leaked calls without a result so far, by id
	asked  map[string]bool         // agents that root and leaked calls asked
}

// leakedCall is a call that a leaked item made.
type leakedCall struct {
	maker *Frame // where it was made
	opens *Frame // the frame that it opened, nil when it delegates nothing
}

func newFrames(trace *Trace, d *Delegation) *frames {
	base := &Frame{Item: d.Item, Nth: d.Nth, Caller: d.Caller(), Agent: d.Call().Delegation.Agent}
	return &frames{
		trace: trace, root: d, base: base, top: base,
		stored: map[*Delegation]*Frame{d: base}, calls: map[string][]leakedCall{},
		asked: map[string]bool{base.Agent: true},
	}
}

// enter is the frame that a leaked item belongs to. It is in force from there
// on, except behind a result: other calls of the same batch may still run.
func (f *frames) enter(it *session.Item, twin *TreeItem) *Frame {
	maker := f.answer(it)
	switch {
	case twin != nil:
		f.top = f.of(twin.Session)
	case maker != nil:
		return maker
	default:
		f.top = f.search(it)
	}
	return f.top
}

// answer notes which leaked calls an item answers, and returns where they were
// made, whatever name the item carries. Of several open calls with an id it
// answers the latest, because inner calls end first.
func (f *frames) answer(it *session.Item) (maker *Frame) {
	for i := range it.Results {
		id := it.Results[i].CallID
		open := f.calls[id]
		if len(open) == 0 {
			continue
		}
		last := open[len(open)-1]
		f.calls[id] = open[:len(open)-1]
		maker = last.maker
		if last.opens != nil {
			last.opens.done = true
		}
	}
	return maker
}

// search is the frame of an item without a twin, by its agent and time.
func (f *frames) search(it *session.Item) *Frame {
	if found := f.climb(it, f.unsaved); found != nil {
		return found
	}
	asked, around := f.lost(it)
	running := f.top.running(it)
	switch {
	case asked != nil:
		return f.call(asked)
	case f.unsaved(running): // a third agent took over
		return running
	case around != nil:
		return f.call(around)
	}
	if found := f.climb(it, func(*Frame) bool { return true }); found != nil {
		return found
	}
	return running
}

// climb looks for the innermost open frame that asked the item's agent, in which
// it spoke last or a handoff passed on to it, or the one around it when the agent
// is its caller, who speaks again.
func (f *frames) climb(it *session.Item, wanted func(*Frame) bool) *Frame {
	running := f.top.running(it)
	for at := f.top; at != nil; at = at.Parent {
		if at == running && (at.speaker == it.Agent || at.passed && at.Caller != it.Agent) && wanted(at) {
			return at
		}
		for sibling := at; sibling != nil; sibling = sibling.next {
			if sibling.Agent == it.Agent && !sibling.over(it) && wanted(sibling) {
				return sibling
			}
		}
		if at.Parent != nil && at.Caller == it.Agent && wanted(at.Parent) {
			return at.Parent
		}
	}
	return nil
}

// unsaved reports whether the child of the frame's call is not stored.
func (f *frames) unsaved(frame *Frame) bool {
	if frame == f.base {
		return f.root.Child == nil
	}
	return frame.Copy == nil || frame.Copy.Child == nil
}

// lost looks for calls below the child that did not leak themselves and whose own
// child is not stored: one that asked the item's agent, and one in whose time the
// item was said, by an agent that took over or was asked further down.
func (f *frames) lost(it *session.Item) (asked, around *Delegation) {
	if f.root.Child == nil {
		return nil, nil
	}
	for _, rs := range f.trace.Sessions {
		for _, d := range rs.Delegations {
			what := d.Call().Delegation
			switch {
			case d == f.root || d.Child != nil || !leaks(what) || !d.covers(it) || !lies(rs.Session, f.root.Child):
			case asked == nil && what.Agent == it.Agent:
				asked = d
			case d.timed() && !it.Time.IsZero():
				around = d
			}
		}
	}
	return asked, around
}

// of is the frame whose items a stored session holds.
func (f *frames) of(s *session.Session) *Frame {
	if d := f.trace.Callers[s]; d != nil && s != f.root.Child {
		return f.call(d)
	}
	return f.base
}

// call is the frame of a stored call, made together with those of the other
// calls of its item.
func (f *frames) call(d *Delegation) *Frame {
	if known := f.stored[d]; known != nil {
		return known
	}
	var next *Frame
	for _, other := range slices.Backward(f.trace.session(d.Session).Delegations) {
		if other.Item != d.Item || !leaks(other.Call().Delegation) || f.stored[other] != nil {
			continue
		}
		next = &Frame{
			Parent: f.base, Item: -1, Nth: other.Nth, Caller: other.Caller(), Agent: other.Call().Delegation.Agent,
			Copy: other, next: next,
		}
		f.stored[other] = next
	}
	frame := f.stored[d]
	if frame == nil { // no runtime leaks from it
		return f.base
	}
	if parent := f.of(d.Session); !parent.within(frame) {
		for sibling := next; sibling != nil; sibling = sibling.next {
			sibling.Parent = parent
		}
	}
	return frame
}

// open puts an inner frame in force when the leaked item itself holds blocking
// delegation calls.
func (f *frames) open(it *session.Item, l *Leaked) {
	if it.Role == session.Assistant {
		l.Frame.speaker = it.Agent
		l.Frame.passed = slices.ContainsFunc(it.Calls, func(c session.Call) bool { return session.IsHandoff(c.Name) })
	}
	var first *Frame
	for n := range slices.Backward(it.Calls) {
		call := leakedCall{maker: l.Frame}
		if d := it.Calls[n].Delegation; d != nil && leaks(d) {
			call.opens = &Frame{Parent: l.Frame, Item: l.Item, Nth: n, Caller: it.Agent, Agent: d.Agent, next: first}
			if stored := f.trace.delegation(l.Twin, n); stored != nil {
				call.opens = f.call(stored)
				call.opens.Item = l.Item
			}
			first = call.opens
			f.asked[d.Agent] = true
		}
		f.calls[it.Calls[n].ID] = append(f.calls[it.Calls[n].ID], call)
	}
	f.top = cmp.Or(first, f.top)
}

// names reports whether the call or one below it, leaked or stored, asked the agent.
func (f *frames) names(agent string) bool {
	if f.asked[agent] {
		return true
	}
	for _, rs := range f.trace.Sessions {
		for _, d := range rs.Delegations {
			if d.Call().Delegation.Agent == agent && lies(rs.Session, f.root.Child) {
				return true
			}
		}
	}
	return false
}

// over reports whether the frame's call, or one around it, had its result before
// the item.
func (f *Frame) over(it *session.Item) bool {
	for ; f != nil; f = f.Parent {
		if f.done || f.Copy != nil && !f.Copy.covers(it) {
			return true
		}
	}
	return false
}

// running is the innermost frame that is not over at the item: this one, that of
// a later call of its item, or one around them.
func (f *Frame) running(it *session.Item) *Frame {
	for ; f.Parent != nil; f = f.Parent {
		for sibling := f; sibling != nil; sibling = sibling.next {
			if !sibling.over(it) {
				return sibling
			}
		}
	}
	return f
}

// within reports whether the frame is another one or lies inside it.
func (f *Frame) within(other *Frame) bool {
	for ; f != nil; f = f.Parent {
		if f == other {
			return true
		}
	}
	return false
}

// covers reports whether an item can have been said between the call and its
// result, as far as times are known.
func (d *Delegation) covers(it *session.Item) bool {
	if it.Time.IsZero() {
		return true
	}
	if it.Time.Before(d.Session.Items[d.Item].Time) {
		return false
	}
	if d.Final < 0 {
		return true
	}
	answered := d.Session.Items[d.Final].Time
	return answered.IsZero() || !it.Time.After(answered)
}

// timed reports whether it is known when the call was made and answered.
func (d *Delegation) timed() bool {
	return d.Final >= 0 && !d.Session.Items[d.Item].Time.IsZero() && !d.Session.Items[d.Final].Time.IsZero()
}

// session is the replay of a session of the tree.
func (t *Trace) session(s *session.Session) *Session {
	if len(t.Sessions) == 1 {
		return t.Sessions[0]
	}
	return t.bySession[s]
}

// delegation is the nth call of an item as a delegation, nil when there is no
// item or it is no own delegation of its session.
func (t *Trace) delegation(at *TreeItem, nth int) *Delegation {
	if at == nil {
		return nil
	}
	for _, d := range t.session(at.Session).Delegations {
		if d.Item == at.Item && d.Nth == nth {
			return d
		}
	}
	return nil
}

// lies reports whether s is the session top or lies below it.
func lies(s, top *session.Session) bool {
	return top != nil && (s == top || slices.ContainsFunc(top.Children, func(child *session.Session) bool { return lies(s, child) }))
}

// interval is the time in which a delegation was open, as a part of the stored
// items of its caller.
type interval struct {
	call  *Delegation // the recorded one
	below []heard     // what its child and those below it said
	own   int         // index of the item behind the latest result before its own, or behind the call
	begin int         // index of the item behind the call
	end   int         // index of the result, or behind the last item
}

// intervals are the times of the session's calls whose children are recorded, in
// the order of their ends.
func (c *comparer) intervals(p *pair) []interval {
	var list []interval
	for _, d := range c.recorded.session(p.recorded).Delegations {
		if d.Child == nil || p.storedCall(d) == nil {
			continue
		}
		begin, below := p.match[d.Item]+1, c.below(d)
		list = append(list, interval{d, below, begin, begin, p.closes(d, begin, below)})
	}
	slices.SortStableFunc(list, func(a, b interval) int { return a.end - b.end })
	for n := range list {
		v := &list[n]
		for _, other := range c.recorded.session(p.recorded).Delegations {
			if other.Item != v.call.Item || other.Result < 0 || other.Nth > v.call.Nth && !p.answered(v.call) {
				continue
			}
			if at := p.match[other.Result]; at < v.end {
				v.own = max(v.own, at+1)
			}
		}
	}
	return list
}

// answered reports whether the store has the result of a recorded call.
func (p *pair) answered(d *Delegation) bool { return d.Result >= 0 && p.match[d.Result] >= 0 }

// storedCall is the stored form of a recorded delegation call, nil when it is
// lost or delegates nothing.
func (p *pair) storedCall(d *Delegation) *session.Call {
	j := p.match[d.Item]
	if j < 0 || d.Nth >= len(p.rows[j].Calls) {
		return nil
	}
	call := &p.rows[j].Calls[d.Nth]
	if call.ID != d.Call().ID || call.Delegation == nil {
		return nil
	}
	return call
}

// closes is the index of the stored item, from begin on, that ends a recorded
// delegation: its result, also one that was not recorded; where that is missing
// the caller's next turn or the user's, or behind the last item.
func (p *pair) closes(d *Delegation, begin int, below []heard) int {
	if d.Result >= 0 && p.match[d.Result] >= begin {
		return p.match[d.Result]
	}
	for j := begin; j < len(p.rows); j++ {
		i := p.back[j]
		if i > d.Item && !isReply(p.events[i]) || i < 0 && (isPrompt(p.rows[j]) || p.callerAnswers(d, j, below)) {
			return j
		}
	}
	return len(p.rows)
}

// callerAnswers reports whether a stored item is a result of a recorded call under
// its caller's name, and nothing that a child said: that can have used the same id.
func (p *pair) callerAnswers(d *Delegation, j int, below []heard) bool {
	it := p.rows[j]
	return it.Agent == d.Caller() && it.AnswersCall(d.Call().ID) &&
		!slices.ContainsFunc(below, func(h heard) bool { return h.content.key == it.key })
}

// excuse finds the stored items that no event made where they stand, but of which
// the recording knows: copies of what a child said while the call that started it
// ran. It is lost, which tells the rest.
func (c *comparer) excuse(p *pair) {
	var behind []int
	for _, d := range c.recorded.session(p.recorded).Delegations {
		if d.Child == nil || p.storedCall(d) != nil {
			continue
		}
		begin := p.match[d.Item] + 1
		if begin == 0 {
			if behind == nil {
				behind = p.behindEvents(isAny)
			}
			begin = behind[d.Item] + 1
		}
		below := c.below(d)
		copies := map[session.Digest]int{}
		for i := range below {
			if home := c.of[below[i].Session]; home.match[below[i].Item] >= 0 {
				copies[below[i].content.key]++
			}
		}
		for _, j := range p.unexplained(begin, p.closes(d, begin, below)) {
			if key := p.rows[j].key; copies[key] > 0 && !p.excused[j] {
				p.excused[j] = true
				copies[key]--
			}
		}
	}
}

// excuseReplies finds what came back from calls that were open when a run's
// recording ended: with parallel calls, and results that took over a child's row,
// it can stand before recorded items.
func (p *pair) excuseReplies() {
	if !p.part {
		return
	}
	for _, r := range p.runs {
		at := r.end - 1
		for at > r.begin && isReply(p.events[at]) {
			at--
		}
		if at < r.begin || p.match[at] < 0 {
			continue
		}
		open := map[string]bool{}
		for _, call := range p.events[at].Calls {
			open[call.ID] = !slices.ContainsFunc(p.events[at+1:r.end], func(it content) bool { return it.AnswersCall(call.ID) })
		}
		for j := p.match[at] + 1; j <= r.last; j++ {
			if p.free(j) && isReply(p.rows[j]) && p.answersOpen(j, open) {
				p.excused[j] = true
			}
		}
	}
}

// answersOpen reports whether a stored item answers nothing but open calls, each
// for the first time, or refers to the child of one.
func (p *pair) answersOpen(j int, open map[string]bool) bool {
	ids := callsAnswered(p.rows[j].Item)
	if slices.ContainsFunc(ids, func(id string) bool { return !open[id] }) {
		return false
	}
	for _, id := range ids {
		open[id] = false
	}
	return len(ids) > 0 || slices.Contains(slices.Collect(maps.Values(open)), true)
}

// window is the time in which an own item's delegations block its agent and their
// children may speak in its session: from the item to the last of their results, to a
// user item that is not implicit, to the agent's next answer once all its children are
// complete, or to the end of the session. Children that run elsewhere have none.
type window struct {
	opener int
	calls  []*Delegation // those of the opener that leak
	leaked []int         // items inside that the session's agent cannot have produced
	end    int           // index behind the last item

	complete int // sub-session items beyond those whose calls have a result: a child gets one when it ends

	asked map[string]int // the opener's calls without a result so far, by id
	made  map[string]int // calls that leaked items made, by id
	heirs map[heir]bool  // whom leaked delegation calls asked
}

// heir is an agent asked by the calls of an id. When it says nothing at the end,
// the result of the call takes over the row that it began, with its name.
type heir struct{ id, agent string }

// delegations lists the delegation calls of the item at index i.
func delegations(s *session.Session, i int) []*Delegation {
	var list []*Delegation
	for n := range s.Items[i].Calls {
		if s.Items[i].Calls[n].Delegation != nil {
			list = append(list, &Delegation{Session: s, Item: i, Nth: n, Result: -1, Final: -1, Reference: -1, End: len(s.Items)})
		}
	}
	return list
}

// leaks reports whether items of the child can stand in its caller's session, where
// they take the place of the caller's own.
func leaks(d *session.Delegation) bool { return d.Blocking && !d.Apart }

// openWindow opens a window for those of an item's delegations that leak, nil when
// none does.
func openWindow(opener int, list []*Delegation) *window {
	w := &window{opener: opener}
	for _, d := range list {
		if leaks(d.Call().Delegation) {
			w.calls = append(w.calls, d)
		}
	}
	if len(w.calls) == 0 {
		return nil
	}
	w.asked, w.made, w.heirs = map[string]int{}, map[string]int{}, map[heir]bool{}
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
		if c.Delegation != nil {
			w.heirs[heir{c.ID, c.Delegation.Agent}] = true
		}
	}
}

// note records which of the calls of a batch the tool item at index i answers.
func note(batch []*Delegation, it *session.Item, i int) {
	for _, d := range batch {
		if d.Result < 0 && it.AnswersCall(d.Call().ID) && !claimedBefore(batch, d, i) {
			d.Result, d.Final = i, i
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
