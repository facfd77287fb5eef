package eventlog

import (
	"context"
	"errors"
	"slices"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/table"
)

// Rehearse implements store.Rehearser.
func (st *logStore) Rehearse(ctx context.Context, change *store.Change) error {
	w := writer{catalog: st.catalog, stored: st.knownEvents, edit: nowhere{st.db}, write: &st.layout.Write, created: map[string]*owner{}}
	all, sessions, err := findDifferences(change, st.layout)
	if err == nil {
		w.changed = sessions
		err = w.writeAll(ctx, all)
	}
	if err == nil && st.layout.Links != nil {
		err = w.keepsTogether(ctx, change, all)
	}
	if err == nil && st.moving && !keepsOrder(all) {
		return store.ErrReorder
	}
	if refused, ok := errors.AsType[store.Unwritable](err); ok {
		for key, err := range refused {
			refused[key] = explainRefusal(err)
		}
		return refused
	}
	if problem.ClassOf(err) == problem.RolledBack { // which says nothing of the database
		return explainRefusal(err)
	}
	return st.db.Explain(err)
}

// explainRefusal explains an error of a rehearsal, in which nothing was begun that could be rolled back.
func explainRefusal(err error) error {
	if p, ok := errors.AsType[*problem.Error](err); ok && p.Class == problem.RolledBack {
		return errors.New(p.What)
	}
	return err
}

// keepsOrder reports whether a change lets events of one time be: only the database knows
// their order.
func keepsOrder(all []*difference) bool {
	for _, d := range all {
		if d.Was == nil {
			continue
		}
		at := map[int64]int{}
		for i := range d.Was.Items {
			at[d.Was.Items[i].Position]++
		}
		tied := func(it *session.Item) bool { return it != nil && at[it.Position] > 1 }
		for i := range d.Items {
			if it := &d.Items[i]; tied(it.Was) && (it.Differs() || d.anew[i]) {
				return false
			}
		}
		if slices.ContainsFunc(d.Removed, tied) {
			return false
		}
	}
	return true
}

// nowhere writes nothing, and reads what was stored before.
type nowhere struct{ db table.Reader }

func (n nowhere) Reader() table.Reader { return n.db }

func (nowhere) Insert(context.Context, string, []table.Field) (table.Place, error) { return 0, nil }

func (nowhere) Update(context.Context, string, table.Place, []table.FieldChange) error { return nil }

func (nowhere) Delete(context.Context, string, table.Place) error { return nil }

func (nowhere) ReserveNumbers(_ context.Context, _, _ string, count int) ([]int64, error) {
	return make([]int64, count), nil
}

// keepsTogether refuses a change after which nothing leads to a session to which a record
// led before it: it would be a tree of its own, or look like a conversation, and whose it
// is would be forgotten.
func (w *writer) keepsTogether(ctx context.Context, change *store.Change, all []*difference) error {
	before, after := reachableSessions(change.Before), reachableSessions(change.After)
	called, calledNow := namedByOthers(change.Before), namedByOthers(change.After)
	for id := range change.Split {
		before[id], called[id] = true, true
	}
	if err := w.namedByRemoved(ctx, all, before); err != nil {
		return err
	}
	for _, s := range change.After.Sessions {
		tells := s.Parent != "" && w.sessions.Parent != "" // its own row
		if before[s.ID] && !after[s.ID] || called[s.ID] && !calledNow[s.ID] && !tells {
			return problem.New(problem.RolledBack, "", "it would remove the only record that says which session started session %.60s", s.ID)
		}
	}
	return nil
}

// namedByOthers are the sessions of a tree that others of it name.
func namedByOthers(tree *session.Tree) map[string]bool {
	ids := map[string]bool{}
	for _, s := range tree.Sessions {
		for id := range namedIn(s) {
			ids[id] = ids[id] || id != s.ID
		}
	}
	return ids
}

// namedByRemoved adds the sessions that rows name which are removed: a row that does not
// decode can name one that its item does not.
func (w *writer) namedByRemoved(ctx context.Context, all []*difference, named map[string]bool) error {
	for _, d := range all {
		if len(d.Removed) == 0 {
			continue
		}
		places := lists.MapEach(d.Removed, func(it *session.Item) table.Place { return w.places[it.Key] })
		_, err := w.events.readRows(ctx, w.events.Columns, places, func(_ int, row Row) error {
			for _, id := range w.layout.Links(row) {
				named[w.nameOf(w.ownerOf(d.Is.ID), id)] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// reachableSessions are the sessions of a tree that links connect with its first one.
func reachableSessions(tree *session.Tree) map[string]bool {
	linked, stored := map[string][]string{}, map[string]bool{}
	for _, s := range tree.Sessions {
		stored[s.ID] = true
	}
	link := func(from, to string) {
		if stored[to] {
			linked[from], linked[to] = append(linked[from], to), append(linked[to], from)
		}
	}
	for _, s := range tree.Sessions {
		link(s.ID, s.Parent)
		for i := range s.Items {
			for id := range namedBy(&s.Items[i]) {
				link(s.ID, id)
			}
		}
	}
	root := tree.Root().ID
	found, next := map[string]bool{root: true}, []string{root}
	for len(next) > 0 {
		from := next[0]
		next = next[1:]
		for _, id := range linked[from] {
			if !found[id] {
				found[id] = true
				next = append(next, id)
			}
		}
	}
	return found
}

// namedBy are the sessions that an item names.
func namedBy(it *session.Item) map[string]bool {
	ids := map[string]bool{}
	for i := range it.Calls {
		if d := it.Calls[i].Delegation; d != nil {
			ids[d.Child] = true
		}
		ids[it.Calls[i].Question.Child] = true
	}
	for i := range it.Results {
		ids[it.Results[i].Child], ids[it.Results[i].Question.Child] = true, true
	}
	delete(ids, "")
	return ids
}
