package mastra

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/eventlog"
)

// turn is a row.
type turn = eventlog.Turn

// turnsIn are the rows of a session.
func turnsIn(s *session.Session) []turn {
	return eventlog.TurnsOf(s.Items, func(a, b *session.Item) bool { return rowOf(a.Key) == rowOf(b.Key) })
}

// answerDigest is the last text of a row, 0 where it ends with something else.
func answerDigest(t *turn) session.Digest {
	if last := &t.Items[len(t.Items)-1]; last.Role == session.Assistant {
		return last.Text
	}
	return 0
}

// asksSame reports whether two rows ask, say and call the same, whatever their calls got.
func asksSame(t, o *turn) bool {
	meanings := func(t *turn) (list []session.Digest) {
		for i := range t.Items {
			if it := &t.Items[i]; it.Role != session.Tool {
				list = append(list, it.Meaning)
			}
		}
		return list
	}
	return t.SpeakerRole() == o.SpeakerRole() && slices.Equal(meanings(t), meanings(o))
}

// delegation is a call of an agent with its thread.
type delegation struct {
	call  *session.Call
	child *session.Session // without items where it is gone
	at    int              // the index of the call's row
	key   callKey
}

// proof is what tells what a sub-thread said: the result of its call.
type proof struct {
	answer session.Digest
	lists  bool             // it lists calls
	made   []session.Digest // of them
}

func proofOf(a asked) proof {
	said := proof{answer: session.DigestOf(a.Text), lists: a.Made != nil}
	for _, made := range a.Made {
		said.made = append(said.made, session.DigestOf(made.ID+"\x00"+made.Name))
	}
	return said
}

// findStrays tells which rows another thread's run stored. Releases before 1.23 stored what a
// sub-agent said in its caller's thread (mastra-ai/mastra#15007), and 1.8 what the caller said in
// the sub-agent's (#14583). What is found tells more of the others, until nothing does.
func (r *reader) findStrays(tree *session.Tree) {
	for _, s := range tree.Sessions {
		for i := range s.Items { // a repair may have changed what tells
			s.Items[i].Own().Home, s.Items[i].Copied = "", false
		}
	}
	for _, s := range tree.Sessions {
		turns := turnsIn(s)
		markDoubled(s, turns)
		calls := listDelegations(tree, s, turns)
		for again := len(calls) > 0; again; {
			again = false
			for n := range turns {
				again = turns[n].Items[0].Home() == "" && r.findHome(s, turns, n, calls) || again
			}
		}
		for _, d := range calls {
			if slices.Contains(s.Children, d.child) {
				markCallers(s, turns[:d.at+1], d)
			}
		}
	}
}

// listDelegations lists the calls of agents of a session, but those without a result of which nothing
// tells the thread.
func listDelegations(tree *session.Tree, s *session.Session, turns []turn) (list []delegation) {
	named := map[string]bool{}
	for n := range turns {
		for i := range turns[n].Items {
			it := &turns[n].Items[i]
			it.Calls = slices.Clone(it.Calls)
			for k := range it.Calls {
				if d := it.Calls[k].Delegation; d != nil {
					if d.Likely { // which a repair may have changed
						bare := *d
						bare.Child, bare.Likely = "", false
						d, it.Calls[k].Delegation = &bare, &bare
					}
					child := tree.Session(d.Child)
					if child == nil {
						child = &session.Session{ID: d.Child}
					}
					named[d.Child], list = true, append(list, delegation{&it.Calls[k], child, n, callKey{it.Key, k}})
				}
			}
		}
	}
	for i := range list {
		if d := &list[i]; d.child.ID == "" {
			from, to := turnBounds(turns, d.at)
			alike := func(o delegation) bool { // another call asks the same
				return o.call != d.call && o.call.Delegation.Task == d.call.Delegation.Task && o.child.ID == "" && o.at >= from && o.at <= to
			}
			fits := func(o *session.Session) bool {
				return o.Parent == s.ID && !named[o.ID] && len(o.Items) > 0 && o.Items[0].Role == session.User && o.Items[0].Text != 0 && o.Items[0].Text == d.call.Delegation.Task &&
					(from == 0 || !o.Created.Before(turns[from-1].Items[0].Time)) && (to+1 == len(turns) || !o.Created.After(turns[to+1].Items[0].Time))
			}
			at := slices.IndexFunc(s.Children, fits)
			if at < 0 || slices.ContainsFunc(s.Children[at+1:], fits) || slices.ContainsFunc(list, alike) {
				continue
			}
			linked := *d.call.Delegation
			d.child, linked.Child, linked.Likely, d.call.Delegation = s.Children[at], s.Children[at].ID, true, &linked
		}
	}
	return slices.DeleteFunc(list, func(d delegation) bool { return d.child.ID == "" })
}

// turnBounds are the first and the last row around one between which the user said nothing else.
func turnBounds(turns []turn, n int) (from, to int) {
	asks := func(i int) bool { return turns[i].SpeakerRole() == session.User && turns[i].Items[0].Home() == "" }
	for from = n; from > 0 && !asks(from-1); from-- {
	}
	for to = n; to+1 < len(turns) && !asks(to+1); to++ {
	}
	return from, to
}

// findHome marks a row that the run of a sub-agent stored, and reports whether it did: what it says
// tells, or else the resource that it has.
func (r *reader) findHome(s *session.Session, turns []turn, n int, calls []delegation) bool {
	row := &turns[n]
	at, away := r.ownerOf(&row.Items[0])
	home, copied := "", false
	from, to := turnBounds(turns, n)
	first, _ := slices.BinarySearchFunc(calls, from, func(d delegation, row int) int { return d.at - row })
	for _, proves := range []func(d delegation) bool{
		func(d delegation) bool {
			return r.provesChild(row, n, d) && (row.SpeakerRole() == session.Assistant || at.resource == r.resourceOf(s, d))
		},
		func(d delegation) bool {
			return away && at.resource != "" && at.resource == r.resourceOf(s, d) && row.SpeakerRole() == session.Assistant
		},
	} {
		for _, d := range calls[first:] {
			if d.at > to {
				break
			}
			if d.at == n || !proves(d) {
				continue
			}
			if home != "" && home != d.child.ID { // two say so
				home, copied = session.HomeUnknown, false
				break
			}
			home, copied = d.child.ID, slices.ContainsFunc(turnsIn(d.child), func(o turn) bool { return asksSame(&o, row) && o.Items[0].Role != session.User })
		}
		if home != "" {
			row.SetHome(home, copied)
			s.Faults = slices.DeleteFunc(s.Faults, func(f session.Fault) bool {
				return f.Kind == session.ForeignOwner && f.Item >= row.At && f.Item < row.At+len(row.Items)
			})
			return true
		}
	}
	return false
}

// resourceOf is the resource of a call's thread: of one that is gone, what Mastra gave it.
func (r *reader) resourceOf(s *session.Session, d delegation) string {
	return cmp.Or(r.threads[d.child.ID], r.threads[s.ID]+"-"+d.call.Delegation.Agent)
}

// ownerOf is whose the row of an item is, and whether it is of another resource than its thread.
func (r *reader) ownerOf(it *session.Item) (at owner, away bool) {
	known, away := r.away.Load(rowOf(it.Key))
	at, _ = known.(owner)
	return at, away
}

// provesChild reports whether a row of the turn in which a call was made is what the call's thread
// said: its calls are those that the result of the call lists, or where it has none, or the
// result has no list, it stands before the call and ends with the answer. The
// task is in the caller's thread only if it has the resource of the other.
func (r *reader) provesChild(row *turn, n int, d delegation) bool {
	known, _ := r.proofs.Load(d.key)
	got, _ := known.(proof)
	if row.SpeakerRole() == session.User {
		return row.Items[0].Text == d.call.Delegation.Task
	}
	calls, ends := row.CallNames(), got.answer != 0 && answerDigest(row) == got.answer
	if len(calls) == 0 || !got.lists {
		return ends && n < d.at
	}
	for id, name := range calls {
		if !slices.Contains(got.made, session.DigestOf(id+"\x00"+name)) {
			return false
		}
	}
	return ends || answerDigest(row) == 0 || got.answer == 0
}

// markCallers marks the rows of a sub-thread that are copies of what its caller had said when it
// called: with the call itself among them, which nobody hands over on purpose.
func markCallers(s *session.Session, before []turn, d delegation) {
	var copies []turn
	called := false
	for _, row := range turnsIn(d.child)[min(1, len(d.child.Items)):] {
		if row.Items[0].Home() == "" && slices.ContainsFunc(before, func(o turn) bool { return asksSame(&o, &row) }) {
			copies = append(copies, row)
			_, calls := row.CallNames()[d.call.ID]
			called = called || calls
		}
	}
	for i := range copies {
		if called {
			copies[i].SetHome(s.ID, true)
		}
	}
}

// markDoubled marks rows that say nothing which another one of the session does not: a turn that
// was stored again (#13438) or before it was over, and the task of a sub-agent (#20174).
func markDoubled(s *session.Session, turns []turn) {
	byCall, answered := map[string][]*turn{}, false
	for n := range turns {
		row := &turns[n]
		if answered = answered || row.SpeakerRole() == session.Assistant && row.Items[0].Home() == ""; row.SpeakerRole() != session.Assistant {
			if first := &turns[0]; n > 0 && s.Delegated && !answered && asksSame(row, first) && row.Items[0].Text != 0 {
				row.SetHome(s.ID, true)
			}
			continue
		}
		for id := range row.CallNames() {
			for _, o := range byCall[id] {
				switch {
				case o.Items[0].Copied || row.Items[0].Copied:
				case o.HoldsTurn(row):
					row.SetHome(s.ID, true)
				case row.HoldsTurn(o):
					o.SetHome(s.ID, true)
				}
			}
			byCall[id] = append(byCall[id], row)
		}
	}
}

// owner is whose a row is that is not of its thread's resource, and in which thread it is stored.
type owner struct{ thread, resource string }

// foreignOwner is the fault of a row of another resource than its thread's: Mastra asks for both.
func (e event) foreignOwner(r *reader, row eventlog.Row) *session.Fault {
	at := owner{column.Text(row.Value("thread_id")), column.Text(row.Value(fieldResource))}
	own := r.threads[at.thread]
	if r.away.Delete(e.id); !row.HasColumn(fieldResource) || at.resource == own {
		return nil
	}
	r.away.Store(e.id, at)
	return &session.Fault{Kind: session.ForeignOwner, Field: fieldResource, Default: &own, Detail: at.resource}
}

// tellForeign marks the rows that are not sent because of their resource: those that have the
// fault. One that a repair moves gets the resource of its thread.
func (r *reader) tellForeign(s *session.Session) {
	faulty := map[string]bool{}
	s.Faults = slices.DeleteFunc(slices.Clone(s.Faults), func(f session.Fault) bool {
		if f.Kind != session.ForeignOwner {
			return false
		}
		at, _ := r.ownerOf(&s.Items[f.Item])
		faulty[rowOf(s.Items[f.Item].Key)] = at.thread == s.ID
		return at.thread != s.ID
	})
	for i := range s.Items {
		at, away := r.ownerOf(&s.Items[i])
		if !away {
			continue
		}
		s.Items[i].Flags &^= session.Unshown
		if at.thread == s.ID && (faulty[rowOf(s.Items[i].Key)] || s.Items[i].Home() != "") {
			s.Items[i].Flags |= session.Unshown
		}
	}
}
