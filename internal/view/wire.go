package view

import (
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// wire is what is wrong with a request for a provider that wants every call
// answered by one result in the message behind it, as Anthropic's Messages API
// does, by item. Which result is the right one is not asked here: a placeholder
// answers its call as well as the real result does.
type wire struct {
	unanswered map[int][]int     // calls without a result
	surplus    map[int][]surplus // results without an open call
}

type surplus struct {
	nth      int
	repeated bool // its call is in the message before, and answered already
}

// checkWire reads the items of the request once: the calls of a message stay
// open until the next message that is no result. Only items that are numbered
// messages count; system items join the instructions.
func checkWire(s *rules.Subject, numbers []int) *wire {
	w := &wire{unanswered: map[int][]int{}, surplus: map[int][]surplus{}}
	caller, open := -1, []int(nil) // the item that made the calls, and those without a result
	for i := range s.Items {
		it := &s.Items[i]
		switch {
		case numbers[i] < 0:
		case it.Role == session.Tool:
			for n := range it.Results {
				open = w.answer(s, caller, open, i, n)
			}
		default:
			w.leave(caller, open)
			caller, open = i, make([]int, len(it.Calls))
			for n := range open {
				open[n] = n
			}
		}
	}
	w.leave(caller, open)
	return w
}

func (w *wire) leave(caller int, open []int) {
	if len(open) > 0 {
		w.unanswered[caller] = open
	}
}

// answer takes from the open calls the one that the result answers.
func (w *wire) answer(s *rules.Subject, caller int, open []int, item, nth int) []int {
	id := s.Items[item].Results[nth].CallID
	if n := slices.IndexFunc(open, func(n int) bool { return s.Items[caller].Calls[n].ID == id }); n >= 0 {
		return slices.Delete(open, n, n+1)
	}
	repeated := caller >= 0 && slices.ContainsFunc(s.Items[caller].Calls, func(c session.Call) bool { return c.ID == id })
	w.surplus[item] = append(w.surplus[item], surplus{nth, repeated})
	return open
}
