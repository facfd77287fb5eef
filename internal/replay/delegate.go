package replay

import (
	"cmp"
	"slices"
)

// resumes reports whether the start of a stream is that of a run: of the run's
// own session, or of another one when the run is over.
func (r *Recorder) resumes(id string) bool {
	switch {
	case r.run == nil || id != "" && id == r.run.id:
		return true
	case r.unnamed("") != nil:
		return false
	}
	return r.run.state != running
}

// begin begins a run or goes on with one. What is open then was never closed.
func (r *Recorder) begin(e *Event, step *EventStep) {
	for _, s := range r.open {
		if a := r.odd(e, UnmatchedStart, s); step.Anomaly == nil {
			step.Anomaly = a
		}
	}
	r.open = nil
	step.Reason = RunBegins
	switch {
	case r.run == nil || e.Session != "" && r.run.id != "" && r.run.id != e.Session:
		r.run = &stream{id: e.Session, agent: e.Agent, line: e.Line}
	case r.run.id == "":
		r.run.id = e.Session
	}
}

// child is the delegation whose session begins: the one that was opened by a
// switch and has none yet, else a new one without a switch.
func (r *Recorder) child(e *Event) *stream {
	s := r.unnamed(e.Agent)
	if s == nil {
		s = r.delegate("", e.Agent)
	}
	s.name(e.Session)
	return s
}

// delegate opens a delegation to an agent; from is who asks, "" when unknown.
func (r *Recorder) delegate(from, to string) *stream {
	if r.run == nil {
		r.run = &stream{agent: from, line: r.line}
	}
	parent := r.caller(from, to)
	frame := &Frame{Parent: parent.frame, Item: -1, Caller: cmp.Or(from, parent.agent), Agent: to}
	if c := parent.delegates(to); c != nil {
		c.claimed, frame.Call = true, c.id
	}
	s := &stream{frame: frame, parent: parent, agent: to, line: r.line}
	r.open = append(r.open, s)
	return s
}

// caller is the session with the call that asks the agent: the innermost one
// where from speaks, else the innermost one, else whoever can speak.
func (r *Recorder) caller(from, to string) *stream {
	var found *stream
	for s := range r.innermost() {
		if s.delegates(to) == nil {
			continue
		}
		if from == "" || s.agent == from {
			return s
		}
		if found == nil {
			found = s
		}
	}
	return cmp.Or(found, r.speaking(from))
}

// closing is the innermost delegation that the end of a switch closes, nil when
// none of that name is open.
func (r *Recorder) closing(e *Event) *stream {
	for _, s := range slices.Backward(r.open) {
		if s.switched && s.frame.Agent == e.From && s.frame.Caller == e.To {
			return s
		}
	}
	return nil
}

// close closes a delegation. Those below it that are open still have no end.
func (r *Recorder) close(e *Event, step *EventStep, s *stream) {
	r.open = slices.DeleteFunc(r.open, func(o *stream) bool {
		if o == s {
			return true
		}
		below := o.within(s)
		if below {
			if a := r.odd(e, UnmatchedStart, o); step.Anomaly == nil {
				step.Anomaly = a
			}
		}
		return below
	})
}

// within reports whether the stream is below another one.
func (s *stream) within(other *stream) bool {
	for s = s.parent; s != nil; s = s.parent {
		if s == other {
			return true
		}
	}
	return false
}
