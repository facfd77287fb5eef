package store

import (
	"slices"
	"time"
)

// KeepNewest leaves the files that were written to last, where those of so many bytes are enough, in the order of their
// times, and counts the others. Where all have no more than a few times as many bytes, all are left as they are.
func KeepNewest[T any](list []T, enough int64, of func(T) (size int64, last time.Time)) (kept []T, left int) {
	const worthIt = 4
	total := int64(0)
	for _, file := range list {
		size, _ := of(file)
		total += size
	}
	if enough == 0 || total < worthIt*enough {
		return list, 0
	}
	kept = slices.SortedStableFunc(slices.Values(list), func(a, b T) int {
		_, first := of(a)
		_, second := of(b)
		return second.Compare(first)
	})
	for i, file := range kept {
		size, _ := of(file)
		if enough -= size; enough <= 0 {
			kept, left = kept[:i+1], len(kept)-i-1
			break
		}
	}
	slices.Reverse(kept)
	return kept, left
}
