package diff

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestTheLongestIncreasingSubsequenceIsThatOfTheInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}).Draw(t, "numbers")
		inverse := make([]int, len(numbers))
		for i, n := range numbers {
			inverse[n] = i
		}
		name := func(i int) int { return min(i, numbers[i])*100 + max(i, numbers[i])*10 + numbers[i] } // of the pair
		found := increasingSubsequence(numbers, func(i, j int) int { return cmp.Compare(name(i), name(j)) })
		turned := increasingSubsequence(inverse, func(i, j int) int { return cmp.Compare(name(inverse[i]), name(inverse[j])) })
		var values []int
		for _, i := range found {
			values = append(values, numbers[i])
		}
		if !slices.Equal(values, turned) {
			t.Errorf("%v stay, and %v of the inverse", values, turned)
		}
		if !slices.IsSorted(values) || len(values) != longestByTable(numbers) {
			t.Errorf("%v is no longest increasing subsequence of %v", values, numbers)
		}
	})
}

// longestByTable is the length by the textbook's table.
func longestByTable(numbers []int) int {
	lengths := make([]int, len(numbers))
	for i, n := range numbers {
		for j := range i {
			if numbers[j] < n {
				lengths[i] = max(lengths[i], lengths[j])
			}
		}
		lengths[i]++
	}
	return slices.Max(lengths)
}
