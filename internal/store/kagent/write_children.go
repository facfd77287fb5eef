package kagent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// child is the session that a result named before a change, and the one that it names
// after it.
type child struct {
	was, is       string
	made, given   string // the invocations of the call and of the result
	asked, answer session.Digest
	nth           int // which call with its id of that invocation it answers, from 0 on
}

// children are those of all results of a session that name one.
type children struct {
	byCall map[string][]child
	calls  map[made]int    // how often an invocation makes calls with an id
	known  map[string]bool // the invocations of the session
	differ bool            // a result names another session than before
}

// made are the calls with one id that an invocation makes. Models that number their
// calls give an id again with every turn.
type made struct{ invocation, call string }

// childrenOf are the children of a session; stored are all items before the change, by
// their rows.
func childrenOf(stored map[string]*session.Item, after *session.Session) *children {
	c := &children{byCall: map[string][]child{}, calls: map[made]int{}, known: map[string]bool{}}
	open := map[string]child{} // what is known of the last call with an id
	for i := range after.Items {
		is := &after.Items[i]
		c.known[is.Invocation] = true
		for n := range is.Calls {
			call := &is.Calls[n]
			key := made{is.Invocation, call.ID}
			asks := child{made: is.Invocation, nth: c.calls[key]}
			if call.Delegation != nil {
				asks.asked = call.Delegation.Task
			}
			open[call.ID] = asks
			c.calls[key]++
		}
		row, _, _ := strings.Cut(after.ItemRef(i).Row(), "#results/") // a part of an item was in that one
		for n := range is.Results {
			if r := resultBefore(stored[row], is, n); r != nil && r.Child != "" {
				link := open[r.CallID]
				link.was, link.is, link.given, link.answer = r.Child, is.Results[n].Child, is.Invocation, r.Answer
				c.byCall[r.CallID] = append(c.byCall[r.CallID], link)
				c.differ = c.differ || link.was != link.is
			}
		}
	}
	return c
}

// itemsOf are the items of a tree, by their rows.
func itemsOf(tree *session.Tree) map[string]*session.Item {
	items := map[string]*session.Item{}
	for _, s := range tree.Sessions {
		for i := range s.Items {
			items[s.ItemRef(i).Row()] = &s.Items[i]
		}
	}
	return items
}

// resultBefore is what a result of an item was, nil for one that is new.
func resultBefore(was, is *session.Item, n int) *session.Result {
	switch {
	case was == nil:
		return nil
	case len(was.Results) == len(is.Results):
		return &was.Results[n]
	}
	r := &is.Results[n]
	i := slices.IndexFunc(was.Results, func(o session.Result) bool { return o.CallID == r.CallID && o.Digest == r.Digest })
	if i < 0 {
		return nil
	}
	return &was.Results[i]
}

// of says which session a mention in the data of a run's task names from now on.
func (c *children) of(run *session.Run) func(m *mention) (string, error) {
	return func(m *mention) (string, error) {
		links := only(c.byCall[m.call], func(l *child) bool { return isCalled(l.was, m.was) })
		if m.invocation != "" && c.known[m.invocation] {
			links = only(links, func(l *child) bool { return l.in(m.invocation) })
		} else {
			links = narrowed(links, func(l *child) bool { return l.in(run.Invocation) })
		}
		links = narrowed(links, func(l *child) bool { return m.evidence != 0 && m.evidence == l.evidence(m.answers) })
		if !agree(links) {
			links = only(links, func(l *child) bool {
				return l.nth == m.nth && m.of == c.calls[made{cmp.Or(m.invocation, run.Invocation), m.call}]
			})
			if !agree(links) || len(links) == 0 {
				return "", fmt.Errorf("it names session %s for call %s, which several results answer with different sessions", m.was, m.call)
			}
		}
		if len(links) == 0 || links[0].was == links[0].is {
			return m.was, nil
		}
		return links[0].is, nil
	}
}

// in reports whether an invocation made the call or got the result.
func (l *child) in(invocation string) bool { return l.made == invocation || l.given == invocation }

// evidence is what tells a call, or the answer to it, from others with its id.
func (l *child) evidence(answers bool) session.Digest {
	if answers {
		return l.answer
	}
	return l.asked
}

// only are the links that something holds for.
func only(links []child, holds func(l *child) bool) (some []child) {
	for i := range links {
		if holds(&links[i]) {
			some = append(some, links[i])
		}
	}
	return some
}

// narrowed are these, or all links where it holds for none.
func narrowed(links []child, holds func(l *child) bool) []child {
	if some := only(links, holds); len(some) > 0 {
		return some
	}
	return links
}

// agree reports whether all links name the same session now.
func agree(links []child) bool {
	return !slices.ContainsFunc(links, func(l child) bool { return l.is != links[0].is })
}

// isCalled reports whether a session is the one with a stored id. Those of several
// users that share an id are called by the user, too, or by the row besides.
func isCalled(name, stored string) bool {
	return name == stored || strings.HasSuffix(name, "/"+stored) || strings.Contains(name, "/"+stored+"#")
}
