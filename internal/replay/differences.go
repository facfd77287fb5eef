package replay

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// differences lists what the trace does not tell.
func (c *comparer) differences(trace *Trace) []Difference {
	explained := map[TreeItem]bool{}
	for _, at := range c.elsewhere {
		explained[at] = true
	}
	background := background(trace)
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
			if !p.foreign(j) || explained[TreeItem{p.stored, j}] || p.rows[j].Kind == session.SubSession && background[p.rows[j].Child] {
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
	place := TreeItem{p.recorded, i}
	elsewhere, stands := c.elsewhere[place]
	switch {
	case stands:
		d.Kind, d.Stored, d.StoredItem = Misplaced, elsewhere.Session, elsewhere.Item
	case p.lost(i):
		d.Kind, d.StoredItem = Lost, p.place(i, behind)
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
	names := differing(recorded, stored)
	if !p.marks {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "error mark" })
	}
	if len(names) == 0 {
		return nil
	}
	return names
}

// background are the ids of the children of calls whose callers do not wait: what
// such a child does is not on the stream (docker agent 5).
func background(trace *Trace) map[string]bool {
	ids := map[string]bool{}
	for child, d := range trace.Callers {
		if !d.Call().Delegation.Blocking {
			ids[child.ID] = true
		}
	}
	return ids
}
