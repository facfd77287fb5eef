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

// conflictsWith reports whether a fix cannot be made beside the ones that claimed.
func (c *claims) conflictsWith(edits []session.Edit) bool {
	for _, e := range edits {
		if c.moved[wholeRow(e.Ref)] || c.moved[e.Ref.Row()] || c.moved[wholeRow(e.After)] || c.moved[wholeRow(e.Twin)] {
			return true
		}
		if e.Call != nil && c.moved[wholeRow(e.Call.Ref)] {
			return true
		}
		if e.New != nil && c.moved[wholeRow(e.New.TextFrom)] {
			return true
		}
		// A run ends for each of its calls that nobody answers any more.
		if (e.Op == session.Set || e.Op == session.Omit) && e.Ref.Table != session.TableRuns && c.set[fieldOf(e)] || e.Op == session.Create && c.made[e.NewID] || c.isRewording(e) {
			return true
		}
	}
	return false
}

// isRewording reports whether an edit changes what a record says that another fix
// needs as it is, or the other way round. A twin may leave all the same: it said
// what its copy said when the fixes were made.
func (c *claims) isRewording(e session.Edit) bool {
	switch {
	case e.Op == session.Scrub:
		return c.parted[wholeRow(e.Ref)] || c.reworded[wholeRow(e.Ref)]
	case rewordsItem(e):
		return c.parted[wholeRow(e.Ref)] || c.scrubbed[wholeRow(e.Ref)] || c.set[fieldOf(e)] || e.Field == session.FieldCallID && c.answered[e.Ref.Row()]
	case e.Op == session.Move || e.Op == session.Quarantine:
		return c.reworded[wholeRow(e.Ref)]
	case e.Op == session.Insert && e.Call != nil:
		return c.set[fieldOf(session.Edit{Ref: callOf(e.Call), Field: session.FieldCallID})]
	}
	return false
}

// claimEdits notes what a fix changes.
func (c *claims) claimEdits(edits []session.Edit) {
	for _, e := range edits {
		switch e.Op {
		case session.Move, session.MoveRun, session.RemoveTwin, session.Quarantine:
			c.moved[e.Ref.Row()], c.parted[wholeRow(e.Ref)] = true, true
		case session.Set, session.Wrap, session.Omit:
			c.set[fieldOf(e)] = true
		case session.Scrub:
			c.scrubbed[wholeRow(e.Ref)] = true
		case session.Insert:
			if e.Call != nil {
				c.answered[callOf(e.Call).Row()] = true
			}
		case session.Create:
			c.made[e.NewID] = true
		}
		if rewordsItem(e) {
			c.reworded[wholeRow(e.Ref)] = true
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

// wholeRow is the row of the record that a reference means a part of.
func wholeRow(r session.Ref) string {
	r.Pointer = ""
	return r.Row()
}
