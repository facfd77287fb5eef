package recording

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/replay"
)

// resumesRun reports whether the start of a stream is that of a run: of the run's
// own session, or of another one when the run is over.
func (r *Recorder) resumesRun(e *Event) bool {
	switch {
	case r.run == nil || e.Session != "" && e.Session == r.run.id:
		return true
	case r.latestUnnamed(e.Agent) != nil:
		return false
	}
	return r.run.state != running
}

// beginRun begins a run or goes on with one. What is open then was never closed.
func (r *Recorder) beginRun(e *Event, step *Step) {
	for _, s := range r.open {
		step.Anomaly = cmp.Or(step.Anomaly, r.recordAnomaly(e, UnmatchedStart, s))
	}
	r.open = nil
	step.Reason = replay.RunBegins
	switch {
	case r.run == nil || e.Session != "" && r.run.id != "" && r.run.id != e.Session:
		r.run = &openSession{id: e.Session, agent: e.Agent, line: e.Line}
	case r.run.id == "":
		r.run.id = e.Session
	}
}

// beginChild is the delegation whose session begins: the one that was opened by a
// switch and has none yet, else a new one without a switch.
func (r *Recorder) beginChild(e *Event) *openSession {
	s := r.latestUnnamed(e.Agent)
	if s == nil {
		s = r.openDelegation("", e.Agent)
	}
	s.setID(e.Session)
	delete(r.closed, s.id)
	return s
}

// openDelegation opens a delegation to an agent; from is who asks, "" when unknown.
func (r *Recorder) openDelegation(from, to string) *openSession {
	if r.run == nil {
		r.run = &openSession{agent: from, line: r.line}
	}
	parent, call := r.findCaller(from, to)
	frame := &replay.Frame{Parent: parent.frame, Item: -1, Caller: cmp.Or(from, parent.agent), Agent: to}
	if call != nil {
		call.claimed, frame.Call = true, call.id
	}
	s := &openSession{frame: frame, parent: parent, agent: to, line: r.line}
	r.open = append(r.open, s)
	return s
}

// findCaller finds the session with the call that asks the agent, and the call: of
// those that fit best the one of the agent who asks, else the innermost. Where no
// call fits it is whoever can speak. An agent that opens a session without a switch
// runs a skill for itself.
func (r *Recorder) findCaller(from, to string) (*openSession, *openCall) {
	parent, best, score := r.speakingSession(from), (*openCall)(nil), 0
	for s := range r.innermostFirst() {
		for i := range s.calls {
			fits := 2 * s.calls[i].fitScore(to)
			if fits > 0 && s.agent == cmp.Or(from, to) {
				fits++
			}
			if fits > score {
				parent, best, score = s, &s.calls[i], fits
			}
		}
	}
	return parent, best
}

// findClosing finds the innermost delegation that the end of a switch closes, nil when
// none of that name is open.
func (r *Recorder) findClosing(e *Event) *openSession {
	return r.latestOpen(func(s *openSession) bool { return s.switched && s.frame.Agent == e.From && s.frame.Caller == e.To })
}

// closeDelegation closes a delegation. Those below it that are open still have no end.
func (r *Recorder) closeDelegation(e *Event, step *Step, s *openSession) {
	const remembered = 4096
	if len(r.closed) >= remembered {
		clear(r.closed)
	}
	r.closed[s.id] = s.id != ""
	r.open = slices.DeleteFunc(r.open, func(o *openSession) bool {
		if o == s {
			return true
		}
		below := o.isWithin(s)
		if below {
			step.Anomaly = cmp.Or(step.Anomaly, r.recordAnomaly(e, UnmatchedStart, o))
		}
		return below
	})
}

// closeAnswered closes the delegation without a switch that a call of the session opened:
// the call has its result. Of a sub-session that failed there is no other end. One
// with a switch goes on to its end: in a parallel batch the switch may be a
// sibling's.
func (r *Recorder) closeAnswered(e *Event, caller *openSession, step *Step) {
	for _, s := range r.open {
		if s.parent != caller || s.frame.Call != e.Call.ID || e.Call.ID == "" {
			continue
		}
		if s.resulted = e.Line; !s.switched {
			r.closeDelegation(e, step, s)
		}
		return
	}
}

// isWithin reports whether the stream is below another one.
func (s *openSession) isWithin(other *openSession) bool {
	for s = s.parent; s != nil; s = s.parent {
		if s == other {
			return true
		}
	}
	return false
}
