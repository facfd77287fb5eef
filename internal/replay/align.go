package replay

// likeness reports whether a stored item can be a recorded one although it says
// something else.
type likeness func(stored, recorded said) bool

// align finds the partners of recorded items among stored ones, -1 for none: as
// many that say the same as there can be, and then between these.
func align(recorded, stored []said, like likeness) []int {
	partners := equals(keysOf(recorded), keysOf(stored), nil)
	fill(partners, recorded, stored, 0, like)
	return partners
}

// fill finds between partners as many others as there can be that are alike, from
// a stored item on.
func fill(partners []int, recorded, stored []said, from int, like likeness) {
	for i := 0; i < len(partners); i++ {
		if partners[i] >= 0 {
			from = partners[i] + 1
			continue
		}
		begin := i
		for i < len(partners) && partners[i] < 0 {
			i++
		}
		to := len(stored)
		if i < len(partners) {
			to = partners[i]
		}
		loosely(partners[begin:i], recorded[begin:i], stored[from:to], from, like)
		i--
	}
}

// loosely aligns items that do not say the same; from is the index of the first
// stored one.
func loosely(partners []int, recorded, stored []said, from int, like likeness) {
	c := newCandidates(stored)
	found := subsequence(len(recorded), len(stored), func(i int, row bitRow) {
		c.of(recorded[i], func(j int) {
			if like(stored[j], recorded[i]) {
				row.set(j)
			}
		})
	})
	for i, j := range found {
		if j >= 0 {
			partners[i] = from + j
		}
	}
}

// tighten moves partners to equal items that are nearer to the others: first all
// to the front, then back, but for the last. A session that holds other runs
// often holds the same texts in them.
func tighten(partners []int, recorded, stored []said) {
	var found []int
	for i, j := range partners {
		if j >= 0 {
			found = append(found, i)
		}
	}
	move := func(i, from, to, step int) {
		for j := from; j != to; j += step {
			if stored[j].key == recorded[i].key {
				partners[i] = j
				return
			}
		}
	}
	for n := 1; n < len(found); n++ {
		i := found[n]
		move(i, partners[found[n-1]]+1, partners[i], 1)
	}
	for n := len(found) - 2; n >= 0; n-- {
		i := found[n]
		move(i, partners[found[n+1]]-1, partners[i], -1)
	}
}
