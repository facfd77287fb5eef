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
// reach no model are passed over, and so are tools that the provider ran: their
// results are parts of the same message. The steps and their order are those of
// provider-rules.md 3.2: neighbours first protects correct pairs from greedy
// late matches, the nearest preceding call is right for reused ids, and real
// results go before those that wait for approval, and these before placeholders.
// At last, a lone call and a lone result of which one has no id are a pair.
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
	c.unnamed()
	return c.outcome()
}
