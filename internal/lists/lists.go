// Package lists has what package slices lacks.
package lists

import "slices"

// MapEach is a list with each element in another form.
func MapEach[A, B any](list []A, form func(A) B) []B {
	out := make([]B, len(list))
	for i, one := range list {
		out[i] = form(one)
	}
	return out
}

// CountIf counts the elements of a list of which something is so.
func CountIf[A any](list []A, is func(A) bool) (n int) {
	for _, one := range list {
		if is(one) {
			n++
		}
	}
	return n
}

// AppendNew appends a value to a list that does not have it.
func AppendNew[T comparable](list []T, value T) []T {
	if slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}

// GroupBy parts a list into groups with the same key, in the order in which they begin.
func GroupBy[T any, K comparable](list []T, key func(T) K) [][]T {
	var groups [][]T
	at := map[K]int{}
	for _, one := range list {
		n, known := at[key(one)]
		if !known {
			n, groups = len(groups), append(groups, nil)
			at[key(one)] = n
		}
		groups[n] = append(groups[n], one)
	}
	return groups
}
