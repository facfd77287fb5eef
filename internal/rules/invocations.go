package rules

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// invocation is one run of an agent within a session: what it was asked, and all
// that came of it.
type invocation struct {
	id       string
	items    []int
	asked    session.Digest // the user's text that it begins with, 0 when it begins in another way
	answered session.Digest // the last text of an assistant, 0 when there is none
	of       *invocation    // the one that it goes on with, nil when it is one of its own
}

func (v *invocation) first() int { return v.items[0] }
func (v *invocation) last() int  { return v.items[len(v.items)-1] }

// invocations are those of a session that anything is sent of, in the order in which
// they began. One that only brings results for calls of another one, after an
// approval, is a part of that one.
func invocations(s *session.Session) []*invocation {
	var list []*invocation
	byID := map[string]*invocation{}
	for i := range s.Items {
		it := &s.Items[i]
		if it.Invocation == "" {
			continue
		}
		v := byID[it.Invocation]
		if v == nil {
			v = &invocation{id: it.Invocation}
			byID[v.id], list = v, append(list, v)
		}
		v.add(it, i)
	}
	list = slices.DeleteFunc(list, func(v *invocation) bool {
		return !slices.ContainsFunc(v.items, func(i int) bool { return s.Items[i].OnWire() })
	})
	return resumed(s, list)
}

func (v *invocation) add(it *session.Item, i int) {
	if len(v.items) == 0 && it.Role == session.User && len(it.Results) == 0 {
		v.asked = it.Text
	}
	if it.Role == session.Assistant && it.Text != 0 {
		v.answered = it.Text
	}
	v.items = append(v.items, i)
}

// resumed joins the invocations that go on with another one.
func resumed(s *session.Session, list []*invocation) []*invocation {
	makers := callMakers(s, list)
	var whole []*invocation
	for _, v := range list {
		if v.asked == 0 {
			if of := goesOnWith(s, v, makers); of != nil {
				of.resume(v)
				continue
			}
		}
		whole = append(whole, v)
	}
	return whole
}

// goesOnWith is the one earlier invocation whose calls the first item of v answers,
// nil when there is none.
func goesOnWith(s *session.Session, v *invocation, makers map[string][]*invocation) *invocation {
	for _, r := range s.Items[v.first()].Results {
		if of := makers[r.CallID]; len(of) == 1 && of[0] != v && of[0].first() < v.first() {
			return of[0]
		}
	}
	return nil
}

// resume takes what goes on with an invocation into the one that it began as.
func (v *invocation) resume(later *invocation) {
	for v.of != nil {
		v = v.of
	}
	later.of, v.answered = v, cmp.Or(later.answered, v.answered)
	v.items = append(v.items, later.items...)
	slices.Sort(v.items)
}

// callMakers are the invocations that made a call of an id.
func callMakers(s *session.Session, list []*invocation) map[string][]*invocation {
	makers := map[string][]*invocation{}
	for _, v := range list {
		for _, i := range v.items {
			for _, c := range s.Items[i].Calls {
				if !slices.Contains(makers[c.ID], v) {
					makers[c.ID] = append(makers[c.ID], v)
				}
			}
		}
	}
	return makers
}

// overlapping reports whether two of the invocations ran at the same time: items of
// one stand between those of the other.
func overlapping(list []*invocation) bool {
	last := -1
	for _, v := range list {
		if v.asked == 0 {
			continue
		}
		if v.first() < last {
			return true
		}
		last = max(last, v.last())
	}
	return false
}
