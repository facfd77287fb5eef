package kagent

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// callPlace is where a call stands in a session.
type callPlace struct{ item, nth int }

// wait sets anew which calls may stay without a result: the long-running ones, and
// those that a person is still to approve of (c2). Runtimes ask before they store the
// response that says so, and most stop there, so that it is never stored: adk-go before
// 1.4 and adk-python, under kagent's executors (Python since 0.8.0, Go since 0.8.6).
func (r *reader) wait(s *session.Session) {
	waiting := r.unapproved(s)
	for i := range s.Items {
		it := &s.Items[i]
		long := r.notes.of(it).long
		for nth := range it.Calls {
			asked := waiting[callPlace{i, nth}]
			waits := asked || slices.Contains(long, it.Calls[nth].ID)
			if it.Calls[nth].Waits != waits || it.Calls[nth].Asked != asked {
				it.Calls = slices.Clone(it.Calls) // another session may share them
				it.Calls[nth].Waits, it.Calls[nth].Asked = waits, asked
			}
		}
	}
}

// unapproved are the calls about which a person was asked who can still answer.
func (r *reader) unapproved(s *session.Session) map[callPlace]bool {
	made := map[string]callPlace{}  // the last call with an id
	asked := map[string]callPlace{} // by the id of the question
	for i := range s.Items {
		it := &s.Items[i]
		if it.Flags.Has(session.Skipped) {
			continue
		}
		about := r.notes.of(it).about
		for nth := range it.Results {
			delete(asked, it.Results[nth].CallID)
		}
		for nth := range it.Calls {
			id := it.Calls[nth].ID
			made[id] = callPlace{i, nth}
			if at, ok := made[about[id]]; ok && id != about[id] && !isOver(s, it.Invocation) {
				asked[id] = at
			}
		}
	}
	waiting := map[callPlace]bool{}
	for _, at := range asked {
		waiting[at] = true
	}
	return waiting
}

// isOver reports whether the tasks of an invocation are over: A2A takes no answer for
// them any more (c2). Without a task nothing says so.
func isOver(s *session.Session, invocation string) bool {
	over := false
	for i := range s.Runs {
		if run := &s.Runs[i]; run.Invocation == invocation && invocation != "" {
			if run.Open {
				return false
			}
			over = true
		}
	}
	return over
}
