package rules

import (
	"iter"
	"slices"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// Turn is a message of the next request as it will be when every result stands
// behind its call: what has to be said about results out of place is said by the
// pairing rules, and no rule about the order of roles says it again.
type Turn struct {
	Item    int // of its first part; of results that nobody has, the call's
	Role    session.Role
	Calls   bool // an assistant's turn that calls tools
	Pending bool // a result is still to come
}

// Turns lists the messages of the next request. Results that answer no call are
// left out, because they leave. A call that may still be running has no answer
// yet.
func (s *Subject) Turns() []Turn {
	list := make([]Turn, 0, len(s.Items)-s.Start+1)
	answers := s.answerTurns()
	for t := range s.SpokenTurns() {
		list = append(list, t)
		if answer := answers[t.Item]; answer.Role == session.Tool {
			list = append(list, answer)
		}
	}
	return list
}

// SpokenTurns yields the turns but for the results, and a summary as the user's message
// that runtimes make of it. System messages are no turns, and what leaked leaves.
// A message that says nothing, of an unknown role or that does not decode has no
// role: what stands beside it cannot be judged.
func (s *Subject) SpokenTurns() iter.Seq[Turn] {
	return func(yield func(Turn) bool) {
		undecoded := s.FaultyItems(session.Undecodable)
		if last := s.LastSummary(); last >= 0 && !yield(Turn{Item: last, Role: session.User}) {
			return
		}
		if s.who.Scope != "" && !yield(Turn{Role: session.User}) { // the task, which is not stored as a message
			return
		}
		for i := s.Start; i < len(s.Items); i++ {
			it := &s.Items[i]
			if it.Kind == session.Other && undecoded[i] {
				if !yield(Turn{Item: i}) {
					return
				}
				continue
			}
			if it.Role == session.System || !s.OnWire(i) || AnswersOnly(it) {
				continue
			}
			t := Turn{Item: i, Role: it.Role, Calls: RunsTools(it)}
			if it.Flags.Has(session.Blank) {
				t.Role = session.NoRole
			}
			if !yield(t) {
				return
			}
		}
	}
}

// answerTurns are the results of the turns that call tools, by the index of their
// item; those that are over and have none get some by a repair. What the provider
// ran is answered within the turn itself.
func (s *Subject) answerTurns() []Turn {
	answers := make([]Turn, len(s.Items))
	for _, pair := range s.Pairs.Pairs {
		if s.CallAt(pair.Call).Server {
			continue
		}
		a := &answers[pair.Call.Item]
		if a.Role == session.NoRole || pair.Result.Item < a.Item {
			a.Item = pair.Result.Item
		}
		a.Role = session.Tool
		a.Pending = a.Pending || s.ResultAt(pair.Result).Pending
	}
	for _, m := range s.Pairs.Missing {
		a := &answers[m.Call.Item]
		switch {
		case s.CallAt(m.Call).Server:
		case m.Tail:
			a.Pending = true
		case a.Role == session.NoRole:
			a.Role, a.Item = session.Tool, m.Call.Item
		}
	}
	return answers
}

// FaultyItems are the items of which a fault of one kind is told.
func (s *Subject) FaultyItems(kind session.FaultKind) map[int]bool {
	items := map[int]bool{}
	for i := range s.Faults {
		if f := &s.Faults[i]; f.Kind == kind {
			items[f.Item] = true
		}
	}
	return items
}

// RunsTools reports whether the item makes a call that the provider does not run
// itself.
func RunsTools(it *session.Item) bool {
	return slices.ContainsFunc(it.Calls, func(c session.Call) bool { return !c.Server })
}

// IsOwn reports whether the item belongs to the session that holds it, and did not leak there.
func (s *Subject) IsOwn(item int) bool { return s.Replay.Steps[item].Action == replay.Persist }

// OwnItems yields the items without those that leaked.
func (s *Subject) OwnItems() iter.Seq2[int, *session.Item] {
	return func(yield func(int, *session.Item) bool) {
		for i := range s.Items {
			if s.IsOwn(i) && !yield(i, &s.Items[i]) {
				return
			}
		}
	}
}

// OnWire reports whether the item is part of a request once what leaked has left.
func (s *Subject) OnWire(item int) bool { return s.Items[item].OnWire() && s.IsOwn(item) }

// WireItems lists the items on the wire that a rule chooses: those of the next
// request, and those that are history.
func (s *Subject) WireItems(choose func(i int) bool) (next, past []int) {
	for i := range s.Items {
		switch {
		case !s.OnWire(i) || !choose(i):
		case s.IsHistory(i):
			past = append(past, i)
		default:
			next = append(next, i)
		}
	}
	return next, past
}
