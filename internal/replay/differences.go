package replay

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// differences lists what the trace does not tell.
func (c *comparer) differences(trace *Trace) []Difference {
	explained := map[Place]bool{}
	for _, at := range c.elsewhere {
		explained[at] = true
	}
	var list []Difference
	for _, p := range c.pairs {
		var own []ranked
		behind := p.behindEvents(isAny)
		for i := range p.events {
			if d, ok := c.difference(p, i, behind[i]); ok {
				own = append(own, ranked{i, d})
			}
		}
		for j, before := range p.behindRows(isAny) {
			if !p.foreign(j) || explained[Place{p.stored, j}] || background(trace, &p.rows[j]) {
				continue
			}
			rank := -1
			if before >= 0 {
				rank = p.back[before]
			}
			own = append(own, ranked{rank, Difference{Kind: Foreign, RecordedItem: -1, Stored: p.stored, StoredItem: j}})
		}
		slices.SortStableFunc(own, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
		for _, r := range own {
			list = append(list, r.Difference)
		}
	}
	return list
}

// ranked is a difference with the index of the recorded item that it stands at.
type ranked struct {
	rank int
	Difference
}

// difference is what the store has otherwise than a recorded item; behind is the
// stored item that it should stand behind.
func (c *comparer) difference(p *pair, i, behind int) (Difference, bool) {
	d := Difference{Recorded: p.recorded, RecordedItem: i, Stored: p.stored, StoredItem: p.match[i]}
	place := Place{p.recorded, i}
	elsewhere, stands := c.elsewhere[place]
	switch {
	case stands:
		d.Kind, d.Stored, d.StoredItem = Misplaced, elsewhere.Session, elsewhere.Item
	case p.lost(i):
		d.Kind, d.StoredItem = Lost, behind
		if behind < 0 && p.part && p.first > 0 {
			d.StoredItem = p.first - 1
		}
		return d, !c.leaked[place]
	case p.match[i] < 0:
		return d, false
	case p.moved[i]:
		d.Kind = Misplaced
	default:
		d.Kind, d.What = Altered, p.differing(i)
		return d, d.What != nil
	}
	return d, true
}

// differing names the parts in which the stored partner of a recorded item
// differs from it.
func (p *pair) differing(i int) []string {
	recorded, stored := p.events[i], p.rows[p.match[i]]
	if recorded.key == stored.key {
		return nil
	}
	return differing(recorded.Item, stored.Item)
}

// background reports whether an item refers to the child of a call whose caller
// does not wait: what such a child does is not on the stream (docker agent 5).
func background(trace *Trace, it *said) bool {
	if it.Kind != session.SubSession {
		return false
	}
	for child, d := range trace.Callers {
		if child.ID == it.Child {
			return !d.Call().Delegation.Blocking
		}
	}
	return false
}
