package replay

import (
	"slices"
	"sort"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// candidates are the stored items that can stand for a recorded one, found by
// what these have in common, so that long sessions need not be compared item by
// item.
type candidates struct {
	stored  []said
	byText  []int            // all, ordered by their texts
	answers map[string][]int // results, by the first call
	begun   map[string][]int // unfinished messages, by what they say
	lengths []int            // of the texts in begun
}

func newCandidates(stored []said) *candidates {
	c := &candidates{stored: stored, answers: map[string][]int{}, begun: map[string][]int{}}
	for j := range stored {
		c.byText = append(c.byText, j)
		text := stored[j].Body.Text
		switch {
		case len(stored[j].Results) > 0:
			id := stored[j].Results[0].CallID
			c.answers[id] = append(c.answers[id], j)
		case stored[j].cut:
			if c.begun[text] == nil && !slices.Contains(c.lengths, len(text)) {
				c.lengths = append(c.lengths, len(text))
			}
			c.begun[text] = append(c.begun[text], j)
		}
	}
	slices.SortFunc(c.byText, func(a, b int) int { return strings.Compare(stored[a].Body.Text, stored[b].Body.Text) })
	return c
}

// of yields the candidates for a recorded item, some of them twice.
func (c *candidates) of(it said, yield func(j int)) {
	if len(it.Results) > 0 {
		for _, j := range c.answers[it.Results[0].CallID] {
			yield(j)
		}
		return
	}
	text := it.Body.Text
	for _, n := range c.lengths {
		if n <= len(text) {
			for _, j := range c.begun[text[:n]] {
				yield(j)
			}
		}
	}
	if !it.cut && !it.Flags.Has(session.Blank) {
		return
	}
	if it.Flags.Has(session.Blank) {
		text = ""
	}
	from := sort.Search(len(c.byText), func(n int) bool { return c.stored[c.byText[n]].Body.Text >= text })
	for _, j := range c.byText[from:] {
		if !strings.HasPrefix(c.stored[j].Body.Text, text) {
			return
		}
		yield(j)
	}
}
