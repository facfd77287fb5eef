package delegation

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
)

// together groups the calls that ran at the same time: those of one turn, and those
// whose parts of the session overlap. A call that ran when no other did is a group of
// its own.
func (m *match) together() [][]*asker {
	above := make([]int, len(m.calls))
	for i := range above {
		above[i] = i
	}
	top := func(i int) int {
		for above[i] != i {
			above[i] = above[above[i]]
			i = above[i]
		}
		return i
	}
	for _, pair := range append(m.sameTurn(), m.overlaps()...) {
		above[top(pair[1])] = top(pair[0])
	}
	var groups [][]*asker
	at := map[int]int{}
	for i, c := range m.calls {
		n, known := at[top(i)]
		if !known {
			n, groups = len(groups), append(groups, nil)
			at[top(i)] = n
		}
		groups[n] = append(groups[n], c)
	}
	return groups
}

// sameTurn are pairs of calls that one turn made, so that they connect all of a turn.
func (m *match) sameTurn() (pairs [][2]int) {
	type turn struct {
		parent *rules.Subject
		item   int
	}
	first := map[turn]int{}
	for i, c := range m.calls {
		t := turn{c.From, c.Item}
		if n, known := first[t]; known {
			pairs = append(pairs, [2]int{n, i})
		} else {
			first[t] = i
		}
	}
	return pairs
}

// overlaps are pairs of calls whose parts overlap, so that they connect all that do.
func (m *match) overlaps() (pairs [][2]int) {
	var order []int
	for i, c := range m.calls {
		if c.part != nil {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(m.calls[i].part.First(), m.calls[j].part.First()) })
	longest := -1 // of those so far, the call whose part ends last
	for _, i := range order {
		a := m.calls[i].part
		if longest >= 0 && a.First() < m.calls[longest].part.Last() {
			pairs = append(pairs, [2]int{longest, i})
		}
		if longest < 0 || a.Last() > m.calls[longest].part.Last() {
			longest = i
		}
	}
	return pairs
}

// leaving are the calls that get a session of their own: of those that ran together all
// but the one whose request came first, or all but those that have to stay. The others
// stay, one after another.
func (m *match) leaving() []*asker {
	var list []*asker
	for _, group := range m.together() {
		if can := slices.DeleteFunc(slices.Clone(group), func(c *asker) bool { return c.stays }); len(can) < len(group) {
			list = append(list, can...)
			continue
		}
		timeless := slices.ContainsFunc(group, func(c *asker) bool { return c.part.began(m.child).IsZero() })
		slices.SortFunc(group, func(a, b *asker) int {
			order := cmp.Compare(a.part.First(), b.part.First())
			if timeless {
				return order
			}
			return cmp.Or(a.part.began(m.child).Compare(b.part.began(m.child)), order)
		})
		list = append(list, group[1:]...)
	}
	slices.SortFunc(list, func(a, b *asker) int { return cmp.Compare(a.part.First(), b.part.First()) })
	return list
}
