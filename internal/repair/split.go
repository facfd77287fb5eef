package repair

import (
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// splitOff makes a session out of nothing that belongs to whom another one does: a
// part of what that one holds moves there with the next edits. It has no message of
// its own; its title is that of the call that it is for.
func (d *desk) splitOff(e session.Edit) error {
	like := d.byID[e.Like]
	switch {
	case d.byID[e.NewID] != nil:
		return fmt.Errorf("session %s exists already", e.NewID)
	case like == nil:
		return fmt.Errorf("there is no session %s to split", e.Like)
	case d.byID[e.To] == nil:
		return fmt.Errorf("there is no session %s", e.To)
	}
	call, made, err := d.call(e.Call)
	if err != nil {
		return err
	}
	s := like.Session
	s.ID, s.Title, s.Created, s.Updated = e.NewID, "", made.Time, made.Time
	s.IndexRefs, s.Faults, s.Runs, s.Raw, s.Task, s.Forked = nil, nil, nil, nil, 0, false
	if s.Parent != "" {
		s.Parent = e.To
	}
	if d.prologue != nil {
		s.Title, _ = d.prologue(call)
	}
	if like.Task != 0 && call.Delegation != nil {
		s.Task = call.Delegation.Task
	}
	b := d.add(s)
	b.split, b.named, b.touched = true, like.named, true
	d.split[e.NewID] = e.Like
	return nil
}

// moveRun takes the record of a run to another session, whole.
func (d *desk) moveRun(e session.Edit) error {
	from, to := d.byID[e.Ref.Session], d.byID[e.To]
	if from == nil || to == nil {
		return fmt.Errorf("there is no session to take it from or to")
	}
	n := slices.IndexFunc(from.Runs, func(r session.Run) bool { return r.ID == e.Ref.Key })
	if n < 0 {
		return fmt.Errorf("session %s has no such run", from.ID)
	}
	run := from.Runs[n]
	from.Runs = slices.Delete(slices.Clone(from.Runs), n, n+1)
	to.Runs = append(slices.Clone(to.Runs), run)
	slices.SortStableFunc(to.Runs, func(a, b session.Run) int { return a.Began.Compare(b.Began) })
	return nil
}

// callFollows lets the call of a result name the child that the result names from
// now on: a store keeps it with the result only. It is the last call of that id
// before the result, which is given as it was.
func (it *entry) callFollows(was session.Result, child string, fix int) {
	var caller *entry
	var nth int
	for at := it.home.items.Front(); at != nil && at.Value.(*entry) != it; at = at.Next() {
		made := at.Value.(*entry)
		if i := slices.IndexFunc(made.Calls, func(c session.Call) bool { return c.ID == was.CallID && c.Delegation != nil }); i >= 0 {
			caller, nth = made, i
		}
	}
	if caller == nil || caller.Calls[nth].Delegation.Child != was.Child {
		return
	}
	told := *caller.Calls[nth].Delegation
	told.Child = child
	caller.ownIn(fix)
	caller.copyCalls()
	caller.Calls[nth].Delegation = &told
}
