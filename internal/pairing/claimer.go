package pairing

import (
	"github.com/sessctl/sessctl/internal/session"
)

// worth orders results: the better one wins a call.
type worth uint8

const (
	final       worth = iota // what the tool answered
	pending                  // recorded as still running or waiting for approval
	placeholder              // a stand-in for a result that its writer did not have
)

func worthOf(r *session.Result) worth {
	switch {
	case r.Synthetic:
		return placeholder
	case r.Pending:
		return pending
	}
	return final
}

// EndsGroup reports whether an item that answers ends the answer group: with the
// user's own text in it, what follows stands behind another turn.
func EndsGroup(it *session.Item) bool { return it.Role == session.User && it.Text != 0 }

type call struct {
	at     Occurrence
	id     string
	turn   int // index into wire of its item
	result int // index into results, -1 while open
	place  Place
}

type result struct {
	at    Occurrence
	id    string
	turn  int
	worth worth
	taken bool
}

type claimer struct {
	items   []session.Item
	wire    []int // indexes of the items that a request holds
	calls   []call
	results []result
	open    int // calls without a result
	free    int // results without a call
	ids     map[string][]int
}

func newClaimer(items []session.Item, keep func(i int) bool) *claimer {
	calls, results := 0, 0
	for i := range items {
		calls += len(items[i].Calls)
		results += len(items[i].Results)
	}
	c := &claimer{
		items: items, wire: make([]int, 0, len(items)), calls: make([]call, 0, calls), results: make([]result, 0, results),
	}
	for i := range items {
		it := &items[i]
		if !it.OnWire() || !keep(i) {
			continue
		}
		turn := len(c.wire)
		c.wire = append(c.wire, i)
		for n := range it.Calls {
			if it.Calls[n].Server {
				continue
			}
			c.calls = append(c.calls, call{at: Occurrence{i, n}, id: it.Calls[n].ID, turn: turn, result: -1})
		}
		for n := range it.Results {
			r := &it.Results[n]
			if r.Server {
				continue
			}
			c.results = append(c.results, result{at: Occurrence{i, n}, id: r.CallID, turn: turn, worth: worthOf(r)})
		}
	}
	c.open, c.free = len(c.calls), len(c.results)
	return c
}

func (c *claimer) claim(k, r int, place Place) {
	c.calls[k].result, c.calls[k].place = r, place
	c.results[r].taken = true
	c.open--
	c.free--
}
