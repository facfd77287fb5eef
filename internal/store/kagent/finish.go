package kagent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/sessctl/sessctl/internal/session"
)

// finishSession sets what only all items of a session together can tell.
func (r *reader) finishSession(s *session.Session) {
	s.Faults = slices.Clone(s.Faults) // the session may be yielded again
	key := sessionKey{s.User, r.storedID(s)}
	r.breakTies(s)
	r.claimTasks(s, key)
	for i := range s.Items {
		s.Delegated = s.Delegated || r.notes.loadNote(&s.Items[i]).parented
	}
	r.relateItems(s)
	if s.Delegated {
		s.Task = firstRequest(s)
	}
	if s.Inseparable == "" && slices.ContainsFunc(s.Items, func(it session.Item) bool { return it.Invocation() == "" && it.OnWire() }) {
		s.Inseparable = "some of its events do not say which run they belong to"
	}
	tellDeleted(s)
	r.tellTasks(s, key)
	r.notes.dropUnused(s)
}

// refreshFaults reports anew what only the items of a session tell together: a repair can change
// it. It leaves the list of faults as it is where another session shares it.
func (r *reader) refreshFaults(s *session.Session) {
	retold := func(f session.Fault) bool {
		return f.Kind == session.MixedDialects || f.Kind == session.CopiesDiffer && f.Ref.Table == session.TableRuns
	}
	s.Faults = slices.DeleteFunc(slices.Clone(s.Faults), retold)
	r.tellDialects(s)
	tellStuck(s)
}

// storedID is the id of a session in its row.
func (r *reader) storedID(s *session.Session) string {
	if id, ok := strings.CutPrefix(s.ID, s.User+"/"); ok && r.yieldedID(s.User, id) != id {
		return id
	}
	return s.ID
}

// breakTies orders events of one microsecond by their own times, then by their ids
// (K12). Faults follow their items.
func (r *reader) breakTies(s *session.Session) {
	place := make([]int, len(s.Items))
	for i := range place {
		place[i] = i
	}
	slices.SortStableFunc(place, func(a, b int) int {
		x, y := &s.Items[a], &s.Items[b]
		return cmp.Or(cmp.Compare(x.Position, y.Position), x.Time.Compare(y.Time), cmp.Compare(x.Key, y.Key))
	})
	if slices.IsSorted(place) {
		return
	}
	items, now := make([]session.Item, len(place)), make([]int, len(place))
	for to, from := range place {
		items[to], now[from] = s.Items[from], to
	}
	s.Items = items
	for i := range s.Faults {
		if f := &s.Faults[i]; f.Item >= 0 {
			f.Item = now[f.Item]
		}
	}
}

// firstRequest is the text of the first message of a session.
func firstRequest(s *session.Session) session.Digest {
	for i := range s.Items {
		if it := &s.Items[i]; it.OnWire() {
			if it.Role == session.User {
				return it.Text
			}
			return 0
		}
	}
	return 0
}

// tellDialects reports a session with events in several dialects: no runtime reads
// all of them (K9).
func (r *reader) tellDialects(s *session.Session) {
	count := map[dialect]int{}
	for i := range s.Items {
		count[r.notes.loadNote(&s.Items[i]).form]++
	}
	delete(count, unknown)
	if len(count) < 2 {
		return
	}
	var parts []string
	most := slices.Max(slices.Collect(maps.Values(count)))
	others := -most
	for _, n := range count {
		others += n
	}
	for _, form := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, fmt.Sprintf("%d of %d are %s", count[form], len(s.Items), words[form]))
	}
	s.Faults = append(s.Faults, session.Fault{
		Kind: session.MixedDialects, Ref: s.Ref(), Item: -1, Field: "data", Count: others, Detail: "of the events " + strings.Join(parts, ", "),
	})
}

// tellDeleted reports what is left of a session that was deleted (K8).
func tellDeleted(s *session.Session) {
	if !s.Deleted || len(s.Items)+len(s.Runs) == 0 {
		return
	}
	s.Faults = append(s.Faults, session.Fault{
		Kind: session.OrphanRecord, Ref: s.Ref(), Item: -1, Field: "deleted_at", Count: len(s.Items) + len(s.Runs),
		Detail: fmt.Sprintf("the session was deleted, and %s and %s of it remain: kagent shows them to nobody, and creates no new session with this id",
			formatCount(len(s.Items), "event"), formatCount(len(s.Runs), "task")),
	})
}

// tellTasks reports tasks that do not decode.
func (r *reader) tellTasks(s *session.Session, key sessionKey) {
	ref := func(id string) session.Ref { return session.Ref{Session: s.ID, Table: session.TableRuns, Key: id} }
	for i := range r.tasks[key.id] {
		if t := &r.tasks[key.id][i]; t.wrong != "" && !t.deleted && r.ownerOf(t, key) == key.user {
			s.Faults = append(s.Faults, session.Fault{Kind: session.Undecodable, Ref: ref(t.run.ID), Item: -1, Field: "task data", Detail: t.wrong, Lost: true})
		}
	}
}

// tellStuck reports tasks that are at work for ever: the last change of their state was
// lost (K2).
func tellStuck(s *session.Session) {
	ref := func(id string) session.Ref { return session.Ref{Session: s.ID, Table: session.TableRuns, Key: id} }
	for i := range s.Runs {
		run := &s.Runs[i]
		if worksOn(run.State) && run.Invocation != "" && hasEnded(s, run.Invocation) {
			s.Faults = append(s.Faults, session.Fault{
				Kind: session.CopiesDiffer, Ref: ref(run.ID), Item: -1, Field: "the state of task " + run.ID,
				Detail: fmt.Sprintf("the task says %q, and its invocation %s ended with an answer; kagent shows people the task", run.State, run.Invocation),
			})
		}
	}
}

// hasEnded reports whether the last event of an invocation is an answer.
func hasEnded(s *session.Session, invocation string) bool {
	for i := range slices.Backward(s.Items) {
		if it := &s.Items[i]; it.Invocation() == invocation && it.OnWire() {
			return it.Role == session.Assistant && len(it.Calls) == 0 && !it.Flags.Has(session.Blank)
		}
	}
	return false
}

// callPlace is where a call stands in a session.
type callPlace struct{ item, nth int }

// setWaiting sets anew which calls may stay without a result: the long-running ones, and
// those that a person is still to approve of (docs/stores/kagent.md#approvals). Runtimes ask before they store the
// response that says so, and most stop there, so that it is never stored: adk-go before
// 1.4 and adk-python, under kagent's executors (Python since 0.8.0, Go since 0.8.6).
func (r *reader) setWaiting(s *session.Session, waiting map[callPlace]bool) {
	for i := range s.Items {
		it := &s.Items[i]
		long := r.notes.loadNote(it).long
		for nth := range it.Calls {
			asked := waiting[callPlace{i, nth}]
			waits := asked || slices.Contains(long, it.Calls[nth].ID)
			if it.Calls[nth].Waits != waits || it.Calls[nth].Asked != asked {
				it.Calls = slices.Clone(it.Calls) // another session may share them
				it.Calls[nth].Waits, it.Calls[nth].Asked = waits, asked
			}
		}
	}
}

// findUnapproved finds the calls about which a person was asked who can still answer: not once
// the task is over, nor once the user of the conversation went on. Requests of several
// callers in one session say nothing about each other.
func (r *reader) findUnapproved(s *session.Session) map[callPlace]bool {
	made := map[string]callPlace{}  // the last call with an id
	asked := map[string]callPlace{} // by the id of the question
	told := map[callPlace]bool{}    // a question in the events was about it, or is one
	for i := range s.Items {
		it := &s.Items[i]
		if it.Flags.Has(session.Skipped) {
			continue
		}
		if isTurn(s, it) {
			clear(asked)
		}
		about := r.notes.loadNote(it).about
		for nth := range it.Results {
			delete(asked, it.Results[nth].CallID)
		}
		for nth := range it.Calls {
			id := it.Calls[nth].ID
			made[id] = callPlace{i, nth}
			call, question := about[id]
			told[callPlace{i, nth}] = question
			if at, ok := made[call]; question && ok && id != call {
				told[at] = true
				if !isOver(s, it.Invocation()) {
					asked[id] = at
				}
			}
		}
	}
	waiting := map[callPlace]bool{}
	for _, at := range asked {
		waiting[at] = true
	}
	for i := range s.Runs {
		if run := &s.Runs[i]; run.Ends != "" {
			for _, at := range r.findUntold(s, run, waiting) {
				if !told[at] {
					waiting[at] = true
				}
			}
		}
	}
	return waiting
}

// isTurn reports whether an item is a new turn of the user of a conversation.
func isTurn(s *session.Session, it *session.Item) bool {
	return !s.Delegated && it.Role == session.User && it.OnWire() && !it.IsAnswer()
}

// findUntold finds the calls without a result with which the invocation of a waiting task ends,
// unless its events tell which ones it waits for: those that the task itself names, or
// all.
func (r *reader) findUntold(s *session.Session, run *session.Run, told map[callPlace]bool) (open []callPlace) {
	invocation := s.InvocationOf(run)
	for i := range s.Items {
		it := &s.Items[i]
		switch mine := it.Invocation() == invocation && invocation != ""; {
		case it.Flags.Has(session.Skipped):
			continue
		case isTurn(s, it), mine && it.Role == session.Assistant && it.OnWire():
			open = nil // somebody went on
			for nth := range it.Calls {
				if told[callPlace{i, nth}] {
					return nil
				}
				if mine {
					open = append(open, callPlace{i, nth})
				}
			}
		}
		for nth := range it.Results {
			open = slices.DeleteFunc(open, func(at callPlace) bool { return s.Items[at.item].Calls[at.nth].ID == it.Results[nth].CallID })
		}
	}
	if named := r.questions[run.ID]; named != nil {
		open = slices.DeleteFunc(open, func(at callPlace) bool { return !slices.Contains(named, s.Items[at.item].Calls[at.nth].ID) })
	}
	return open
}

// isOver reports whether the tasks of an invocation are over: A2A takes no answer for
// them any more (docs/stores/kagent.md#approvals). Without a task nothing says so.
func isOver(s *session.Session, invocation string) bool {
	over := false
	for i := range s.Runs {
		if run := &s.Runs[i]; run.Invocation == invocation && invocation != "" {
			if run.Open {
				return false
			}
			over = true
		}
	}
	return over
}

// note is what an event says that an item has no room for.
type note struct {
	form     dialect
	parented bool     // the headers of its request say that another agent made it
	pending  []string // the ids of calls whose results only say that a worker waits for approval
	// asks are what requests for approval hand on for workers (b3, link 3), by the ids
	// of the calls that started the runs.
	asks map[string]session.Question
	// about are the calls that requests for approval are about, by the ids of the
	// requests; long are the ids of the long-running calls.
	about map[string]string
	long  []string
}

// notes are kept by the key of the item, the form of an event only until its session
// is complete: every event has one.
type notes struct{ byKey sync.Map }

func (n *notes) keepNote(key string, value note) { n.byKey.Store(key, value) }

func (n *notes) loadNote(it *session.Item) note {
	value, _ := n.byKey.Load(it.Key)
	v, _ := value.(note)
	return v
}

// dropUnused drops what is not needed any more: a repair can change how the forms of a session
// are mixed only where they are.
func (n *notes) dropUnused(s *session.Session) {
	mixed := slices.ContainsFunc(s.Faults, func(f session.Fault) bool { return f.Kind == session.MixedDialects })
	for i := range s.Items {
		v := n.loadNote(&s.Items[i])
		if !mixed {
			v.form = unknown
		}
		if v.form != unknown || v.parented || v.pending != nil || v.asks != nil || v.about != nil || v.long != nil {
			n.keepNote(s.Items[i].Key, v)
		} else {
			n.byKey.Delete(s.Items[i].Key)
		}
	}
}

// isPending reports whether a result of the item is one that stands for a later one.
func (v note) isPending(callID string) bool { return slices.Contains(v.pending, callID) }

// relateItems sets what the items of a session tell of each other, anew where it was set
// before. What another session shares with this one is left as it is there.
func (r *reader) relateItems(s *session.Session) {
	waiting := r.findUnapproved(s)
	r.setWaiting(s, waiting)
	r.documents.Relate(s)
	r.setWaiting(s, waiting) // ADK alone knows nothing of tasks
	approvals := map[string]session.Question{}
	for i := range s.Items {
		it := &s.Items[i]
		n := r.notes.loadNote(it)
		for id, q := range n.asks {
			approvals[id] = q
		}
		for nth := range it.Results {
			if n.isPending(it.Results[nth].CallID) { // ADK alone does not know what that answer means
				it.SetPending(nth, true)
			}
		}
	}
	own := -1 // the item whose calls no other session has
	for _, d := range listDelegations(s) {
		if settled, differs := r.settleDelegation(s, d, approvals); differs {
			it := &s.Items[d.item]
			if own != d.item { // the calls of an item come one behind the other
				it.Calls, own = slices.Clone(it.Calls), d.item
			}
			it.Calls[d.nth].Delegation = settled
		}
	}
	r.refreshFaults(s)
}

// delegated is a call with what came back for it.
type delegated struct {
	item, nth int
	child     string // that a result names
}

// listDelegations lists all calls of a session with their results. Of several calls with one
// id a result is that of the last one before it.
func listDelegations(s *session.Session) []*delegated {
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

// settleDelegation says of a call which session it started, and that it is no delegation where
// nothing speaks for one; and whether that is something else than what is known.
func (r *reader) settleDelegation(s *session.Session, d *delegated, approvals map[string]session.Question) (_ *session.Delegation, differs bool) {
	c := &s.Items[d.item].Calls[d.nth]
	var want session.Delegation
	switch {
	case c.Delegation != nil:
		want = *c.Delegation
		if home := r.storedID(s); want.Child != "" && d.child == "" && (!want.Likely || r.users[home] != nil) { // what said so can be gone, or about another id
			stamped := r.stamps[home][c.ID]
			want.Likely = stamped != ""
			if !want.Likely || !r.counted || r.users[want.Child] != nil || !slices.ContainsFunc(s.Children, func(c *session.Session) bool { return c.ID == want.Child }) {
				want.Child = r.yieldedID(s.User, stamped)
			} // else a split made the session, and takes the stamp along
		}
	case d.child != "":
		want = session.Delegation{Agent: c.Name, Blocking: true, Apart: true}
	default:
		return nil, false
	}
	if a, ok := approvals[c.ID]; ok {
		want.Child, want.Run, want.Likely = r.yieldedID(s.User, a.Child), a.Run, true
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
