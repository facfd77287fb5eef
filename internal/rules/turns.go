package rules

import (
	"iter"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// turn is a message of the next request as it will be when every result stands
// behind its call: what has to be said about results out of place is said by the
// pairing rules, and no rule about the order of roles says it again.
type turn struct {
	item    int // of its first part; of results that nobody has, the call's
	role    session.Role
	calls   bool // an assistant's turn that calls tools
	pending bool // a result is still to come
}

// requests yields what judged does, without the sessions that no request is made
// of any more.
func (p *Pass) requests() iter.Seq[Judged] {
	return func(yield func(Judged) bool) {
		for j := range p.judged() {
			if !j.Closed && !yield(j) {
				return
			}
		}
	}
}

// turns lists the messages of the next request. Results that answer no call are
// left out, because they leave. A call that may still be running has no answer
// yet.
func (s *Subject) turns() []turn {
	list := make([]turn, 0, len(s.Items)-s.Start+1)
	answers := s.answers()
	for t := range s.spoken() {
		list = append(list, t)
		if answer := answers[t.item]; answer.role == session.Tool {
			list = append(list, answer)
		}
	}
	return list
}

// spoken yields the turns but for the results, and a summary as the user's message
// that runtimes make of it. System messages are no turns, and what leaked leaves.
// A message that says nothing, of an unknown role or that does not decode has no
// role: what stands beside it cannot be judged.
func (s *Subject) spoken() iter.Seq[turn] {
	return func(yield func(turn) bool) {
		undecoded := s.faulty(session.Undecodable)
		if last := s.LastSummary(); last >= 0 && !yield(turn{item: last, role: session.User}) {
			return
		}
		if s.who.scope != "" && !yield(turn{role: session.User}) { // the task, which is not stored as a message
			return
		}
		for i := s.Start; i < len(s.Items); i++ {
			it := &s.Items[i]
			if it.Kind == session.Other && undecoded[i] {
				if !yield(turn{item: i}) {
					return
				}
				continue
			}
			if it.Role == session.System || !s.onWire(i) || answersOnly(it) {
				continue
			}
			t := turn{item: i, role: it.Role, calls: runsTools(it)}
			if it.Flags.Has(session.Blank) {
				t.role = session.NoRole
			}
			if !yield(t) {
				return
			}
		}
	}
}

// answers are the results of the turns that call tools, by the index of their
// item; those that are over and have none get some by a repair. What the provider
// ran is answered within the turn itself.
func (s *Subject) answers() []turn {
	answers := make([]turn, len(s.Items))
	for _, pair := range s.Pairs.Pairs {
		if s.call(pair.Call).Server {
			continue
		}
		a := &answers[pair.Call.Item]
		if a.role == session.NoRole || pair.Result.Item < a.item {
			a.item = pair.Result.Item
		}
		a.role = session.Tool
		a.pending = a.pending || s.result(pair.Result).Pending
	}
	for _, m := range s.Pairs.Missing {
		a := &answers[m.Call.Item]
		switch {
		case s.call(m.Call).Server:
		case m.Tail:
			a.pending = true
		case a.role == session.NoRole:
			a.role, a.item = session.Tool, m.Call.Item
		}
	}
	return answers
}

// faulty are the items of which a fault of one kind is told.
func (s *Subject) faulty(kind session.FaultKind) map[int]bool {
	items := map[int]bool{}
	for i := range s.Faults {
		if f := &s.Faults[i]; f.Kind == kind {
			items[f.Item] = true
		}
	}
	return items
}

// runsTools reports whether the item makes a call that the provider does not run
// itself.
func runsTools(it *session.Item) bool {
	for i := range it.Calls {
		if !it.Calls[i].Server {
			return true
		}
	}
	return false
}

// onWire reports whether the item is part of a request once what leaked has left.
func (s *Subject) onWire(item int) bool {
	return s.Items[item].OnWire() && s.Replay.Steps[item].Action != replay.Skip
}

// wireItems lists the items on the wire that a rule chooses: those of the next
// request, and those that are history.
func (s *Subject) wireItems(choose func(i int) bool) (next, past []int) {
	for i := range s.Items {
		switch {
		case !s.onWire(i) || !choose(i):
		case s.history(i):
			past = append(past, i)
		default:
			next = append(next, i)
		}
	}
	return next, past
}
