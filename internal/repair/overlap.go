package repair

import "github.com/sessctl/sessctl/internal/session"

// claims are what the fixes of a round have already changed. A fix that needs
// one of these as it was overlaps and waits for the next round, as a whole.
type claims struct {
	moved map[string]bool // records that are no longer where they were
	set   map[string]bool // "row field"
	made  map[string]bool // sessions
}

func newClaims() *claims {
	return &claims{moved: map[string]bool{}, set: map[string]bool{}, made: map[string]bool{}}
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
		if e.Op == session.Set && c.set[e.Ref.Row()+" "+e.Field] || e.Op == session.Create && c.made[e.NewID] {
			return true
		}
	}
	return false
}

// claim notes what a fix changes.
func (c *claims) claim(edits []session.Edit) {
	for _, e := range edits {
		switch e.Op {
		case session.Move, session.RemoveTwin, session.Quarantine:
			c.moved[e.Ref.Row()] = true
		case session.Set:
			c.set[e.Ref.Row()+" "+e.Field] = true
		case session.Create:
			c.made[e.NewID] = true
		}
	}
}

// whole is the row of the record that a reference means a part of.
func whole(r session.Ref) string {
	r.Pointer = ""
	return r.Row()
}
