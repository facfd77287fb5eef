package view

import (
	"slices"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// wire is what is wrong with the calls and results of a request, by item. Which
// result is the right one is not asked here: a placeholder answers its call as
// well as the real result does. What a provider's own server ran is not counted,
// since its result is a part of the same message.
type wire struct {
	unanswered map[int][]int     // calls without a result
	surplus    map[int][]surplus // results without an open call
}

type surplus struct {
	nth      int
	repeated bool // its call is there, and answered already
}

func newWire() *wire { return &wire{unanswered: map[int][]int{}, surplus: map[int][]surplus{}} }

// checkWire reads the items of a request for a provider that wants every call
// answered by one result in the message behind it: the calls of a message stay
// open until the next message that is no result. Only items that are numbered
// messages count; system items join the instructions.
func checkWire(s *rules.Subject, numbers []int) *wire {
	w := newWire()
	caller, open := -1, []int(nil) // the item that made the calls, and those without a result
	for i := range s.Items {
		it := &s.Items[i]
		if numbers[i] < 0 {
			continue
		}
		if !it.Answers() {
			w.leave(caller, open)
			caller, open = i, ownCalls(it)
			continue
		}
		for n := range it.Results {
			open = w.answer(s, caller, open, i, n)
		}
		if pairing.EndsGroup(it) {
			w.leave(caller, open)
			caller, open = -1, nil
		}
	}
	w.leave(caller, open)
	return w
}

// checkIDs reads the items of a request for a provider that pairs calls and
// results by id alone, wherever they stand: a result answers the last open call
// before it that has its id.
func checkIDs(s *rules.Subject, numbers []int) *wire {
	w := newWire()
	type call struct{ item, nth int }
	open, known := map[string][]call{}, map[string]bool{}
	for i := range s.Items {
		it := &s.Items[i]
		if numbers[i] < 0 {
			continue
		}
		for _, n := range ownCalls(it) {
			id := it.Calls[n].ID
			open[id], known[id] = append(open[id], call{i, n}), true
		}
		for n := range it.Results {
			id := it.Results[n].CallID
			switch list := open[id]; {
			case it.Results[n].Server:
			case len(list) > 0:
				open[id] = list[:len(list)-1]
			default:
				w.surplus[i] = append(w.surplus[i], surplus{n, known[id]})
			}
		}
	}
	for _, list := range open {
		for _, c := range list {
			w.unanswered[c.item] = append(w.unanswered[c.item], c.nth)
		}
	}
	for _, calls := range w.unanswered {
		slices.Sort(calls)
	}
	return w
}

// ownCalls are the calls of an item that its client has to answer.
func ownCalls(it *session.Item) []int {
	var list []int
	for n := range it.Calls {
		if !it.Calls[n].Server {
			list = append(list, n)
		}
	}
	return list
}

func (w *wire) leave(caller int, open []int) {
	if len(open) > 0 {
		w.unanswered[caller] = open
	}
}

// answer takes from the open calls the one that the result answers.
func (w *wire) answer(s *rules.Subject, caller int, open []int, item, nth int) []int {
	result := &s.Items[item].Results[nth]
	if result.Server {
		return open
	}
	if n := slices.IndexFunc(open, func(n int) bool { return s.Items[caller].Calls[n].ID == result.CallID }); n >= 0 {
		return slices.Delete(open, n, n+1)
	}
	repeated := caller >= 0 && slices.ContainsFunc(s.Items[caller].Calls, func(c session.Call) bool { return c.ID == result.CallID })
	w.surplus[item] = append(w.surplus[item], surplus{nth, repeated})
	return open
}
