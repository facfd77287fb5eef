package replay

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// isFromLeaked reports whether the tool item at index i answers nothing but calls
// of children, and notes which calls it answers.
func (w *window) isFromLeaked(rs *Session, i int) bool {
	results := rs.Session.Items[i].Results
	leaked := len(results) > 0
	for n := range results {
		c := &claim{w: w, rs: rs, i: i, id: results[n].CallID, it: &rs.Session.Items[i], opener: &rs.Session.Items[w.opener]}
		leaked = leaked && c.isChilds()
	}
	for n := range results {
		switch id := results[n].CallID; {
		case !leaked:
			w.asked[id]--
		case w.asked[id] > 0 && w.made[id] > 0:
			w.made[id]--
		}
	}
	return leaked
}

// claim is the question whose call a result inside a window answers: the
// opener's or that of a child. An id may be both, because providers repeat ids.
// Two habits of runtimes that leak help: they run the calls of a batch one after
// another, and when a child says nothing at its end, the result of its call takes
// over the row that it began, with its name (docs/stores/docker-agent.md#which-versions-leak).
type claim struct {
	w      *window
	rs     *Session
	i      int // the tool item
	id     string
	it     *session.Item
	opener *session.Item
}

// isChilds goes from certain evidence to likely one. Where nothing tells, the
// last result of the id is the opener's.
func (c *claim) isChilds() bool {
	foreign := c.it.Agent() != "" && c.it.Agent() != c.opener.Agent()
	open, made := c.w.asked[c.id] > 0, c.w.made[c.id] > 0
	switch {
	case !open:
		return made || foreign && (!c.isAwaited() || hasCopy(c.nextChild(), c.it))
	case !foreign:
		return made && c.it.Agent() == "" && c.answeredAgain(c.waitsBesides())
	case !c.canTakeOver():
		return true
	case hasCopy(c.nextChild(), c.it):
		return c.answeredAgain(false)
	case c.endsChild():
		return false
	case c.isHeirOfLeaked() && !c.callerSpeaksNext():
		return true
	}
	return c.answeredAgain(c.waitsBesides())
}

// isAwaited reports whether the last own call with the id, made before the result, has
// no result before it. Such a result has the name of who called, because only those of
// the window's calls can take over a child's row, or it is older than the window.
func (c *claim) isAwaited() bool {
	late, open := c.it.Time.Before(c.opener.Time), false
	for j := range c.i {
		it := &c.rs.Session.Items[j]
		switch {
		case c.rs.Steps[j].Action == Skip:
		case it.MakesCall(c.id):
			open = late || it.Agent() == c.it.Agent()
		case it.AnswersCall(c.id):
			open = false
		}
	}
	return open
}

// canTakeOver reports whether the opener's result can carry a child's name: its
// call delegates, and all calls before it have their results.
func (c *claim) canTakeOver() bool {
	for n := range c.opener.Calls {
		switch call := &c.opener.Calls[n]; {
		case call.ID == c.id:
			return call.Delegation != nil
		case c.w.asked[call.ID] > 0:
			return false
		}
	}
	return false
}

// nextChild is the child whose sub-session item comes next, before the caller's
// next result: the one that ran at the item, since it gets its item when it ends.
func (c *claim) nextChild() *session.Session {
	for j := c.i + 1; j < len(c.rs.Session.Items); j++ {
		it := &c.rs.Session.Items[j]
		switch {
		case it.Role == session.Tool && it.Agent() == c.opener.Agent():
			return nil
		case it.Kind == session.SubSession:
			n := slices.IndexFunc(c.rs.Session.Children, func(s *session.Session) bool { return s.ID == it.Child() })
			if n < 0 {
				return nil
			}
			return c.rs.Session.Children[n]
		}
	}
	return nil
}

// hasCopy reports whether the session or one below it has a copy of the item that its
// time does not rule out.
func hasCopy(s *session.Session, it *session.Item) bool {
	if s == nil {
		return false
	}
	return slices.ContainsFunc(s.Items, func(other session.Item) bool {
		return other.Meaning == it.Meaning && (other.Time.Equal(it.Time) || other.Time.IsZero() || it.Time.IsZero())
	}) || slices.ContainsFunc(s.Children, func(child *session.Session) bool { return hasCopy(child, it) })
}

// endsChild reports whether the sub-session item of a child follows at once: a
// row that the child began and that its caller's result took over is its last.
func (c *claim) endsChild() bool {
	next := c.i + 1
	return next < len(c.rs.Session.Items) && c.rs.Session.Items[next].Kind == session.SubSession
}

// isHeirOfLeaked reports whether the result carries the name of an agent that a
// leaked call of the id asked, and no call of the opener.
func (c *claim) isHeirOfLeaked() bool {
	return c.w.heirs[heir{c.id, c.it.Agent()}] && !slices.ContainsFunc(c.opener.Calls, func(call session.Call) bool {
		return call.ID == c.id && call.Delegation != nil && call.Delegation.Agent == c.it.Agent()
	})
}

// callerSpeaksNext reports whether the opener's agent goes on before the user speaks.
func (c *claim) callerSpeaksNext() bool {
	for j := c.i + 1; j < len(c.rs.Session.Items); j++ {
		switch it := &c.rs.Session.Items[j]; {
		case it.Role == session.User && !it.Flags.Has(session.Implicit):
			return false
		case c.goesOn(it):
			return true
		}
	}
	return false
}

// goesOn reports whether the opener's agent says the item when the call of the id has
// its result: an answer, or the result of a later call of the batch.
func (c *claim) goesOn(it *session.Item) bool {
	n := slices.IndexFunc(c.opener.Calls, func(call session.Call) bool { return call.ID == c.id })
	return it.Agent() == c.opener.Agent() && (it.Role == session.Assistant ||
		slices.ContainsFunc(c.opener.Calls[n+1:], func(call session.Call) bool { return call.ID != c.id && it.AnswersCall(call.ID) }))
}

// waitsBesides reports whether the window waits for another call than that of
// the id. If not, a result of it closes the window, and further results of the id
// can only stand in the window if this one is a child's.
func (c *claim) waitsBesides() bool {
	return slices.ContainsFunc(c.w.calls, func(d *Delegation) bool { return d.Result < 0 && d.Call().ID != c.id })
}

// answeredAgain reports whether, before the opener's agent goes on or the user speaks, a
// further result of the call id stands; with asks only one that no call in between
// asked for.
func (c *claim) answeredAgain(asks bool) bool {
	asked := 0
	for j := c.i + 1; j < len(c.rs.Session.Items); j++ {
		it := &c.rs.Session.Items[j]
		switch {
		case it.Role == session.User && !it.Flags.Has(session.Implicit):
			return false
		case c.goesOn(it) && it.Agent() != "":
			return false
		case asks && it.MakesCall(c.id):
			asked++
		case it.AnswersCall(c.id) && asked == 0:
			return true
		case it.AnswersCall(c.id):
			asked--
		}
	}
	return false
}
