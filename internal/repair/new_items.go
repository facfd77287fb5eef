package repair

import (
	"fmt"
	"strconv"

	"github.com/sessctl/sessctl/internal/session"
)

// create makes a session below another one, which begins with the task that a
// call hands to it.
func (d *desk) create(e session.Edit) error {
	if d.byID[e.NewID] != nil {
		return fmt.Errorf("session %s exists already", e.NewID)
	}
	if d.byID[e.To] == nil {
		return fmt.Errorf("there is no session %s", e.To)
	}
	call, made, err := d.call(e.Call)
	if err != nil {
		return err
	}
	child := d.add(session.Session{ID: e.NewID, Parent: e.To, Created: made.Time})
	// A store that records whose a session is does so for the parent, too.
	if call.Delegation != nil && d.byID[e.To].Agent != "" {
		child.Agent = call.Delegation.Agent
	}
	return d.begin(child, call, made)
}

// call is the call that an edit takes the task from, and the item that made it.
func (d *desk) call(r *session.CallRef) (*session.Call, *entry, error) {
	if r == nil {
		return nil, nil, fmt.Errorf("the edit names no call")
	}
	at := d.find(r.Ref)
	if at == nil {
		return nil, nil, fmt.Errorf("the call's item %s is not there", r.Ref.Row())
	}
	made := at.Value.(*entry)
	if r.Nth < 0 || r.Nth >= len(made.Calls) {
		return nil, nil, fmt.Errorf("%s has no call %d", r.Ref.Row(), r.Nth)
	}
	return &made.Calls[r.Nth], made, nil
}

// begin puts the items that a child starts with at its start.
func (d *desk) begin(child *bench, call *session.Call, made *entry) error {
	if d.prologue == nil {
		return fmt.Errorf("stores of this kind have no form for a child's task")
	}
	title, items := d.prologue(call)
	if child.Title == "" {
		child.Title = title
	}
	if call.Delegation != nil {
		child.Task = call.Delegation.Task
	}
	for i := range items {
		it := items[i]
		it.Time = made.Time
		it.Flags |= session.Synthetic
		if err := d.put(d.named(it), child, session.Ref{}); err != nil {
			return err
		}
	}
	return nil
}

// named is an entry for a new item, with a key that nothing else has.
func (d *desk) named(it session.Item) *entry {
	it.Table, it.Key = "", "new-"+strconv.Itoa(d.fresh)
	d.fresh++
	return &entry{Item: it, moved: true, left: len(it.Results)}
}

func (d *desk) insert(e session.Edit) error {
	to := d.byID[e.To]
	if to == nil || e.New == nil {
		return fmt.Errorf("there is no session %s to insert into", e.To)
	}
	if e.New.Prologue {
		call, made, err := d.call(e.Call)
		if err != nil {
			return err
		}
		return d.begin(to, call, made)
	}
	it, err := d.compose(e)
	if err != nil {
		return err
	}
	if e.New.Role == session.Tool {
		return d.answer(d.named(it), to, e.After)
	}
	return d.put(d.named(it), to, e.After)
}

// compose is the item that an edit describes. It has the time of the call that
// it belongs to, because a repair has no clock, and whoever sees the call sees it.
func (d *desk) compose(e session.Edit) (session.Item, error) {
	n := e.New
	it := session.Item{Kind: n.Kind, Role: n.Role, Flags: session.Synthetic, Agent: n.Agent, Child: n.Child, Body: &session.Body{}}
	tool := ""
	if e.Call != nil {
		call, made, err := d.call(e.Call)
		if err != nil {
			return it, err
		}
		if d.byID[e.To].named {
			tool = call.Name
		}
		it.Time, it.Position = made.Time, made.Position
		it.Branch, it.Scope, it.Invocation = made.Branch, made.Scope, made.Invocation
	}
	text := n.Text
	if n.TextFrom != (session.Ref{}) {
		from := d.find(n.TextFrom)
		if from == nil || from.Value.(*entry).Body == nil {
			return it, fmt.Errorf("the text of %s is not there", n.TextFrom.Row())
		}
		text = from.Value.(*entry).Body.Text
	}
	it.Text = session.DigestOf(text)
	if n.Role == session.Tool {
		it.Results = []session.Result{{
			CallID: n.CallID, Name: tool, Text: text, Digest: it.Text, IsError: n.IsError, Synthetic: !n.Restored,
		}}
	} else {
		it.Body.Text = text
	}
	if n.Kind == session.SubSession {
		it.Text = 0
	}
	return it, nil
}
