package pairing

import "sort"

func (c *claimer) outcome() *Pairing {
	p := &Pairing{}
	tail := c.tail()
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
	answered := c.answered()
	for r := range c.results {
		if res := &c.results[r]; !res.taken {
			k, known := c.owner(answered[res.id], res)
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

// answered lists the answered calls by their id, in order.
func (c *claimer) answered() map[string][]int {
	byID := map[string][]int{}
	for k := range c.calls {
		if c.calls[k].result >= 0 {
			byID[c.calls[k].id] = append(byID[c.calls[k].id], k)
		}
	}
	return byID
}

// owner is the call that a left-over result repeats, of the answered ones with
// its id: the nearest one before it, else the first behind it.
func (c *claimer) owner(answered []int, res *result) (k int, known bool) {
	if len(answered) == 0 {
		return 0, false
	}
	before := sort.Search(len(answered), func(n int) bool { return !c.precedes(answered[n], res) })
	return answered[max(before-1, 0)], true
}

func (c *claimer) same(a, b Occurrence) bool {
	ra, rb := &c.items[a.Item].Results[a.Nth], &c.items[b.Item].Results[b.Nth]
	return ra.Digest == rb.Digest && ra.IsError == rb.IsError
}

// tail is the last turn that is more than results: only results follow it.
func (c *claimer) tail() int {
	for t := len(c.wire) - 1; t >= 0; t-- {
		if it := c.item(t); !it.Answers() || EndsGroup(it) {
			return t
		}
	}
	return 0
}
