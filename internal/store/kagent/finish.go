package kagent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// finish sets what only all items of a session together can tell.
func (r *reader) finish(s *session.Session) {
	s.Faults = slices.Clone(s.Faults) // the session may be yielded again
	key := sessionKey{s.User, r.stored(s)}
	r.breakTies(s)
	r.claim(s, key)
	r.relate(s)
	for i := range s.Items {
		s.Delegated = s.Delegated || r.notes.of(&s.Items[i]).parented
	}
	if s.Delegated {
		s.Task = firstRequest(s)
	}
	if s.Inseparable == "" && slices.ContainsFunc(s.Items, func(it session.Item) bool { return it.Invocation == "" && it.OnWire() }) {
		s.Inseparable = "some of its events do not say which run they belong to"
	}
	tellDeleted(s)
	r.tellTasks(s, key)
	r.notes.thin(s)
}

// retell reports anew what only the items of a session tell together: a repair can change
// it. It leaves the list of faults as it is where another session shares it.
func (r *reader) retell(s *session.Session) {
	retold := func(f session.Fault) bool {
		return f.Kind == session.MixedDialects || f.Kind == session.CopiesDiffer && f.Ref.Table == session.TableRuns
	}
	s.Faults = slices.DeleteFunc(slices.Clone(s.Faults), retold)
	r.tellDialects(s)
	tellStuck(s)
}

// stored is the id of a session in its row.
func (r *reader) stored(s *session.Session) string {
	if id, ok := strings.CutPrefix(s.ID, s.User+"/"); ok && r.named(s.User, id) != id {
		return id
	}
	return s.ID
}

// breakTies orders events of one microsecond by their own times, then by their ids
// (K12). Faults follow their items.
func (r *reader) breakTies(s *session.Session) {
	place := make([]int, len(s.Items))
	for i := range place {
		place[i] = i
	}
	slices.SortStableFunc(place, func(a, b int) int {
		x, y := &s.Items[a], &s.Items[b]
		return cmp.Or(cmp.Compare(x.Position, y.Position), x.Time.Compare(y.Time), cmp.Compare(x.Key, y.Key))
	})
	if slices.IsSorted(place) {
		return
	}
	items, now := make([]session.Item, len(place)), make([]int, len(place))
	for to, from := range place {
		items[to], now[from] = s.Items[from], to
	}
	s.Items = items
	for i := range s.Faults {
		if f := &s.Faults[i]; f.Item >= 0 {
			f.Item = now[f.Item]
		}
	}
}

// firstRequest is the text of the first message of a session.
func firstRequest(s *session.Session) session.Digest {
	for i := range s.Items {
		if it := &s.Items[i]; it.OnWire() {
			if it.Role == session.User {
				return it.Text
			}
			return 0
		}
	}
	return 0
}

// tellDialects reports a session with events in several dialects: no runtime reads
// all of them (K9).
func (r *reader) tellDialects(s *session.Session) {
	count := map[dialect]int{}
	for i := range s.Items {
		count[r.notes.of(&s.Items[i]).form]++
	}
	delete(count, unknown)
	if len(count) < 2 {
		return
	}
	var parts []string
	most := slices.Max(slices.Collect(maps.Values(count)))
	others := -most
	for _, n := range count {
		others += n
	}
	for _, form := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, fmt.Sprintf("%d of %d are %s", count[form], len(s.Items), words[form]))
	}
	s.Faults = append(s.Faults, session.Fault{
		Kind: session.MixedDialects, Ref: s.Ref(), Item: -1, Field: "data", Count: others, Detail: "of the events " + strings.Join(parts, ", "),
	})
}

// tellDeleted reports what is left of a session that was deleted (K8).
func tellDeleted(s *session.Session) {
	if !s.Deleted || len(s.Items)+len(s.Runs) == 0 {
		return
	}
	s.Faults = append(s.Faults, session.Fault{
		Kind: session.OrphanRecord, Ref: s.Ref(), Item: -1, Field: "deleted_at", Count: len(s.Items) + len(s.Runs),
		Detail: fmt.Sprintf("the session was deleted, and %s and %s of it are left: kagent shows them to nobody, and makes no new session with this id",
			counted(len(s.Items), "event"), counted(len(s.Runs), "task")),
	})
}

// tellTasks reports tasks that do not decode.
func (r *reader) tellTasks(s *session.Session, key sessionKey) {
	ref := func(id string) session.Ref { return session.Ref{Session: s.ID, Table: session.TableRuns, Key: id} }
	for i := range r.tasks[key.id] {
		if t := &r.tasks[key.id][i]; t.wrong != "" && !t.deleted && r.ownerOf(t, key) == key.user {
			s.Faults = append(s.Faults, session.Fault{Kind: session.Undecodable, Ref: ref(t.run.ID), Item: -1, Field: "task data", Detail: t.wrong, Lost: true})
		}
	}
}

// tellStuck reports tasks that are at work for ever: the last change of their state was
// lost (K2).
func tellStuck(s *session.Session) {
	ref := func(id string) session.Ref { return session.Ref{Session: s.ID, Table: session.TableRuns, Key: id} }
	for i := range s.Runs {
		run := &s.Runs[i]
		if worksOn(run.State) && run.Invocation != "" && hasEnded(s, run.Invocation) {
			s.Faults = append(s.Faults, session.Fault{
				Kind: session.CopiesDiffer, Ref: ref(run.ID), Item: -1, Field: "the state of task " + run.ID,
				Detail: fmt.Sprintf("the task says %q, and its invocation %s ended with an answer; people are shown the task", run.State, run.Invocation),
			})
		}
	}
}

// hasEnded reports whether the last event of an invocation is an answer.
func hasEnded(s *session.Session, invocation string) bool {
	for i := range slices.Backward(s.Items) {
		if it := &s.Items[i]; it.Invocation == invocation && it.OnWire() {
			return it.Role == session.Assistant && len(it.Calls) == 0 && !it.Flags.Has(session.Blank)
		}
	}
	return false
}
