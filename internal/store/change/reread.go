package change

import (
	"math"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// MovedResults are the results that others overtook, or that overtook others, by their indexes.
func MovedResults(items []Item) map[int]bool {
	moved, most, least := map[int]bool{}, -1, math.MaxInt
	for i := range items {
		switch it := &items[i]; {
		case it.Was == nil || it.Moves:
		case len(it.Is.Results) == 0:
			most = max(most, it.At)
		case it.At < most:
			moved[i] = true
		}
	}
	for i := range slices.Backward(items) {
		switch it := &items[i]; {
		case it.Was == nil || it.Moves || moved[i]:
		case it.At > least:
			moved[i] = true
		default:
			least = it.At
		}
	}
	return moved
}

// ReadsAs reports whether a tree that was read has the items that were planned, as far as
// their places decide what they are. What an edited one says is compared when it is written.
func ReadsAs(read *session.Tree, planned *store.Change) bool {
	said := map[session.Digest]bool{}
	for _, s := range planned.Before.Sessions {
		for i := range s.Items {
			said[s.Items[i].Meaning] = true
		}
	}
	for _, want := range planned.After.Sessions {
		got := read.Session(want.ID)
		if got == nil || !slices.EqualFunc(got.Items, want.Items, func(a, b session.Item) bool {
			return a.Role == b.Role && a.Flags&^session.Synthetic == b.Flags&^session.Synthetic && (b.Table() == "" || a.Key == b.Key && (a.Meaning == b.Meaning || !said[b.Meaning]))
		}) {
			return false
		}
	}
	return true
}
