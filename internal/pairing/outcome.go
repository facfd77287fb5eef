package pairing

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
		if !known || c.precedes(n, res) {
			k, known = n, true
		}
	}
	return k, known
}

func (c *claimer) same(a, b Occurrence) bool {
	ra, rb := &c.items[a.Item].Results[a.Nth], &c.items[b.Item].Results[b.Nth]
	return ra.Digest == rb.Digest && ra.IsError == rb.IsError
}

// atTail reports whether nothing but results follows the call's turn.
func (c *claimer) atTail(cl *call) bool {
	for t := cl.turn + 1; t < len(c.wire); t++ {
		if it := c.item(t); !it.Answers() || EndsGroup(it) {
			return false
		}
	}
	return true
}
