package replay

import (
	"math"
	"math/bits"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// likeness reports whether a stored item can be a recorded one although it says
// something else.
type likeness func(stored, recorded content) bool

// alignContents finds the partners of recorded items among stored ones, -1 for none: as
// many that say the same as there can be, and then between these.
func alignContents(recorded, stored []content, like likeness) []int {
	partners := alignKeys(keysOf(recorded), keysOf(stored), nil)
	fillGaps(partners, recorded, stored, 0, like)
	return partners
}

// fillGaps finds between partners as many others as there can be that are alike, from
// a stored item on.
func fillGaps(partners []int, recorded, stored []content, from int, like likeness) {
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
		matchGap(partners[begin:i], recorded[begin:i], stored[from:to], from, like)
		i--
	}
}

// matchGap aligns items that do not say the same; from is the index of the first
// stored one.
func matchGap(partners []int, recorded, stored []content, from int, like likeness) {
	c := newCandidates(stored)
	found := longestSubsequence(len(recorded), len(stored), func(i int, row bitRow) {
		c.yieldFor(recorded[i], func(j int) {
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

// tightenPartners moves partners to equal items that are nearer to the others: first all
// to the front, then back, but for the last. A session that holds other runs
// often holds the same texts in them.
func tightenPartners(partners []int, recorded, stored []content) {
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

// bitRow has a bit for each item of a sequence.
type bitRow []uint64

func (r bitRow) set(i int)      { r[i/64] |= 1 << (i % 64) }
func (r bitRow) has(i int) bool { return r[i/64]>>(i%64)&1 == 1 }

// mergeRange sets the bits of another row from one index on and before another.
func (r bitRow) mergeRange(other bitRow, from, to int) {
	for w := from / 64; w*64 < to; w++ {
		word := other[w]
		if w == from/64 {
			word &= math.MaxUint64 << (from % 64)
		}
		if end := to - w*64; end < 64 {
			word &= 1<<end - 1
		}
		r[w] |= word
	}
}

// longestSubsequence finds a longest common subsequence of two sequences: for each of
// the n items of the first its partner among the m of the second, -1 for none.
// Of several it is the one that comes first in both. mark sets in an empty row
// the items of the second that can be the partner of an item of the first.
//
// It is the bit-parallel algorithm of Hyyrö (2004). Every so many rows one is
// kept, from which those behind it are made anew on the way back: n·m/32 steps
// and √n·m/32 words, whatever the sequences are.
func longestSubsequence(n, m int, mark func(i int, row bitRow)) []int {
	t := &lengths{
		rows: n, every: int(math.Sqrt(float64(n))) + 1, mark: mark,
		marks: make(bitRow, (m+63)/64), row: make(bitRow, (m+63)/64), block: -1,
	}
	for w := range t.row {
		t.row[w] = math.MaxUint64
	}
	for i := range n + 1 {
		if i%t.every == 0 {
			t.kept = append(t.kept, slices.Clone(t.row))
		}
		if i < n {
			t.advanceRow(i)
		}
	}
	partners := slices.Repeat([]int{-1}, n)
	for i, j := n, m; i > 0 && j > 0; {
		switch {
		case t.rowAt(i).has(j - 1):
			j--
		case !t.rowAt(i - 1).has(j - 1):
			i--
		default:
			i, j = i-1, j-1
			partners[i] = j
		}
	}
	return partners
}

// lengths is the table of the lengths of common subsequences. A row is about the
// first so many items of the first sequence. It has a bit for each item of the
// second: 0 where that item makes the subsequence longer.
type lengths struct {
	rows  int
	every int
	mark  func(i int, row bitRow)
	marks bitRow
	row   bitRow
	kept  []bitRow

	block int // the block of rows that made holds, -1 for none
	made  []bitRow
}

// advanceRow makes the next row: that of one item more.
func (t *lengths) advanceRow(i int) {
	clear(t.marks)
	t.mark(i, t.marks)
	var carry uint64
	for w, old := range t.row {
		var sum uint64
		sum, carry = bits.Add64(old, old&t.marks[w], carry)
		t.row[w] = sum | old&^t.marks[w]
	}
}

// rowAt is the row about the first i items.
func (t *lengths) rowAt(i int) bitRow {
	if block := i / t.every; block != t.block {
		t.block, t.made = block, t.made[:0]
		copy(t.row, t.kept[block])
		for k := block * t.every; k <= min(t.rows, (block+1)*t.every-1); k++ {
			t.made = append(t.made, slices.Clone(t.row))
			if k < t.rows {
				t.advanceRow(k)
			}
		}
	}
	return t.made[i%t.every]
}

// alignKeys finds a longest common subsequence of equal keys within the limits; key 0
// has no equal.
func alignKeys(a, b []session.Digest, within *limits) []int {
	head, tail := 0, 0
	for head < min(len(a), len(b)) && a[head] == b[head] && a[head] != 0 && within.canPair(head, head) {
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] && a[len(a)-1-tail] != 0 && within.canPair(len(a)-1-tail, len(b)-1-tail) {
		tail++
	}
	others := b[head : len(b)-tail]
	in := newPlaces(others)
	middle := longestSubsequence(len(a)-head-tail, len(others), func(i int, row bitRow) {
		from, to := 0, len(others)
		if within != nil {
			from, to = max(within.from[head+i]-head, 0), min(within.to[head+i]-head, to)
		}
		in.markKey(row, a[head+i], from, to)
	})
	partners := make([]int, len(a))
	for i := range partners {
		switch {
		case i < head:
			partners[i] = i
		case i >= len(a)-tail:
			partners[i] = len(b) - len(a) + i
		case middle[i-head] < 0:
			partners[i] = -1
		default:
			partners[i] = head + middle[i-head]
		}
	}
	return partners
}

// places are where each key stands in a sequence. Of a frequent key they are a row too,
// which costs a word for 64 items instead of a step for each: there are at most 64 such
// keys, and their rows have a word for each item.
type places struct {
	lists map[session.Digest][]int
	rows  map[session.Digest]bitRow
}

func newPlaces(keys []session.Digest) *places {
	p := &places{lists: map[session.Digest][]int{}, rows: map[session.Digest]bitRow{}}
	for j, key := range keys {
		if key != 0 {
			p.lists[key] = append(p.lists[key], j)
		}
	}
	words := (len(keys) + 63) / 64
	for key, list := range p.lists {
		if len(list) > words {
			row := make(bitRow, words)
			for _, j := range list {
				row.set(j)
			}
			p.rows[key] = row
		}
	}
	return p
}

// markKey sets in a row the places of a key from one index on and before another.
func (p *places) markKey(row bitRow, key session.Digest, from, to int) {
	if all := p.rows[key]; all != nil {
		row.mergeRange(all, from, to)
		return
	}
	for _, j := range p.lists[key] {
		if from <= j && j < to {
			row.set(j)
		}
	}
}
