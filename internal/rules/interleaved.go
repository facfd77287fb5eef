package rules

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// turnBack is a message of a run that had begun before, directly behind one of another
// run.
type turnBack struct{ Item, before int }

// InterleavedTurns are the messages at which one of two writers goes on behind the other,
// nil where nothing proves that there were two.
func (s *Subject) InterleavedTurns() []turnBack {
	turns := s.turnsBack()
	if len(turns) < 2 || s.Tick == 0 && !s.wentBack(turns) {
		return nil
	}
	return turns
}

// turnsBack are the messages at which a run goes on behind another one. A run that was
// resumed begins anew with what the user said or approved, and is none; nor is what a
// repair wrote. Two runs whose messages are mixed have at least two of these.
func (s *Subject) turnsBack() []turnBack {
	var turns []turnBack
	seen, writer := map[string]bool{}, s.itemWriter()
	last, before := "", -1
	for i := range s.Items {
		it := &s.Items[i]
		run := writer(it)
		if run == "" || !it.OnWire() || it.Flags.Has(session.Synthetic) || !s.IsOwn(i) {
			continue
		}
		if before >= 0 && run != last && seen[run] {
			if isByUser(it) {
				clear(seen)
			} else {
				turns = append(turns, turnBack{i, before})
			}
		}
		seen[run], last, before = true, run, i
	}
	return turns
}

// itemWriter says who wrote an item: its invocation, or, in a session without any, its
// agent. Agents that share a session lawfully, by handing over or on branches of their
// own, are no writers.
func (s *Subject) itemWriter() func(*session.Item) string {
	agents := true
	for i := range s.Items {
		it := &s.Items[i]
		agents = agents && it.Invocation() == "" && it.Branch() == "" && !slices.ContainsFunc(it.Calls, func(c session.Call) bool {
			return c.Delegation != nil || session.IsHandoff(c.Name)
		})
	}
	return func(it *session.Item) string {
		if agents {
			return it.Agent()
		}
		return it.Invocation()
	}
}

// isByUser reports whether a person said it: a message, or the answer to what an agent
// asked.
func isByUser(it *session.Item) bool {
	return it.Role == session.User || it.Role == session.Tool && (it.Agent() == "" || it.Agent() == session.User.String())
}

// wentBack reports whether a message at a turn is older than the one before it.
func (s *Subject) wentBack(turns []turnBack) bool {
	return slices.ContainsFunc(turns, func(t turnBack) bool {
		older := s.Items[t.Item].Time
		return !older.IsZero() && older.Before(s.Items[t.before].Time)
	})
}
