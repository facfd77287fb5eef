package replay

import (
	"math"
	"math/bits"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// bitRow has a bit for each item of a sequence.
type bitRow []uint64

func (r bitRow) set(i int)      { r[i/64] |= 1 << (i % 64) }
func (r bitRow) has(i int) bool { return r[i/64]>>(i%64)&1 == 1 }

// subsequence finds a longest common subsequence of two sequences: for each of
// the n items of the first its partner among the m of the second, -1 for none.
// Of several it is the one that comes first in both. mark sets in an empty row
// the items of the second that can be the partner of an item of the first.
//
// It is the bit-parallel algorithm of Hyyrö (2004). Every so many rows one is
// kept, from which those behind it are made anew on the way back: n·m/32 steps
// and √n·m/32 words, whatever the sequences are.
func subsequence(n, m int, mark func(i int, row bitRow)) []int {
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
			t.advance(i)
		}
	}
	partners := slices.Repeat([]int{-1}, n)
	for i, j := n, m; i > 0 && j > 0; {
		switch {
		case t.at(i).has(j - 1):
			j--
		case !t.at(i - 1).has(j - 1):
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

// advance makes the next row: that of one item more.
func (t *lengths) advance(i int) {
	clear(t.marks)
	t.mark(i, t.marks)
	var carry uint64
	for w, old := range t.row {
		var sum uint64
		sum, carry = bits.Add64(old, old&t.marks[w], carry)
		t.row[w] = sum | old&^t.marks[w]
	}
}

// at is the row about the first i items.
func (t *lengths) at(i int) bitRow {
	if block := i / t.every; block != t.block {
		t.block, t.made = block, t.made[:0]
		copy(t.row, t.kept[block])
		for k := block * t.every; k <= min(t.rows, (block+1)*t.every-1); k++ {
			t.made = append(t.made, slices.Clone(t.row))
			if k < t.rows {
				t.advance(k)
			}
		}
	}
	return t.made[i%t.every]
}

// equals finds a longest common subsequence of equal keys within the limits; key 0
// has no equal.
func equals(a, b []session.Digest, within *limits) []int {
	head, tail := 0, 0
	for head < min(len(a), len(b)) && a[head] == b[head] && a[head] != 0 && within.allow(head, head) {
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] && a[len(a)-1-tail] != 0 && within.allow(len(a)-1-tail, len(b)-1-tail) {
		tail++
	}
	places := map[session.Digest][]int{}
	for j, key := range b[head : len(b)-tail] {
		if key != 0 {
			places[key] = append(places[key], j)
		}
	}
	middle := subsequence(len(a)-head-tail, len(b)-head-tail, func(i int, row bitRow) {
		for _, j := range places[a[head+i]] {
			if within.allow(head+i, head+j) {
				row.set(j)
			}
		}
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
