package rules

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/lists"
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

// ArrangedMessages yields the messages of the next request, numbered from 0, those without any content
// among them, in the order in which the runtime sends them: as they are stored, or where it looks
// up the last result of each call (session.Reader.LastResult), each call with that behind it,
// wherever it is stored. A result is then sent as often as a call has its id, with all that
// stands in its item, and not at all where none has.
func (s *Subject) ArrangedMessages() iter.Seq2[int, Sent] {
	s.arrangeMessages()
	if s.last {
		return slices.All(s.arranged)
	}
	return func(yield func(int, Sent) bool) {
		for n := range s.stored {
			if !yield(n, s.messageOfOne(s.stored[n:n+1:n+1])) {
				return
			}
		}
	}
}

// arrangeMessages finds out what is a message of the next request; of what is sent as it is
// stored, it keeps the indexes only.
func (s *Subject) arrangeMessages() {
	if s.sent != nil {
		return
	}
	s.stored, s.sent = make([]int, 0, len(s.Items)-s.Start), make([]bool, len(s.Items))
	for i := s.Start; i < len(s.Items); i++ {
		if s.sent[i] = s.Items[i].OnWire() && !s.Items[i].Passed; s.sent[i] {
			s.stored = append(s.stored, i)
		}
	}
	if !s.last {
		return
	}
	for n := range s.stored {
		s.arranged = append(s.arranged, s.messageOfOne(s.stored[n:n+1:n+1]))
	}
	if s.asIs {
		s.arranged, s.stops = s.answerLatest(s.arranged)
	}
	s.arranged = s.answerCalls(s.arranged)
	clear(s.sent)
	for _, m := range s.arranged {
		for _, i := range m.Items {
			s.sent[i] = true
		}
	}
}

// StopReason is what the runtime stops with in place of a request, "" where it sends one.
func (s *Subject) StopReason() string {
	s.arrangeMessages()
	return s.stops
}

// LeavesOut reports whether an item that could be part of the next request is in none of its
// messages: its results are not the last of any call.
func (s *Subject) LeavesOut(item int) bool {
	if !s.last || s.IsHistory(item) || !s.Items[item].OnWire() {
		return false
	}
	return !s.SendsItem(item)
}

// SendsItem reports whether an item is part of a message of the next request, one without any
// content among them.
func (s *Subject) SendsItem(item int) bool {
	s.arrangeMessages()
	return s.sent[item]
}

// answerCalls lets the last result of each call stand behind it
// (rearrangeEventsForAsyncFunctionResponsesInHistory).
func (s *Subject) answerCalls(events []Sent) (list []Sent) {
	answers := map[string]int{}
	for n := range events {
		for _, at := range events[n].Results {
			answers[s.ResultAt(at).CallID] = n
		}
	}
	for n := range events {
		if len(events[n].Results) > 0 {
			continue
		}
		list = append(list, events[n])
		var behind []int
		for id := range s.callIDs(&events[n]) {
			if at, answered := answers[id]; answered {
				behind = append(behind, at)
			}
		}
		if behind = SortUnique(behind); len(behind) > 0 {
			answer := s.mergeMessages(lists.MapEach(behind, func(at int) Sent { return events[at] }))
			answer.Behind = true
			list = append(list, answer)
		}
	}
	return list
}

// answerLatest lets results at the very end stand behind their calls, without what is between
// them, or says what the runtime stops with
// (rearrangeEventsForLatestFunctionResponse). It only matters where nothing new is said.
func (s *Subject) answerLatest(events []Sent) (list []Sent, stops string) {
	end := len(events) - 1
	if end < 0 || len(events[end].Results) == 0 {
		return events, ""
	}
	ids := map[string]bool{}
	for _, at := range events[end].Results {
		if id := s.ResultAt(at).CallID; id != "" {
			ids[id] = true
		}
	}
	names := strings.Join(slices.Sorted(maps.Keys(ids)), ", ")
	answered := func(calls map[string]bool) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(ids)), func(id string) bool { return calls[id] })
	}
	for n := end - 1; n >= 0; n-- {
		calls := s.callIDs(&events[n])
		switch {
		case !answered(calls):
			continue
		case n == end-1:
			return events, ""
		}
		for id := range ids {
			if !calls[id] {
				return events, "Last response event should only contain the responses for the function calls in the same function call event: " + names
			}
		}
		var merged []Sent
		for _, e := range events[n+1:] {
			if slices.ContainsFunc(e.Results, func(at pairing.Occurrence) bool { return calls[s.ResultAt(at).CallID] }) {
				merged = append(merged, e)
			}
		}
		return append(slices.Clip(events[:n+1]), s.mergeMessages(merged)), ""
	}
	return events, "No function call event found for function responses ids: " + names
}

// callIDs are the ids of the calls of a message.
func (s *Subject) callIDs(m *Sent) map[string]bool {
	ids := map[string]bool{}
	for _, i := range m.Items {
		AddIDs(ids, &s.Items[i])
	}
	return ids
}

// messageOfOne is the message that one item is.
func (s *Subject) messageOfOne(item []int) Sent {
	m := Sent{Items: item}
	for n := range s.Items[item[0]].Results {
		m.Results = append(m.Results, pairing.Occurrence{Item: item[0], Nth: n})
	}
	return m
}

// mergeMessages makes one message of several: of the results of a call it has the last, in the place
// of the first.
func (s *Subject) mergeMessages(list []Sent) Sent {
	m := Sent{Items: slices.Clone(list[0].Items), Results: slices.Clone(list[0].Results)}
	for _, other := range list[1:] {
		m.Items = append(m.Items, other.Items...)
		for _, at := range other.Results {
			id := s.ResultAt(at).CallID
			known := slices.IndexFunc(m.Results, func(before pairing.Occurrence) bool { return id != "" && s.ResultAt(before).CallID == id })
			if known >= 0 {
				m.Results[known] = at
			} else {
				m.Results = append(m.Results, at)
			}
		}
	}
	return m
}

// messageAsItem is the message as an item of its own.
func (s *Subject) messageAsItem(m *Sent) *session.Item {
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
