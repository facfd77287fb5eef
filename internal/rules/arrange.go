package rules

import (
	"slices"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

// Sent is one message of a request as the runtime builds it: an item, or the items with the
// results of one turn, which it merges.
type Sent struct {
	Items   []int                // the first one says whose message it is
	Results []pairing.Occurrence // those that it holds, in their order
	Behind  bool                 // it stands behind its calls, wherever it is stored
}

// Arranged are the messages of the next request, those without any content among them, in
// the order in which the runtime sends them: as they are stored, or where it has a list of
// calls and looks for the last result of each (session.Reader.LastResult), each call with
// its result behind it, wherever that is stored. A result is then sent as often as a call
// has its id, with all that stands in its item, and not at all where none has.
func (s *Subject) Arranged() []Sent {
	if s.arranged != nil {
		return s.arranged
	}
	answers := map[string]int{}
	list, indexes := make([]Sent, 0, len(s.Items)-s.Start), make([]int, len(s.Items))
	for i := s.Start; i < len(s.Items); i++ {
		if it := &s.Items[i]; it.OnWire() {
			for n := range it.Results {
				answers[it.Results[n].CallID] = i
			}
		}
	}
	for i := s.Start; i < len(s.Items); i++ {
		it := &s.Items[i]
		indexes[i] = i
		switch alone := indexes[i : i+1 : i+1]; {
		case !it.OnWire():
		case !s.last:
			list = append(list, s.merge(alone))
		case len(it.Results) == 0:
			list = append(list, Sent{Items: alone})
			if behind := answersOf(it, answers); len(behind) > 0 {
				answer := s.merge(behind)
				answer.Behind = true
				list = append(list, answer)
			}
		}
	}
	s.arranged, s.sent = list, make([]bool, len(s.Items))
	for _, m := range list {
		for _, i := range m.Items {
			s.sent[i] = true
		}
	}
	return list
}

// LeavesOut reports whether an item that could be part of the next request is in none of its
// messages: its results are not the last of any call.
func (s *Subject) LeavesOut(item int) bool {
	if !s.last || s.History(item) || !s.Items[item].OnWire() {
		return false
	}
	return !s.Sends(item)
}

// Sends reports whether an item is part of a message of the next request, one without any
// content among them.
func (s *Subject) Sends(item int) bool {
	s.Arranged()
	return s.sent[item]
}

// answersOf are the items with the last results of an item's calls, in their order.
func answersOf(it *session.Item, answers map[string]int) []int {
	var behind []int
	for n := range it.Calls {
		if i, answered := answers[it.Calls[n].ID]; answered {
			behind = append(behind, i)
		}
	}
	return Unique(behind)
}

// merge makes one message of items: of several results of a call it has the last, in the place
// of the first.
func (s *Subject) merge(items []int) Sent {
	m := Sent{Items: items}
	for _, i := range items {
		for n := range s.Items[i].Results {
			at := pairing.Occurrence{Item: i, Nth: n}
			id := s.ResultAt(at).CallID
			known := -1
			if i != items[0] && id != "" {
				known = slices.IndexFunc(m.Results, func(other pairing.Occurrence) bool { return s.ResultAt(other).CallID == id })
			}
			if known >= 0 {
				m.Results[known] = at
			} else {
				m.Results = append(m.Results, at)
			}
		}
	}
	return m
}

// item is the message as an item of its own.
func (s *Subject) item(m *Sent) *session.Item {
	if len(m.Items) == 1 {
		return &s.Items[m.Items[0]]
	}
	it := s.Items[m.Items[0]]
	it.Results = make([]session.Result, len(m.Results))
	for n, at := range m.Results {
		it.Results[n] = *s.ResultAt(at)
	}
	for _, i := range m.Items[1:] {
		it.Calls = append(slices.Clip(it.Calls), s.Items[i].Calls...)
	}
	return &it
}
