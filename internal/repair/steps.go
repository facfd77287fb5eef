package repair

import (
	"github.com/sessctl/sessctl/internal/session"
)

// origin says where the records of a tree were stored before anything was
// planned: people see one numbering, that of the store as it is.
type origin struct{ places map[string]session.Place }

func newOrigin(tree *session.Tree) *origin {
	o := &origin{places: map[string]session.Place{}}
	for _, s := range tree.Sessions {
		for i := range s.Items {
			o.places[whole(s.ItemRef(i))] = session.Place{Session: s.ID, Item: i}
		}
	}
	return o
}

func (o *origin) place(r session.Ref) session.Place {
	if p, ok := o.places[recordOf(r).Row()]; ok {
		return p
	}
	return session.Place{Session: r.Session, Item: -1}
}

// itemsByRow are the items of a tree by the rows of their records.
func itemsByRow(tree *session.Tree) map[string]*session.Item {
	items := make(map[string]*session.Item, tree.Items())
	for _, s := range tree.Sessions {
		for i := range s.Items {
			items[whole(s.ItemRef(i))] = &s.Items[i]
		}
	}
	return items
}

// steps tells what edits do to the items of a tree whose bodies are loaded.
func (o *origin) steps(items map[string]*session.Item, edits []session.Edit) []Step {
	list := make([]Step, 0, len(edits))
	for _, e := range edits {
		at := o.place(e.Ref)
		step := Step{Op: e.Op, Session: at.Session, Item: at.Item, To: e.To, After: o.place(e.After).Item, Part: e.Ref.Pointer, Field: e.Field, Value: e.Value}
		if e.Ref.Table == session.TableSessions {
			step.Session, step.Item = e.Ref.Key, -1
		}
		if e.Ref.Table == session.TableRuns {
			step.Run = e.Ref.Key
		}
		if e.Twin != (session.Ref{}) {
			twin := o.place(e.Twin)
			step.Twin = &twin
		}
		step.describe(items[whole(e.Ref)])
		step.announce(e, items)
		list = append(list, step)
	}
	return list
}

// describe says what a stored item is.
func (s *Step) describe(it *session.Item) {
	if it == nil {
		return
	}
	s.Kind, s.Role, s.Agent, s.Child = it.Kind, it.Role, it.Agent, it.Child
	for i := range it.Calls {
		s.Calls = append(s.Calls, it.Calls[i].Name)
	}
	if it.Body != nil {
		s.Text = it.Body.Text
	}
	list, n := partOf(s.Part)
	switch {
	case list == inCalls && n < len(it.Calls):
		s.Call = it.Calls[n].ID
	case (list == inResults || list == "" && it.Role == session.Tool) && n < len(it.Results):
		s.Call, s.Text = it.Results[n].CallID, it.Results[n].Text
		s.Rest = list == inResults && (len(it.Results) > 1 || !onlyResults(it))
	}
}

// announce says what a new record will be.
func (s *Step) announce(e session.Edit, items map[string]*session.Item) {
	if e.Call != nil {
		if it := items[whole(e.Call.Ref)]; it != nil && e.Call.Nth < len(it.Calls) {
			s.Call = it.Calls[e.Call.Nth].ID
			if d := it.Calls[e.Call.Nth].Delegation; d != nil {
				s.Agent = d.Agent
			}
		}
	}
	if e.Op == session.Create {
		s.Child, s.Like = e.NewID, e.Like
	}
	n := e.New
	if n == nil {
		return
	}
	s.Item, s.Session = -1, e.To
	s.Kind, s.Role, s.Child, s.Call, s.Text = n.Kind, n.Role, n.Child, n.CallID, n.Text
	if n.Agent != "" {
		s.Agent = n.Agent
	}
	if from := items[whole(n.TextFrom)]; from != nil && from.Body != nil {
		s.Text = from.Body.Text
	}
	if n.Prologue {
		s.Role = session.System
	}
}
