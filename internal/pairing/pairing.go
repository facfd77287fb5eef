// Package pairing claims results for calls: the algorithm that decides which
// tool_result answers which tool_use, and what is left over. It works on
// occurrences, never on ids alone, because providers reuse ids.
package pairing

import (
	"cmp"
	"slices"
	"sort"

	"github.com/sessctl/sessctl/internal/session"
)

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
	Adjacent Place = iota // in the answer group: the items with results directly behind the call's turn
	Late                  // behind it, with another turn between
	Early                 // before its call
	Inside                // within an assistant item, where no API looks for it
)

// Pair is a call with the result that answers it. They have the same id, unless
// one of them has none and their places alone say that they belong together.
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
	Tail bool // nothing follows but results: it may still be running
}

// Pairing is the outcome for one session.
type Pairing struct {
	Pairs   []Pair
	Missing []Missing
	Orphans []Occurrence // results with an id that no call has
	Extras  []Extra
}

// ClaimResults pairs the calls and results of the items that keep selects; items that
// reach no model are passed over, and so are tools that the provider ran: their
// results are parts of the same message. The order of the steps matters: neighbours
// first protects correct pairs from greedy late matches, the nearest preceding call
// is right for reused ids, and real results go before those that wait for approval,
// and these before placeholders. At last, a lone call and a lone result of which one
// has no id are a pair.
func ClaimResults(items []session.Item, keep func(i int) bool) *Pairing {
	c := newClaimer(items, keep)
	for w := final; w <= placeholder; w++ {
		c.claimNeighbours(w)
		if c.open == 0 && c.free == 0 {
			break
		}
		c.claimPreceding(w)
		c.claimFollowing(w)
	}
	c.claimUnnamed()
	return c.buildPairing()
}

// PreferLast gives each call the last of its results of those that are worth as much, and
// leaves the others over.
func (p *Pairing) PreferLast() {
	for i := range p.Extras {
		e := &p.Extras[i]
		pair := &p.Pairs[e.Pair]
		if e.Placeholder || !pair.Result.Before(e.Result) {
			continue
		}
		pair.Result, e.Result, pair.Place = e.Result, pair.Result, Late
		if pair.Result.Before(pair.Call) {
			pair.Place = Early
		}
		e.Placeholder, e.Real = e.Real, false
	}
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

func (c *claimer) claimResult(k, r int, place Place) {
	c.calls[k].result, c.calls[k].place = r, place
	c.results[r].taken = true
	c.open--
	c.free--
}

// claimNeighbours gives each call the first free result with its id in its answer
// group: the run of items with results directly behind its turn.
func (c *claimer) claimNeighbours(w worth) {
	first, turn, end := 0, -1, 0 // the group is turns turn+1 to end; its results start at first
	for k := range c.calls {
		if c.calls[k].turn != turn {
			turn = c.calls[k].turn
			end = c.groupEnd(turn)
			for first < len(c.results) && c.results[first].turn <= turn {
				first++
			}
		}
		if c.calls[k].result >= 0 {
			continue
		}
		for first < len(c.results) && !c.isWanted(first, w) {
			first++
		}
		for r := first; r < len(c.results) && c.results[r].turn <= end; r++ {
			if c.isWanted(r, w) && c.results[r].id == c.calls[k].id {
				c.claimResult(k, r, Adjacent)
				break
			}
		}
	}
}

// turnItem is the item that a turn is.
func (c *claimer) turnItem(turn int) *session.Item { return &c.items[c.wire[turn]] }

// groupEnd is the last turn of the answer group of a turn, itself when nothing
// answers it.
func (c *claimer) groupEnd(turn int) int {
	for turn+1 < len(c.wire) && c.turnItem(turn+1).IsAnswer() {
		turn++
		if EndsGroup(c.turnItem(turn)) {
			break
		}
	}
	return turn
}

// isInside reports whether a result stands within an assistant item.
func (c *claimer) isInside(r *result) bool { return c.turnItem(r.turn).Role == session.Assistant }

// standsBefore reports whether a call stands before a result; a call of the message
// that a result stands in does.
func (c *claimer) standsBefore(k int, r *result) bool {
	return c.calls[k].turn < r.turn || c.calls[k].turn == r.turn && c.isInside(r)
}

// placeOf is the place of a result outside the answer group of its call.
func (c *claimer) placeOf(k int, r *result) Place {
	switch {
	case c.isInside(r):
		return Inside
	case c.calls[k].turn < r.turn:
		return Late
	}
	return Early
}

// claimPreceding gives each free result to the nearest open call with its id before
// it; of several in one turn to the first, so that they get theirs in order.
func (c *claimer) claimPreceding(w worth) {
	byID := map[string]*waiting{}
	for r := range c.results {
		if !c.isWanted(r, w) {
			continue
		}
		res := &c.results[r]
		calls := byID[res.id]
		if calls == nil {
			calls = &waiting{ahead: c.callsByID(res.id)}
			byID[res.id] = calls
		}
		c.letWait(calls, res)
		if last := len(calls.open) - 1; last >= 0 {
			k := calls.open[last]
			calls.open = calls.open[:last]
			c.claimResult(k, r, c.placeOf(k, res))
		}
	}
}

// waiting are the calls with one id, seen from a result on its way through the
// session.
type waiting struct {
	open  []int // before it, without a result: the last one is the next to get one
	ahead []int // not before it
}

// letWait lets the calls that stand before a result wait, turn by turn: the last
// turn comes first, and its first call before its others.
func (c *claimer) letWait(calls *waiting, r *result) {
	for len(calls.ahead) > 0 && c.standsBefore(calls.ahead[0], r) {
		n, turn := 1, c.calls[calls.ahead[0]].turn
		for n < len(calls.ahead) && c.calls[calls.ahead[n]].turn == turn {
			n++
		}
		for _, k := range slices.Backward(calls.ahead[:n]) {
			if c.calls[k].result < 0 {
				calls.open = append(calls.open, k)
			}
		}
		calls.ahead = calls.ahead[n:]
	}
}

// claimFollowing gives each free result to the next open call behind it, if its id
// is used by one call only.
func (c *claimer) claimFollowing(w worth) {
	for r := range c.results {
		if !c.isWanted(r, w) {
			continue
		}
		if list := c.callsByID(c.results[r].id); len(list) == 1 && c.calls[list[0]].result < 0 {
			c.claimResult(list[0], r, c.placeOf(list[0], &c.results[r]))
		}
	}
}

// claimUnnamed joins the only call of a turn with the only result of its answer group
// where one of them has no id, and the other's id is nobody else's.
func (c *claimer) claimUnnamed() {
	if c.open == 0 || c.free == 0 {
		return
	}
	for k := range c.calls {
		cl := &c.calls[k]
		alone := (k == 0 || c.calls[k-1].turn != cl.turn) && (k+1 == len(c.calls) || c.calls[k+1].turn != cl.turn)
		if !alone || cl.result >= 0 {
			continue
		}
		r := c.onlyResult(cl.turn)
		if r < 0 || c.results[r].taken {
			continue
		}
		if id := c.results[r].id; id == "" || cl.id == "" && len(c.callsByID(id)) == 0 {
			c.claimResult(k, r, Adjacent)
		}
	}
}

// onlyResult is the one result of a turn's answer group, -1 when it holds none
// or several.
func (c *claimer) onlyResult(turn int) int {
	first, _ := slices.BinarySearchFunc(c.results, turn+1, func(r result, turn int) int { return cmp.Compare(r.turn, turn) })
	within := func(r int) bool { return r < len(c.results) && c.results[r].turn <= c.groupEnd(turn) }
	if !within(first) || within(first+1) {
		return -1
	}
	return first
}

func (c *claimer) isWanted(r int, w worth) bool {
	return !c.results[r].taken && c.results[r].worth == w
}

// callsByID lists the calls with an id, in order; the index is made when the first
// result is out of place.
func (c *claimer) callsByID(id string) []int {
	if c.ids == nil {
		c.ids = make(map[string][]int, len(c.calls))
		for k := range c.calls {
			c.ids[c.calls[k].id] = append(c.ids[c.calls[k].id], k)
		}
	}
	return c.ids[id]
}

func (c *claimer) buildPairing() *Pairing {
	p := &Pairing{}
	tail := c.tailTurn()
	pairOf := make([]int, len(c.calls))
	for k := range c.calls {
		cl := &c.calls[k]
		if cl.result < 0 {
			p.Missing = append(p.Missing, Missing{Call: cl.at, Tail: cl.turn >= tail})
			continue
		}
		pairOf[k] = len(p.Pairs)
		p.Pairs = append(p.Pairs, Pair{Call: cl.at, Result: c.results[cl.result].at, Place: cl.place})
	}
	if c.free == 0 {
		return p
	}
	answered := c.answeredCalls()
	for r := range c.results {
		if res := &c.results[r]; !res.taken {
			k, known := c.repeatedCall(answered[res.id], res)
			if !known {
				p.Orphans = append(p.Orphans, res.at)
				continue
			}
			kept := &c.results[c.calls[k].result]
			p.Extras = append(p.Extras, Extra{
				Result: res.at, Pair: pairOf[k],
				Same:        c.isSameResult(res.at, kept.at) || kept.worth == placeholder && res.worth == placeholder,
				Placeholder: kept.worth < res.worth,
				Real:        kept.worth > res.worth,
			})
		}
	}
	return p
}

// answeredCalls lists the answered calls by their id, in order.
func (c *claimer) answeredCalls() map[string][]int {
	byID := map[string][]int{}
	for k := range c.calls {
		if c.calls[k].result >= 0 {
			byID[c.calls[k].id] = append(byID[c.calls[k].id], k)
		}
	}
	return byID
}

// repeatedCall is the call that a left-over result repeats, of the answered ones with
// its id: the nearest one before it, else the first behind it.
func (c *claimer) repeatedCall(answered []int, res *result) (k int, known bool) {
	if len(answered) == 0 {
		return 0, false
	}
	before := sort.Search(len(answered), func(n int) bool { return !c.standsBefore(answered[n], res) })
	return answered[max(before-1, 0)], true
}

func (c *claimer) isSameResult(a, b Occurrence) bool {
	ra, rb := &c.items[a.Item].Results[a.Nth], &c.items[b.Item].Results[b.Nth]
	return ra.Digest == rb.Digest && ra.IsError == rb.IsError
}

// tailTurn is the last turn that is more than results: only results follow it.
func (c *claimer) tailTurn() int {
	for t := len(c.wire) - 1; t >= 0; t-- {
		if it := c.turnItem(t); !it.IsAnswer() || EndsGroup(it) {
			return t
		}
	}
	return 0
}
