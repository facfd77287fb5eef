package pairing

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// neighbours gives each call the first free result with its id in its answer
// group: the run of items with results directly behind its turn.
func (c *claimer) neighbours(w worth) {
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
		for first < len(c.results) && !c.wants(first, w) {
			first++
		}
		for r := first; r < len(c.results) && c.results[r].turn <= end; r++ {
			if c.wants(r, w) && c.results[r].id == c.calls[k].id {
				c.claim(k, r, Adjacent)
				break
			}
		}
	}
}

// item is the item that a turn is.
func (c *claimer) item(turn int) *session.Item { return &c.items[c.wire[turn]] }

// groupEnd is the last turn of the answer group of a turn, itself when nothing
// answers it.
func (c *claimer) groupEnd(turn int) int {
	for turn+1 < len(c.wire) && c.item(turn+1).Answers() {
		turn++
		if EndsGroup(c.item(turn)) {
			break
		}
	}
	return turn
}

// inside reports whether a result stands within an assistant item.
func (c *claimer) inside(r *result) bool { return c.item(r.turn).Role == session.Assistant }

// precedes reports whether a call stands before a result; a call of the message
// that a result stands in does.
func (c *claimer) precedes(k int, r *result) bool {
	return c.calls[k].turn < r.turn || c.calls[k].turn == r.turn && c.inside(r)
}

// placeOf is the place of a result outside the answer group of its call.
func (c *claimer) placeOf(k int, r *result) Place {
	switch {
	case c.inside(r):
		return Inside
	case c.calls[k].turn < r.turn:
		return Late
	}
	return Early
}

// preceding gives each free result to the nearest open call with its id before
// it; of several in one turn to the first, so that they get theirs in order.
func (c *claimer) preceding(w worth) {
	byID := map[string]*waiting{}
	for r := range c.results {
		if !c.wants(r, w) {
			continue
		}
		res := &c.results[r]
		calls := byID[res.id]
		if calls == nil {
			calls = &waiting{ahead: c.byID(res.id)}
			byID[res.id] = calls
		}
		c.pass(calls, res)
		if last := len(calls.open) - 1; last >= 0 {
			k := calls.open[last]
			calls.open = calls.open[:last]
			c.claim(k, r, c.placeOf(k, res))
		}
	}
}

// waiting are the calls with one id, seen from a result on its way through the
// session.
type waiting struct {
	open  []int // before it, without a result: the last one is the next to get one
	ahead []int // not before it
}

// pass lets the calls that stand before a result wait, turn by turn: the last
// turn comes first, and its first call before its others.
func (c *claimer) pass(calls *waiting, r *result) {
	for len(calls.ahead) > 0 && c.precedes(calls.ahead[0], r) {
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

// following gives each free result to the next open call behind it, if its id
// is used by one call only.
func (c *claimer) following(w worth) {
	for r := range c.results {
		if !c.wants(r, w) {
			continue
		}
		if list := c.byID(c.results[r].id); len(list) == 1 && c.calls[list[0]].result < 0 {
			c.claim(list[0], r, c.placeOf(list[0], &c.results[r]))
		}
	}
}

// unnamed joins the only call of a turn with the only result of its answer group
// where one of them has no id, and the other's id is nobody else's.
func (c *claimer) unnamed() {
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
		if id := c.results[r].id; id == "" || cl.id == "" && len(c.byID(id)) == 0 {
			c.claim(k, r, Adjacent)
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
