package repair

import (
	"strconv"

	"github.com/sessctl/sessctl/internal/session"
)

// claims are what the fixes of a round have already changed. A fix that needs
// one of these as it was overlaps and waits for the next round, as a whole.
type claims struct {
	moved    map[string]bool // records and parts of records that are no longer where they were
	parted   map[string]bool // records of which the whole or a part moved
	set      map[string]bool // "row field"
	reworded map[string]bool // records that say something else
	scrubbed map[string]bool // records of which any part may say something else
	answered map[string]bool // calls that got a result with their id
	made     map[string]bool // sessions
}

func newClaims() *claims {
	return &claims{
		moved: map[string]bool{}, parted: map[string]bool{}, set: map[string]bool{}, reworded: map[string]bool{},
		scrubbed: map[string]bool{}, answered: map[string]bool{}, made: map[string]bool{},
	}
}

// overlaps reports whether a fix cannot be made beside the ones that claimed.
func (c *claims) overlaps(edits []session.Edit) bool {
	for _, e := range edits {
		if c.moved[whole(e.Ref)] || c.moved[e.Ref.Row()] || c.moved[whole(e.After)] || c.moved[whole(e.Twin)] {
			return true
		}
		if e.Call != nil && c.moved[whole(e.Call.Ref)] {
			return true
		}
		if e.New != nil && c.moved[whole(e.New.TextFrom)] {
			return true
		}
		if e.Op == session.Set && c.set[fieldOf(e)] || e.Op == session.Create && c.made[e.NewID] || c.rewording(e) {
			return true
		}
	}
	return false
}

// rewording reports whether an edit changes what a record says that another fix
// needs as it is, or the other way round. A twin may leave all the same: it said
// what its copy said when the fixes were made.
func (c *claims) rewording(e session.Edit) bool {
	switch {
	case e.Op == session.Scrub:
		return c.parted[whole(e.Ref)] || c.reworded[whole(e.Ref)]
	case rewords(e):
		return c.parted[whole(e.Ref)] || c.scrubbed[whole(e.Ref)] || c.set[fieldOf(e)] || e.Field == session.FieldCallID && c.answered[e.Ref.Row()]
	case e.Op == session.Move || e.Op == session.Quarantine:
		return c.reworded[whole(e.Ref)]
	case e.Op == session.Insert && e.Call != nil:
		return c.set[fieldOf(session.Edit{Ref: callOf(e.Call), Field: session.FieldCallID})]
	}
	return false
}

// claim notes what a fix changes.
func (c *claims) claim(edits []session.Edit) {
	for _, e := range edits {
		switch e.Op {
		case session.Move, session.MoveRun, session.RemoveTwin, session.Quarantine:
			c.moved[e.Ref.Row()], c.parted[whole(e.Ref)] = true, true
		case session.Set, session.Wrap:
			c.set[fieldOf(e)] = true
		case session.Scrub:
			c.scrubbed[whole(e.Ref)] = true
		case session.Insert:
			if e.Call != nil {
				c.answered[callOf(e.Call).Row()] = true
			}
		case session.Create:
			c.made[e.NewID] = true
		}
		if rewords(e) {
			c.reworded[whole(e.Ref)] = true
		}
	}
}

// fieldOf names what Set and Wrap change.
func fieldOf(e session.Edit) string { return e.Ref.Row() + " " + e.Field }

// callOf is the call that an edit is made for, as an edit of its id names it.
func callOf(call *session.CallRef) session.Ref {
	ref := call.Ref
	ref.Pointer = "/" + inCalls + "/" + strconv.Itoa(call.Nth)
	return ref
}

// whole is the row of the record that a reference means a part of.
func whole(r session.Ref) string {
	r.Pointer = ""
	return r.Row()
}
