package pairs

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
)

// answerGroup is a turn that calls tools with what answers it.
type answerGroup struct {
	turn  int   // the item that calls
	items []int // the items with results directly behind it
}

// answerGroups lists the groups of a session in order. What leaked does not
// count: it leaves.
func answerGroups(s *rules.Subject) []answerGroup {
	var list []answerGroup
	open := false
	for i := range s.Items {
		it := &s.Items[i]
		switch {
		case !s.OnWire(i):
		case open && it.IsAnswer():
			g := &list[len(list)-1]
			g.items = append(g.items, i)
			open = !pairing.EndsGroup(it)
		default:
			if open = rules.RunsTools(it); open {
				list = append(list, answerGroup{turn: i})
			}
		}
	}
	return list
}

// resultsByCall lists the results of each call: the one that answers it, and
// those that repeat it.
func resultsByCall(s *rules.Subject) map[pairing.Occurrence][]pairing.Occurrence {
	results := make(map[pairing.Occurrence][]pairing.Occurrence, len(s.Pairs.Pairs))
	for _, pair := range s.Pairs.Pairs {
		results[pair.Call] = append(results[pair.Call], pair.Result)
	}
	for _, e := range s.Pairs.Extras {
		call := s.Pairs.Pairs[e.Pair].Call
		results[call] = append(results[call], e.Result)
	}
	return results
}
