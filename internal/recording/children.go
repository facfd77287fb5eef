package recording

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/replay"
)

// resumes reports whether the start of a stream is that of a run: of the run's
// own session, or of another one when the run is over.
func (r *Recorder) resumes(e *Event) bool {
	switch {
	case r.run == nil || e.Session != "" && e.Session == r.run.id:
		return true
	case r.unnamed(e.Agent) != nil:
		return false
	}
	return r.run.state != running
}

// begin begins a run or goes on with one. What is open then was never closed.
func (r *Recorder) begin(e *Event, step *Step) {
	for _, s := range r.open {
		step.Anomaly = cmp.Or(step.Anomaly, r.odd(e, UnmatchedStart, s))
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

// child is the delegation whose session begins: the one that was opened by a
// switch and has none yet, else a new one without a switch.
func (r *Recorder) child(e *Event) *openSession {
	s := r.unnamed(e.Agent)
	if s == nil {
		s = r.delegate("", e.Agent)
	}
	s.name(e.Session)
	delete(r.closed, s.id)
	return s
}

// delegate opens a delegation to an agent; from is who asks, "" when unknown.
func (r *Recorder) delegate(from, to string) *openSession {
	if r.run == nil {
		r.run = &openSession{agent: from, line: r.line}
	}
	parent, call := r.caller(from, to)
	frame := &replay.Frame{Parent: parent.frame, Item: -1, Caller: cmp.Or(from, parent.agent), Agent: to}
	if call != nil {
		call.claimed, frame.Call = true, call.id
	}
	s := &openSession{frame: frame, parent: parent, agent: to, line: r.line}
	r.open = append(r.open, s)
	return s
}

// caller is the session with the call that asks the agent, and the call: of
// those that fit best the one of the agent who asks, else the innermost. Where no
// call fits it is whoever can speak. An agent that opens a session without a switch
// runs a skill for itself.
func (r *Recorder) caller(from, to string) (*openSession, *openCall) {
	parent, best, score := r.speaking(from), (*openCall)(nil), 0
	for s := range r.innermost() {
		for i := range s.calls {
			fits := 2 * s.calls[i].asks(to)
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

// closing is the innermost delegation that the end of a switch closes, nil when
// none of that name is open.
func (r *Recorder) closing(e *Event) *openSession {
	return r.latest(func(s *openSession) bool { return s.switched && s.frame.Agent == e.From && s.frame.Caller == e.To })
}

// close closes a delegation. Those below it that are open still have no end.
func (r *Recorder) close(e *Event, step *Step, s *openSession) {
	const remembered = 4096
	if len(r.closed) >= remembered {
		clear(r.closed)
	}
	r.closed[s.id] = s.id != ""
	r.open = slices.DeleteFunc(r.open, func(o *openSession) bool {
		if o == s {
			return true
		}
		below := o.within(s)
		if below {
			step.Anomaly = cmp.Or(step.Anomaly, r.odd(e, UnmatchedStart, o))
		}
		return below
	})
}

// over closes the delegation without a switch that a call of the session opened:
// the call has its result. Of a sub-session that failed there is no other end. One
// with a switch goes on to its end: in a parallel batch the switch may be a
// sibling's.
func (r *Recorder) over(e *Event, caller *openSession, step *Step) {
	for _, s := range r.open {
		if s.parent != caller || s.frame.Call != e.Call.ID || e.Call.ID == "" {
			continue
		}
		if s.resulted = e.Line; !s.switched {
			r.close(e, step, s)
		}
		return
	}
}

// within reports whether the stream is below another one.
func (s *openSession) within(other *openSession) bool {
	for s = s.parent; s != nil; s = s.parent {
		if s == other {
			return true
		}
	}
	return false
}
