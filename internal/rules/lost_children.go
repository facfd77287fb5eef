package rules

import (
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// lostChild is a sub-session of the recording of which the store has no message:
// it lacks the session, or has it empty.
type lostChild struct {
	sessions  []*session.Session // of the recording: it, and those below that are lost with it
	stored    *session.Session   // the empty one, nil when there is none
	completed bool               // the caller's session refers to it
	call      *replay.Delegation // the recorded call, nil when unknown
	asked     *replay.Delegation // the stored call, nil when unknown
	leaked    bool               // the finding about what leaked of it tells that it is lost
	uncalled  bool               // its call and the reference to it are lost as well, which tells it
}

// explains reports whether the difference is a part of the loss: an item of the
// sub-session, or the reference to it.
func (c *lostChild) explains(d *replay.Difference) bool {
	switch {
	case d.Kind == replay.Foreign:
		return false
	case slices.Contains(c.sessions, d.Recorded):
		return true
	}
	it := recordedItem(d)
	return it.Kind == session.SubSession && it.Child == c.sessions[0].ID && !c.uncalled
}

// lostChildren are the outermost ones, by session of the recording.
func (p *Pass) lostChildren() []*lostChild {
	lost := map[*session.Session]*session.Session{}
	for _, d := range p.Compared.Differences {
		if d.Kind == replay.Lost && d.Recorded != p.Compared.Recorded.Root() && (d.Stored == nil || speechless(d.Stored)) {
			lost[d.Recorded] = d.Stored
		}
	}
	if len(lost) == 0 {
		return nil
	}
	var list []*lostChild
	of := map[string]*lostChild{}
	recorded := p.Compared.RecordedTrace
	for _, s := range p.Compared.Recorded.Sessions { // parents come first
		stored, isLost := lost[s]
		switch outer := of[s.Parent]; {
		case !isLost:
			continue
		case outer != nil:
			outer.sessions = append(outer.sessions, s)
			of[s.ID] = outer
		default:
			c := &lostChild{sessions: []*session.Session{s}, stored: stored, call: recorded.Callers[s]}
			p.place(c, list)
			of[s.ID], list = c, append(list, c)
		}
	}
	return list
}

// place finds the call of a lost sub-session in the store, and who else tells of
// it. Calls that others of the list have are theirs.
func (p *Pass) place(c *lostChild, others []*lostChild) {
	switch {
	case c.stored != nil:
		c.asked = p.Trace.Callers[c.stored]
	case c.call != nil:
		c.asked = p.storedCall(c.call, others)
	}
	if c.call != nil {
		c.completed = c.call.Reference >= 0
		c.uncalled = c.completed && p.lacks(c.call.Session, c.call.Item) && p.lacks(c.call.Session, c.call.Reference)
	}
	c.leaked = c.asked != nil && p.leaksOf(c.asked)
}

// lacks reports whether the store lacks an item of the recording.
func (p *Pass) lacks(s *session.Session, item int) bool {
	return slices.ContainsFunc(p.Compared.Differences, func(d replay.Difference) bool {
		return d.Kind == replay.Lost && d.Recorded == s && d.RecordedItem == item
	})
}

// storedCall is the first stored call without a child that is the recorded one.
func (p *Pass) storedCall(call *replay.Delegation, others []*lostChild) *replay.Delegation {
	s := p.subject(p.Tree.Session(call.Session.ID))
	if s == nil {
		return nil
	}
	for _, d := range s.Replay.Delegations {
		same := d.Child == nil && d.Call().ID == call.Call().ID && d.Call().Delegation.Task == call.Call().Delegation.Task
		if same && !slices.ContainsFunc(others, func(c *lostChild) bool { return c.asked == d }) {
			return d
		}
	}
	return nil
}

// leaksOf reports whether the only copies of some of a delegation's messages stand
// in a session above: SC702 and SC703 say so.
func (p *Pass) leaksOf(asked *replay.Delegation) bool {
	for _, s := range p.Subjects {
		for _, d := range s.Replay.Delegations {
			for _, l := range d.Leaked {
				if l.Twin == nil && (d == asked || within(l.Frame, asked)) {
					return true
				}
			}
		}
	}
	return false
}

func within(f *replay.Frame, d *replay.Delegation) bool {
	for ; f != nil; f = f.Parent {
		if f.Copy == d {
			return true
		}
	}
	return false
}

// unsaved says what the recording has of a child that was never saved, besides
// what leaked of it.
func (p *Pass) unsaved(d *replay.Delegation) string {
	if p.Compared == nil {
		return ""
	}
	for _, c := range p.differences().children {
		if c.asked == d {
			return fmt.Sprintf(" in the store; the recording has %s more of that sub-session", count(p.lostItems(c), "item"))
		}
	}
	return " in the store"
}

func (p *Pass) lostItems(c *lostChild) int {
	n := 0
	for _, d := range p.Compared.Differences {
		if d.Kind == replay.Lost && slices.Contains(c.sessions, d.Recorded) {
			n++
		}
	}
	return n
}
