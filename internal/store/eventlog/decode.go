package eventlog

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// slot is the place of an event in a session that is being read.
type slot struct {
	s     *session.Session
	owner *owner
	item  int
	at    int64
}

// decode reads the trees of some heads, without bodies.
func (st *logStore) decode(ctx context.Context, heads []*session.Tree) ([]*session.Tree, error) {
	trees := make([]*session.Tree, len(heads))
	var sessions []*session.Session
	var slots []slot
	var places []table.Place
	for i := range heads {
		trees[i] = copied(heads[i])
		sessions = append(sessions, trees[i].Sessions...)
	}
	for _, s := range sessions {
		i := st.byName[s.ID]
		s.Items = make([]session.Item, len(st.entries[i]))
		for n, e := range st.entries[i] {
			slots, places = append(slots, slot{s, &st.list[i], n, e.at}), append(places, e.row)
		}
	}
	unread, err := st.events.rows(ctx, st.events.Columns, places, func(n int, row Row) error {
		st.item(&slots[n], row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, n := range unread {
		if err := st.unreadable(ctx, &slots[n], places[n]); err != nil {
			return nil, err
		}
	}
	for _, s := range sessions {
		if len(s.Items) == 0 {
			s.Items = nil
		}
		slices.SortStableFunc(s.Faults, func(a, b session.Fault) int { return cmp.Compare(a.Item, b.Item) })
		if st.layout.Finish != nil {
			st.layout.Finish(s)
		}
		if st.layout.Links != nil {
			st.keepUnsaid(s)
		}
	}
	return trees, nil
}

// item decodes an event into its place.
func (st *logStore) item(to *slot, row Row) {
	it := &to.s.Items[to.item]
	it.Table, it.Key, it.Position = st.events.Name, st.key(to.owner, row), to.at
	for _, f := range st.layout.Item(row, it, false) {
		to.s.Faults = append(to.s.Faults, located(f, to.item, to.s.ItemRef(to.item)))
	}
	st.nameChildren(to.owner, it)
}

// located is a fault with the place that it is at. What it points at within the
// record stays.
func located(f session.Fault, item int, at session.Ref) session.Fault {
	at.Pointer = f.Ref.Pointer
	f.Item, f.Ref = item, at
	return f
}

// unreadable keeps the place of an event whose row cannot be read.
func (st *logStore) unreadable(ctx context.Context, to *slot, at table.Place) error {
	row := Row{Place: at}
	_, err := st.events.rows(ctx, []string{st.events.ID}, []table.Place{at}, func(_ int, read Row) error {
		row = read.kept()
		return nil
	})
	if err != nil {
		return err
	}
	it := &to.s.Items[to.item]
	it.Table, it.Key, it.Position, it.Kind = st.events.Name, st.key(to.owner, row), to.at, session.Other
	to.s.Faults = append(to.s.Faults, session.Fault{
		Kind: session.StoreDamaged, Item: to.item, Ref: to.s.ItemRef(to.item),
		Detail: "the event cannot be read: it lies on a damaged page of the file",
	})
	return nil
}

// Fill loads the bodies of a tree's items. A tree may have some of the items of a
// session only.
func (st *logStore) Fill(ctx context.Context, tree *session.Tree) error {
	for _, s := range tree.Sessions {
		if err := st.fill(ctx, s); err != nil {
			return st.db.Explain(err)
		}
	}
	return nil
}

func (st *logStore) fill(ctx context.Context, s *session.Session) error {
	wanted := make(map[string]*session.Item, len(s.Items))
	for i := range s.Items {
		wanted[s.Items[i].Key] = &s.Items[i]
	}
	n, ok := st.byName[s.ID]
	if !ok {
		return errors.New("session " + s.ID + " is not in the store")
	}
	places := make([]table.Place, len(st.entries[n]))
	for i, e := range st.entries[n] {
		places[i] = e.row
	}
	_, err := st.events.rows(ctx, st.events.Columns, places, func(_ int, row Row) error {
		key := st.key(&st.list[n], row)
		if it := wanted[key]; it != nil {
			delete(wanted, key)
			st.body(row, it)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for key, it := range wanted {
		if it.Kind != session.Other { // else a fault tells of it
			return problem.New(problem.Unreadable, "`sessctl check` says what is damaged",
				"%s is damaged: %s/%s cannot be read again", st.facts.Path, it.Table, key)
		}
		it.Body = &session.Body{}
	}
	return nil
}

// body sets what an event says, and nothing else.
func (st *logStore) body(row Row, it *session.Item) {
	full := session.Item{Table: it.Table, Key: it.Key, Position: it.Position}
	st.layout.Item(row, &full, true)
	it.Body = full.Body
	for i := range min(len(it.Calls), len(full.Calls)) {
		it.Calls[i].Args = full.Calls[i].Args
	}
	for i := range min(len(it.Results), len(full.Results)) {
		it.Results[i].Text = full.Results[i].Text
	}
}
