package replay

import "github.com/sessctl/sessctl/internal/session"

// traceStored replays the stored tree with the recording as its witness.
func (c *comparer) traceStored(stored *session.Tree) *Trace {
	known := witness{}
	for _, p := range c.pairs {
		for j, l := range p.leaks {
			if l != nil || isTurn(p.rows[j]) && (p.isForeign(j) || p.excused[j]) {
				known[TreeItem{p.stored, j}] = l != nil
			}
		}
	}
	trace, windows := walkAll(stored, known)
	calls, children := map[*Delegation]*Delegation{}, map[*Delegation]string{}
	for _, p := range c.pairs {
		for _, d := range c.recorded.sessionReplay(p.recorded).Delegations {
			if p.storedCall(d) == nil {
				continue
			}
			calls[d] = trace.findDelegation(&TreeItem{p.stored, p.match[d.Item]}, d.Nth)
			if d.Child != nil {
				children[calls[d]] = c.storedID(d.Child)
			}
		}
	}
	linkChildren(stored, trace, windows, children)
	for _, p := range c.pairs {
		c.enterLeaks(p, trace, calls)
	}
	return trace
}

// storedID is the id that the store has a recorded session under, or should have.
func (c *comparer) storedID(s *session.Session) string {
	if p := c.of[s]; p.stored != nil {
		return p.stored.ID
	}
	return s.ID
}

// enterLeaks enters the leaked items of a session; calls are the stored delegations by
// the recorded ones.
func (c *comparer) enterLeaks(p *pair, trace *Trace, calls map[*Delegation]*Delegation) {
	f := &recordedFrames{p: p, calls: calls, frames: map[*route]*Frame{}, openers: map[TreeItem]int{}}
	for j, l := range p.leaks {
		if l != nil {
			f.openers[l.of.TreeItem] = j
		}
	}
	for j, l := range p.leaks {
		if l == nil {
			continue
		}
		frame, d := f.frameAt(l.of.route), calls[l.call]
		d.Leaked = append(d.Leaked, Leaked{Item: j, Frame: frame, Twin: c.storedTwin(l.of.TreeItem)})
		step := &trace.sessionReplay(p.stored).Steps[j]
		step.Frame, step.Depth = frame, frame.Depth()
	}
}

// storedTwin is the stored item of a child that says the same as the recorded one, nil
// when there is none.
func (c *comparer) storedTwin(recorded TreeItem) *TreeItem {
	home := c.of[recorded.Session]
	j := home.match[recorded.Item]
	if j < 0 || home.differingParts(recorded.Item) != nil {
		return nil
	}
	return &TreeItem{home.stored, j}
}

// recordedFrames are the frames of the leaked items of a session.
type recordedFrames struct {
	p       *pair
	calls   map[*Delegation]*Delegation // stored delegations by the recorded ones
	openers map[TreeItem]int            // leaked items by the recorded ones
	frames  map[*route]*Frame
}

// frameAt is the frame of what was said at the end of a route. Where no stored session
// has the call, it counts as said by the caller: there is no call to which it
// could belong.
func (f *recordedFrames) frameAt(r *route) *Frame {
	if known := f.frames[r]; known != nil {
		return known
	}
	d, stored := r.call, f.calls[r.call]
	frame := &Frame{Item: -1, Nth: d.Nth, Caller: d.Caller(), Agent: d.Call().Delegation.Agent}
	if r.outer == nil {
		frame.Item = stored.Item
	} else {
		frame.Parent, frame.Copy = f.frameAt(r.outer), stored
		if j, leaked := f.openers[TreeItem{d.Session, d.Item}]; leaked && d.Nth < len(f.p.rows[j].Calls) {
			frame.Item = j
		}
		if frame.Item < 0 && stored == nil {
			frame = frame.Parent
		}
	}
	f.frames[r] = frame
	return frame
}
