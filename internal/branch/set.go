package branch

import (
	"slices"
	"strconv"
)

// Set is a set of tokens or of indices: in ascending order, none twice.
type Set []int

// Contains reports whether all of other is in the set.
func (s Set) Contains(other Set) bool {
	for _, n := range other {
		for len(s) > 0 && s[0] < n {
			s = s[1:]
		}
		if len(s) == 0 || s[0] != n {
			return false
		}
	}
	return true
}

// Meets reports whether the sets have something in common.
func (s Set) Meets(other Set) bool { return slices.ContainsFunc(other, s.has) }

func (s Set) has(n int) bool {
	_, found := slices.BinarySearch(s, n)
	return found
}

func (s Set) appendTo(text []byte) []byte {
	text = append(text, '[')
	for i, n := range s {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(n), 10)
	}
	return append(text, ']')
}

// Join is what an agent has after its parallel children ended: the union. It is
// never nil.
func Join(sets ...Set) Set {
	union := slices.Concat(sets...)
	slices.Sort(union)
	return append(Set{}, slices.Compact(union)...)
}
