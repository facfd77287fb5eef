package rules

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/session"
)

// Invocation is one run of an agent within a session: what it was asked, and all
// that came of it.
type Invocation struct {
	ID       string
	Items    []int
	Asked    session.Digest // the user's text that it begins with, 0 when it begins in another way
	Answered session.Digest // the last text of an assistant, 0 when there is none
	of       *Invocation    // the one that it goes on with, nil when it is one of its own
}

// First is the index of its first item.
func (v *Invocation) First() int { return v.Items[0] }

// Last is the index of its last item.
func (v *Invocation) Last() int { return v.Items[len(v.Items)-1] }

// ListInvocations lists those of a session that anything is sent of, in the order in which
// they began. One that only brings results for calls of another one, after an
// approval, is a part of that one.
func ListInvocations(s *session.Session) []*Invocation {
	var list []*Invocation
	byID := map[string]*Invocation{}
	for i := range s.Items {
		it := &s.Items[i]
		if it.Invocation() == "" {
			continue
		}
		v := byID[it.Invocation()]
		if v == nil {
			v = &Invocation{ID: it.Invocation()}
			byID[v.ID], list = v, append(list, v)
		}
		v.addItem(it, i)
	}
	list = slices.DeleteFunc(list, func(v *Invocation) bool {
		return !slices.ContainsFunc(v.Items, func(i int) bool { return s.Items[i].OnWire() })
	})
	return joinResumed(s, list)
}

func (v *Invocation) addItem(it *session.Item, i int) {
	if len(v.Items) == 0 && it.Role == session.User && len(it.Results) == 0 {
		v.Asked = it.Text
	}
	if it.Role == session.Assistant && it.Text != 0 {
		v.Answered = it.Text
	}
	v.Items = append(v.Items, i)
}

// joinResumed joins the invocations that go on with another one.
func joinResumed(s *session.Session, list []*Invocation) []*Invocation {
	makers := CallMakers(s, list)
	var whole []*Invocation
	for _, v := range list {
		if v.Asked == 0 {
			if of := goesOnWith(s, v, makers); of != nil {
				of.joinLater(v)
				continue
			}
		}
		whole = append(whole, v)
	}
	return whole
}

// goesOnWith is the one earlier invocation whose calls the first item of v answers,
// nil when there is none.
func goesOnWith(s *session.Session, v *Invocation, makers map[string][]*Invocation) *Invocation {
	for _, r := range s.Items[v.First()].Results {
		if of := makers[r.CallID]; len(of) == 1 && of[0] != v && of[0].First() < v.First() {
			return of[0]
		}
	}
	return nil
}

// joinLater takes what goes on with an invocation into the one that it began as.
func (v *Invocation) joinLater(later *Invocation) {
	for v.of != nil {
		v = v.of
	}
	later.of, v.Answered = v, cmp.Or(later.Answered, v.Answered)
	v.Items = append(v.Items, later.Items...)
	slices.Sort(v.Items)
}

// CallMakers are the invocations that made a call of an id.
func CallMakers(s *session.Session, list []*Invocation) map[string][]*Invocation {
	makers := map[string][]*Invocation{}
	for _, v := range list {
		for _, i := range v.Items {
			for _, c := range s.Items[i].Calls {
				makers[c.ID] = lists.AppendNew(makers[c.ID], v)
			}
		}
	}
	return makers
}

// HasOverlap reports whether two of the invocations ran at the same time: items of
// one stand between those of the other.
func HasOverlap(list []*Invocation) bool {
	last := -1
	for _, v := range list {
		if v.Asked == 0 {
			continue
		}
		if v.First() < last {
			return true
		}
		last = max(last, v.Last())
	}
	return false
}
