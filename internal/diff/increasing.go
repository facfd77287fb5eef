package diff

import (
	"cmp"
	"slices"
)

// increasing finds a longest increasing subsequence of a permutation of the numbers from 0
// on, as indexes. Of several it is the one with the least sums of index and number, then
// the one that order prefers, so that the inverse permutation has the same one.
func increasing(numbers []int, order func(i, j int) int) []int {
	before, after := levels(numbers), make([]int, len(numbers))
	turned := make([]int, 0, len(numbers))
	for _, n := range slices.Backward(numbers) {
		turned = append(turned, -n)
	}
	for i, level := range levels(turned) {
		after[len(numbers)-1-i] = level
	}
	longest := 0
	for i := range numbers {
		longest = max(longest, before[i]+after[i]+1)
	}
	candidates := make([][]int, longest) // by their place in a longest one
	for i := range numbers {
		if before[i]+after[i]+1 == longest {
			candidates[before[i]] = append(candidates[before[i]], i)
		}
	}
	found := make([]int, 0, longest)
	for _, list := range candidates {
		best := -1
		for _, i := range list {
			if last := len(found) - 1; last >= 0 && (i < found[last] || numbers[i] < numbers[found[last]]) {
				continue
			}
			if best < 0 || cmp.Or(cmp.Compare(i+numbers[i], best+numbers[best]), order(i, best)) < 0 {
				best = i
			}
		}
		found = append(found, best)
	}
	return found
}

// levels is for each number how many can stand before it in an increasing subsequence.
func levels(numbers []int) []int {
	var ends []int // of those of each length, the least last number
	list := make([]int, len(numbers))
	for i, n := range numbers {
		level, _ := slices.BinarySearch(ends, n)
		if level == len(ends) {
			ends = append(ends, n)
		} else {
			ends[level] = n
		}
		list[i] = level
	}
	return list
}
