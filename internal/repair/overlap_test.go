package repair

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// Fixes that need the same record as it is wait for each other, whichever comes
// first; the others are made in one round.
func TestFixesThatChangeWhatARecordSaysOverlap(t *testing.T) {
	answer := func(n, nth int) session.Edit {
		call := &session.CallRef{Ref: edited(n, "").Ref, Nth: nth}
		return session.Edit{Op: session.Insert, To: "P", After: call.Ref, New: &session.NewItem{Role: session.Tool}, Call: call}
	}
	twin := session.Edit{Op: session.RemoveTwin, Ref: edited(2, "").Ref, Twin: edited(9, "").Ref}
	tests := []struct {
		name string
		a, b session.Edit
		want bool
	}{
		{"a call gets an id and a result", edited(2, "/calls/0 id=x"), answer(2, 0), true},
		{"another call of the message gets a result", edited(2, "/calls/1 id=x"), answer(2, 0), false},
		{"a call of another message gets a result", edited(4, "/calls/0 id=x"), answer(2, 0), false},
		{"arguments and a result", edited(2, "/calls/0 wrap"), answer(2, 0), false},
		{"a result gets an id and moves", edited(3, "/results/0 call=x"), edited(3, "move 5"), true},
		{"a result gets an id and moves out", edited(3, "/results/0 call=x"), edited(3, "/results/0 move 5"), true},
		{"a result gets an id and leaves", edited(3, "/results/0 call=x"), edited(3, "quarantine"), true},
		{"another record moves", edited(3, "/results/0 call=x"), edited(4, "move 5"), false},
		{"a twin leaves", twin, edited(3, "/results/0 call=x"), false},
		{"the same id twice", edited(2, "/calls/0 id=x"), edited(2, "/calls/0 id=y"), true},
		{"the ids of two calls", edited(2, "/calls/0 id=x"), edited(2, "/calls/1 id=y"), false},
		{"the same arguments twice", edited(2, "/calls/0 wrap"), edited(2, "/calls/0 wrap"), true},
		{"an id and the text", edited(2, "/calls/0 id=x"), edited(2, "text="), false},
		{"an id and all of the record", edited(2, "/calls/0 id=x"), edited(2, "scrub"), true},
		{"the text and a record that leaves", edited(2, "text="), edited(2, "quarantine"), true},
		{"all of a record that moves", edited(2, "scrub"), edited(2, "move 5"), true},
		{"all of a record of which a part moves", edited(3, "scrub"), edited(3, "/results/0 move 5"), true},
		{"another field of the record", edited(2, "/calls/0 id=x"), edited(2, "agent_name=x"), false},
	}
	for _, tt := range tests {
		for _, order := range [][2]session.Edit{{tt.a, tt.b}, {tt.b, tt.a}} {
			c := newClaims()
			c.claimEdits([]session.Edit{order[0]})
			if got := c.conflictsWith([]session.Edit{order[1]}); got != tt.want {
				t.Errorf("%s: %s before %s: got %t", tt.name, order[0].Op, order[1].Op, got)
			}
		}
	}
}

// A twin may leave although an earlier fix of the round changes what it says, and
// nothing is changed any more in one that left.
func TestATwinThatIsEditedMayLeave(t *testing.T) {
	twin := session.Edit{Op: session.RemoveTwin, Ref: edited(2, "").Ref, Twin: edited(9, "").Ref}
	for _, tt := range []struct {
		first, second session.Edit
		want          bool
	}{
		{edited(2, "/calls/0 wrap"), twin, false},
		{twin, edited(2, "/calls/0 wrap"), true},
		{twin, edited(9, "/calls/0 wrap"), false},
	} {
		c := newClaims()
		c.claimEdits([]session.Edit{tt.first})
		if got := c.conflictsWith([]session.Edit{tt.second}); got != tt.want {
			t.Errorf("%s before %s: got %t", tt.first.Op, tt.second.Op, got)
		}
	}
}
