package rules_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/forest"
)

// desk is a tree on which edits are made one after another, as a repair makes
// them in a store: the meaning of "after" is the place at that moment.
type desk struct {
	sessions []*session.Session
	rows     int // for the keys of new items
}

func newDesk(tree *session.Tree) *desk { return &desk{sessions: tree.Sessions} }

// tree groups the sessions anew, with the positions that a repair gives.
func (d *desk) tree() *session.Tree {
	heads := make([]forest.Head, len(d.sessions))
	for i, s := range d.sessions {
		s.Children, s.Faults = nil, nil
		for n := range s.Items {
			s.Items[n].Position = int64(n)
		}
		heads[i] = forest.HeadOf(s)
	}
	return forest.Group(heads)[0]
}

// repair makes the default repairs round by round until none is left, and
// returns what is found at the end.
func (d *desk) repair(store *session.Store) ([]*rules.Finding, error) {
	for range 5 {
		found := findAll(store, []*session.Tree{d.tree()})
		slices.SortStableFunc(found, func(a, b *rules.Finding) int {
			return cmp.Or(cmp.Compare(a.Item, b.Item), cmp.Compare(a.Rule.ID, b.Rule.ID))
		})
		done := 0
		for _, f := range found {
			for _, fix := range f.Fixes {
				if fix.Safety != rules.Lossless && fix.Safety != rules.Kept {
					continue
				}
				done++
				for _, e := range fix.Edits {
					if err := d.make(e); err != nil {
						return nil, fmt.Errorf("%s, edit %+v: %w", f.Rule.ID, e, err)
					}
				}
			}
		}
		if done == 0 {
			return found, nil
		}
	}
	return nil, fmt.Errorf("the repair finds no end")
}

func (d *desk) make(e session.Edit) error {
	switch e.Op {
	case session.Create:
		child := &session.Session{ID: e.NewID, Parent: e.To}
		d.sessions = append(d.sessions, child)
		return d.addPrologue(child, e.Call)
	case session.Insert:
		to := d.session(e.To)
		if to == nil {
			return fmt.Errorf("no session %s", e.To)
		}
		if e.New.Prologue {
			return d.addPrologue(to, e.Call)
		}
		return d.put(d.newItem(e.New), to, e.After)
	case session.Move:
		it, err := d.take(e.Ref)
		if err != nil {
			return err
		}
		return d.put(it, d.session(e.To), e.After)
	case session.RemoveTwin:
		if s, _ := d.find(e.Twin); s == nil {
			return fmt.Errorf("the twin does not exist")
		}
		_, err := d.take(e.Ref)
		return err
	case session.Quarantine:
		_, err := d.take(e.Ref)
		return err
	}
	return fmt.Errorf("not known here")
}

func (d *desk) session(id string) *session.Session {
	for _, s := range d.sessions {
		if s.ID == id {
			return s
		}
	}
	return nil
}

func (d *desk) find(r session.Ref) (*session.Session, int) {
	for _, s := range d.sessions {
		for i := range s.Items {
			if s.Items[i].Table == r.Table && s.Items[i].Key == r.Key {
				return s, i
			}
		}
	}
	return nil, -1
}

func (d *desk) take(r session.Ref) (session.Item, error) {
	s, i := d.find(r)
	if s == nil {
		return session.Item{}, fmt.Errorf("%s does not exist", r.Row())
	}
	it := s.Items[i]
	s.Items = slices.Delete(s.Items, i, i+1)
	return it, nil
}

// put places an item behind another one; without one it goes to the start,
// behind a prologue that a repair wrote.
func (d *desk) put(it session.Item, to *session.Session, after session.Ref) error {
	place := 0
	if after == (session.Ref{}) {
		for place < len(to.Items) && to.Items[place].Flags.Has(session.Synthetic) && to.Items[place].Role != session.Tool {
			place++
		}
	} else {
		s, i := d.find(after)
		if s != to {
			return fmt.Errorf("the place %s is not in session %s", after.Row(), to.ID)
		}
		place = i + 1
	}
	to.Items = slices.Insert(to.Items, place, it)
	return nil
}

func (d *desk) newItem(n *session.NewItem) session.Item {
	d.rows++
	it := session.Item{Table: "new", Key: strconv.Itoa(d.rows), Kind: n.Kind, Role: n.Role, Agent: n.Agent, Child: n.Child, Flags: session.Synthetic}
	if n.CallID != "" {
		it.Results = []session.Result{{CallID: n.CallID, IsError: n.IsError, Synthetic: !n.Restored}}
	}
	return it
}

// addPrologue adds the messages that a child begins with, of the task of a call.
func (d *desk) addPrologue(child *session.Session, call *session.CallRef) error {
	s, i := d.find(call.Ref)
	if s == nil {
		return fmt.Errorf("the call's item does not exist")
	}
	child.Task = s.Items[i].Calls[call.Nth].Delegation.Task
	task := d.newItem(&session.NewItem{Role: session.System})
	start := d.newItem(&session.NewItem{Role: session.User})
	start.Flags |= session.Implicit
	child.Items = append([]session.Item{task, start}, child.Items...)
	return nil
}
