package problem

import (
	"slices"
	"strings"
)

// Nearest is a question for the words that somebody may have meant, "" if none comes near:
// `Did you mean "select"?`
func Nearest(typed string, words []string) string {
	const most = 3
	low := strings.ToLower(typed)
	limit := max(1, len(low)/3)
	best := map[int][]string{}
	for _, w := range words {
		d := distance(low, strings.ToLower(w))
		if len(low) > 1 && (strings.HasPrefix(strings.ToLower(w), low) || len(w) > 2 && strings.HasPrefix(low, strings.ToLower(w))) {
			d = min(d, 1)
		}
		if w != "" && low != "" && d <= limit && !slices.Contains(best[d], w) {
			best[d] = append(best[d], w)
		}
	}
	for d := range limit + 1 {
		if found := best[d]; len(found) > 0 {
			return `Did you mean "` + strings.Join(found[:min(len(found), most)], `" or "`) + `"?`
		}
	}
	return ""
}

// distance is how many letters have to be put in, taken out, replaced, or exchanged with
// their neighbour to make one word of the other.
func distance(a, b string) int {
	var before, above []int // the two rows before the current one
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, above, row = above, row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(above[j+1]+1, row[j]+1, above[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
