package replay

import (
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/session"
)

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

// itemDelegations lists the delegation calls of the item at index i.
func itemDelegations(s *session.Session, i int) []*Delegation {
	var list []*Delegation
	for n := range s.Items[i].Calls {
		if s.Items[i].Calls[n].Delegation != nil {
			list = append(list, &Delegation{Session: s, Item: i, Nth: n, Result: -1, Final: -1, Reference: -1, End: len(s.Items)})
		}
	}
	return list
}

// leaksIntoCaller reports whether items of the child can stand in its caller's session, where
// they take the place of the caller's own.
func leaksIntoCaller(d *session.Delegation) bool { return d.Blocking && !d.Apart }

// openWindow opens a window for those of an item's delegations that leak, nil when
// none does.
func openWindow(opener int, list []*Delegation) *window {
	w := &window{opener: opener}
	for _, d := range list {
		if leaksIntoCaller(d.Call().Delegation) {
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

// recordLeak records an item of the window as a child's.
func (w *window) recordLeak(rs *Session, i int) {
	rs.Steps[i] = Step{Depth: 1, Action: Skip}
	w.leaked = append(w.leaked, i)
	for _, c := range rs.Session.Items[i].Calls {
		w.made[c.ID]++
		if c.Delegation != nil {
			w.heirs[heir{c.ID, c.Delegation.Agent}] = true
		}
	}
}

// noteResults records which of the calls of a batch the tool item at index i answers.
func noteResults(batch []*Delegation, it *session.Item, i int) {
	for _, d := range batch {
		if d.Result < 0 && it.AnswersCall(d.Call().ID) && !claimedBefore(batch, d, i) {
			d.Result, d.Final = i, i
		}
	}
}

// countUnanswered counts the calls of the window without a result so far.
func (w *window) countUnanswered() int {
	return lists.CountIf(w.calls, func(d *Delegation) bool { return d.Result < 0 })
}

// isOver reports whether every child that the window still waits for is complete.
func (w *window) isOver() bool { return w.complete >= w.countUnanswered() }

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
