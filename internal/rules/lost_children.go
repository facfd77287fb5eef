package rules

import (
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// LostChild is a sub-session of the recording of which the store has no message:
// it lacks the session, or has it empty.
type LostChild struct {
	Sessions  []*session.Session // of the recording: it, and those below that are lost with it
	Stored    *session.Session   // the empty one, nil when there is none
	Completed bool               // the caller's session refers to it
	Call      *replay.Delegation // the recorded call, nil when unknown
	Asked     *replay.Delegation // the stored call, nil when unknown
	Leaked    bool               // the finding about what leaked of it tells that it is lost
	Uncalled  bool               // its call and the reference to it are lost as well, which tells it
}

// explainsDifference reports whether the difference is a part of the loss: an item of the
// sub-session, or the reference to it.
func (c *LostChild) explainsDifference(d *replay.Difference) bool {
	switch {
	case d.Kind == replay.Foreign:
		return false
	case slices.Contains(c.Sessions, d.Recorded):
		return true
	}
	it := RecordedItem(d)
	return it.Kind == session.SubSession && it.Child() == c.Sessions[0].ID && !c.Uncalled
}

// lostChildren are the outermost ones, by session of the recording.
func (p *Pass) lostChildren() []*LostChild {
	lost := map[*session.Session]*session.Session{}
	for _, d := range p.Compared.Differences {
		if d.Kind == replay.Lost && d.Recorded != p.Compared.Recorded.Root() && (d.Stored == nil || IsSpeechless(d.Stored)) {
			lost[d.Recorded] = d.Stored
		}
	}
	if len(lost) == 0 {
		return nil
	}
	var list []*LostChild
	of := map[string]*LostChild{}
	recorded := p.Compared.RecordedTrace
	for _, s := range p.Compared.Recorded.Sessions { // parents come first
		stored, isLost := lost[s]
		switch outer := of[s.Parent]; {
		case !isLost:
			continue
		case outer != nil:
			outer.Sessions = append(outer.Sessions, s)
			of[s.ID] = outer
		default:
			c := &LostChild{Sessions: []*session.Session{s}, Stored: stored, Call: recorded.Callers[s]}
			p.locateLostChild(c, list)
			of[s.ID], list = c, append(list, c)
		}
	}
	return list
}

// locateLostChild finds the call of a lost sub-session in the store, and who else tells of
// it. Calls that others of the list have are theirs.
func (p *Pass) locateLostChild(c *LostChild, others []*LostChild) {
	switch {
	case c.Stored != nil:
		c.Asked = p.Trace.Callers[c.Stored]
	case c.Call != nil:
		c.Asked = p.storedCall(c.Call, others)
	}
	if c.Call != nil {
		c.Completed = c.Call.Reference >= 0
		c.Uncalled = c.Completed && p.lacksItem(c.Call.Session, c.Call.Item) && p.lacksItem(c.Call.Session, c.Call.Reference)
	}
	c.Leaked = c.Asked != nil && p.leaksOf(c.Asked)
}

// lacksItem reports whether the store lacks an item of the recording.
func (p *Pass) lacksItem(s *session.Session, item int) bool {
	return slices.ContainsFunc(p.Compared.Differences, func(d replay.Difference) bool {
		return d.Kind == replay.Lost && d.Recorded == s && d.RecordedItem == item
	})
}

// storedCall is the first stored call without a child that is the recorded one.
func (p *Pass) storedCall(call *replay.Delegation, others []*LostChild) *replay.Delegation {
	s := p.SubjectOf(p.Tree.Session(call.Session.ID))
	if s == nil {
		return nil
	}
	for _, d := range s.Replay.Delegations {
		same := d.Child == nil && d.Call().ID == call.Call().ID && d.Call().Delegation.Task == call.Call().Delegation.Task
		if same && !slices.ContainsFunc(others, func(c *LostChild) bool { return c.Asked == d }) {
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
				if l.Twin == nil && (d == asked || isWithin(l.Frame, asked)) {
					return true
				}
			}
		}
	}
	return false
}

func isWithin(f *replay.Frame, d *replay.Delegation) bool {
	for ; f != nil; f = f.Parent {
		if f.Copy == d {
			return true
		}
	}
	return false
}

// OtherCopies says where else there is something of a child that was never saved, besides
// what leaked of it: in the recording.
func (p *Pass) OtherCopies(d *replay.Delegation) string {
	if p.Compared == nil {
		return "This is the only copy"
	}
	for _, c := range p.Differences().Children {
		if c.Asked == d {
			return fmt.Sprintf("This is the only copy in the store, and the recording has %s more of that sub-session", CountedNoun(p.lostItems(c), "item"))
		}
	}
	return "This is the only copy in the store"
}

func (p *Pass) lostItems(c *LostChild) int {
	return lists.CountIf(p.Compared.Differences, func(d replay.Difference) bool {
		return d.Kind == replay.Lost && slices.Contains(c.Sessions, d.Recorded)
	})
}
