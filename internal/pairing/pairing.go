// Package pairing claims results for calls: the algorithm that decides which
// tool_result answers which tool_use, and what is left over. It works on
// occurrences, never on ids alone, because providers reuse ids.
package pairing

import "github.com/sessctl/sessctl/internal/session"

// Occurrence is one call or one result: the item's index in the session and
// the index among the item's calls or results.
type Occurrence struct{ Item, Nth int }

// Before orders occurrences as they are stored.
func (o Occurrence) Before(p Occurrence) bool {
	return o.Item < p.Item || o.Item == p.Item && o.Nth < p.Nth
}

// Place is where a result stands, seen from its call.
type Place uint8

// The places.
const (
	Adjacent Place = iota // in the run of tool items directly behind the call's turn
	Late                  // behind it, with another turn between
	Early                 // before its call
)

// Pair is a call with the result that answers it.
type Pair struct {
	Call, Result Occurrence
	Place        Place
}

// Extra is a result whose call is already answered.
type Extra struct {
	Result      Occurrence
	Pair        int  // index into Pairs of the pair it is too much for
	Same        bool // it says the same as the pair's result; two placeholders always do
	Placeholder bool // it is a stand-in, or waits for approval, and the pair's result is better
	Real        bool // it is real, and the pair's result is only a stand-in
}

// Missing is a call without a result.
type Missing struct {
	Call Occurrence
	Tail bool // nothing follows but results of its own turn: it may still be running
}

// Pairing is the outcome for one session.
type Pairing struct {
	Pairs   []Pair
	Missing []Missing
	Orphans []Occurrence // results with an id that no call has
	Extras  []Extra
}

// Clean reports whether every call has its one result directly behind it.
func (p *Pairing) Clean() bool {
	if len(p.Missing)+len(p.Orphans)+len(p.Extras) > 0 {
		return false
	}
	for i := range p.Pairs {
		if p.Pairs[i].Place != Adjacent {
			return false
		}
	}
	return true
}

// Claim pairs the calls and results of the items that keep selects; items that
// reach no model are passed over. The steps and their order are those of
// provider-rules.md 3.2: neighbours first protects correct pairs from greedy
// late matches, the nearest preceding call is right for reused ids, and real
// results go before those that wait for approval, and these before placeholders.
func Claim(items []session.Item, keep func(i int) bool) *Pairing {
	c := newClaimer(items, keep)
	for w := final; w <= placeholder; w++ {
		c.neighbours(w)
		if c.open == 0 && c.free == 0 {
			break
		}
		c.preceding(w)
		c.following(w)
	}
	return c.outcome()
}

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
			c.calls = append(c.calls, call{at: Occurrence{i, n}, id: it.Calls[n].ID, turn: turn, result: -1})
		}
		for n := range it.Results {
			r := &it.Results[n]
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

// neighbours gives each call the first free result with its id in its answer
// group: the run of tool items directly behind its turn.
func (c *claimer) neighbours(w worth) {
	first, turn, end := 0, -1, 0 // the group is turns turn+1 to end; its results start at first
	for k := range c.calls {
		if c.calls[k].turn != turn {
			turn = c.calls[k].turn
			for end = turn; end+1 < len(c.wire) && c.isTool(end+1); end++ {
			}
			for first < len(c.results) && c.results[first].turn <= turn {
				first++
			}
		}
		if c.calls[k].result >= 0 {
			continue
		}
		for r := first; r < len(c.results) && c.results[r].turn <= end; r++ {
			if c.wants(r, w) && c.results[r].id == c.calls[k].id {
				c.claim(k, r, Adjacent)
				break
			}
		}
	}
}

func (c *claimer) isTool(turn int) bool { return c.items[c.wire[turn]].Role == session.Tool }

// preceding gives each free result to the nearest open call with its id before it.
func (c *claimer) preceding(w worth) {
	for r := range c.results {
		if !c.wants(r, w) {
			continue
		}
		list := c.byID(c.results[r].id)
		for n := len(list) - 1; n >= 0; n-- {
			if k := list[n]; c.calls[k].result < 0 && c.calls[k].turn < c.results[r].turn {
				c.claim(k, r, Late)
				break
			}
		}
	}
}

// following gives each free result to the next open call behind it, if its id
// is used by one call only.
func (c *claimer) following(w worth) {
	for r := range c.results {
		if !c.wants(r, w) {
			continue
		}
		if list := c.byID(c.results[r].id); len(list) == 1 && c.calls[list[0]].result < 0 {
			c.claim(list[0], r, Early)
		}
	}
}

func (c *claimer) wants(r int, w worth) bool {
	return !c.results[r].taken && c.results[r].worth == w
}

// byID lists the calls with an id, in order; the index is made when the first
// result is out of place.
func (c *claimer) byID(id string) []int {
	if c.ids == nil {
		c.ids = make(map[string][]int, len(c.calls))
		for k := range c.calls {
			c.ids[c.calls[k].id] = append(c.ids[c.calls[k].id], k)
		}
	}
	return c.ids[id]
}

func (c *claimer) outcome() *Pairing {
	p := &Pairing{}
	pairOf := make([]int, len(c.calls))
	for k := range c.calls {
		cl := &c.calls[k]
		if cl.result < 0 {
			p.Missing = append(p.Missing, Missing{Call: cl.at, Tail: c.atTail(cl)})
			continue
		}
		pairOf[k] = len(p.Pairs)
		p.Pairs = append(p.Pairs, Pair{Call: cl.at, Result: c.results[cl.result].at, Place: cl.place})
	}
	if c.free == 0 {
		return p
	}
	for r := range c.results {
		if res := &c.results[r]; !res.taken {
			k, known := c.owner(res)
			if !known {
				p.Orphans = append(p.Orphans, res.at)
				continue
			}
			kept := &c.results[c.calls[k].result]
			p.Extras = append(p.Extras, Extra{
				Result: res.at, Pair: pairOf[k],
				Same:        c.same(res.at, kept.at) || kept.worth == placeholder && res.worth == placeholder,
				Placeholder: kept.worth < res.worth,
				Real:        kept.worth > res.worth,
			})
		}
	}
	return p
}

// owner is the answered call that a left-over result repeats: the nearest one
// before it with its id, else the first behind it.
func (c *claimer) owner(res *result) (k int, known bool) {
	for _, n := range c.byID(res.id) {
		if c.calls[n].result < 0 {
			continue
		}
		if !known || c.calls[n].turn < res.turn {
			k, known = n, true
		}
	}
	return k, known
}

func (c *claimer) same(a, b Occurrence) bool {
	ra, rb := &c.items[a.Item].Results[a.Nth], &c.items[b.Item].Results[b.Nth]
	return ra.Digest == rb.Digest && ra.IsError == rb.IsError
}

// atTail reports whether only tool items follow the call's turn.
func (c *claimer) atTail(cl *call) bool {
	for t := cl.turn + 1; t < len(c.wire); t++ {
		if !c.isTool(t) {
			return false
		}
	}
	return true
}
