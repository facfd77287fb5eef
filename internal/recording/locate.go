package recording

import (
	"cmp"
	"slices"
)

// owner is the session that an event belongs to, and how that is known. The stream
// is nil when it is neither the run's nor that of an open delegation.
type owner struct {
	stream *openSession
	id     string
	how    evidence
}

// evidence is what tells whose an event is, from the strongest to the weakest.
type evidence uint8

// locateOwner finds the owner of an event that neither begins nor ends anything.
func (r *Recorder) locateOwner(e *Event) owner {
	if e.Session != "" {
		return r.namedOwner(e)
	}
	switch e.Kind {
	case CallStarted, CallAnswered:
		if s := r.callingSession(e.Call.ID, e.Agent); s != nil {
			return owner{s, s.id, byCall}
		}
	}
	s := r.speakingSession(e.Agent)
	switch {
	case s == nil:
		return owner{how: byDepth}
	case s.state == waiting:
		return owner{s, s.id, byDepth}
	}
	return owner{s, s.id, byStream}
}

// namedOwner is the owner of an event that carries a session id. The id may be the
// first that is heard of the run, or of the delegation that opened last; else it
// is a session that is not on this stream: that of a background agent.
func (r *Recorder) namedOwner(e *Event) owner {
	s := r.knownSession(e.Session)
	if s == nil && kinds[e.Kind] != record && !r.closed[e.Session] {
		s = r.introduceSession(e)
	}
	return owner{s, e.Session, byID}
}

// introduceSession is the session that a message is the first to name, nil when it is
// none of this stream.
func (r *Recorder) introduceSession(e *Event) *openSession {
	var asked *openSession
	if e.Agent != "" {
		asked = r.latestUnnamed(e.Agent)
	}
	switch {
	case r.run != nil && kinds[e.Kind] != message:
		return nil
	case r.run == nil, r.run.state == stopped && len(r.open) == 0:
		r.run = &openSession{id: e.Session, agent: e.Agent, line: e.Line}
		return r.run
	case asked != nil:
	case r.run.id == "" && (e.Agent == r.run.agent || r.latestUnnamed("") == nil):
		r.run.id = e.Session
		return r.run
	default:
		asked = r.latestUnnamed("")
	}
	if asked != nil {
		asked.setID(e.Session)
	}
	return asked
}

// knownSession is the open session of an id, nil when there is none.
func (r *Recorder) knownSession(id string) *openSession {
	if r.run == nil || id == "" {
		return nil
	}
	if r.run.id == id {
		return r.run
	}
	return r.latestOpen(func(s *openSession) bool { return s.id == id })
}

// latestOpen is the delegation that opened last of those that fit, nil for none.
func (r *Recorder) latestOpen(fits func(*openSession) bool) *openSession {
	for _, s := range slices.Backward(r.open) {
		if fits(s) {
			return s
		}
	}
	return nil
}

// latestUnnamed is the latest delegation to the agent whose session no event has named
// yet; nil for none. Without an agent it is one to whomever.
func (r *Recorder) latestUnnamed(agent string) *openSession {
	return r.latestOpen(func(s *openSession) bool {
		return s.id == "" && s.state == waiting && (agent == "" || s.frame.Agent == agent)
	})
}

// setID says which session a delegation started.
func (s *openSession) setID(id string) {
	s.id, s.frame.Child = id, id
}

// callingSession is the innermost session with an open call of the id, one whose agent
// is named before others: parallel siblings may use the same ids.
func (r *Recorder) callingSession(id, agent string) *openSession {
	var found *openSession
	for s := range r.innermostFirst() {
		if n, known := s.at[id]; !known || s.calls[n].answered {
			continue
		}
		if s.agent == agent {
			return s
		}
		found = cmp.Or(found, s)
	}
	return found
}

// speakingSession is the session in which the agent can speak: the innermost that waits
// for no other and has the agent, else the innermost, where somebody took over.
func (r *Recorder) speakingSession(agent string) *openSession {
	var innermost *openSession
	r.asked++
	for s := range r.innermostFirst() {
		active := s == r.run || s.resulted == 0 && (s.state == running || s.state == waiting && r.model != BySession)
		if active && s.parent != nil {
			s.parent.blocked = r.asked
		}
		if !active || s.blocked == r.asked {
			continue
		}
		if s.agent == agent {
			return s
		}
		innermost = cmp.Or(innermost, s)
	}
	return cmp.Or(innermost, r.run)
}

// innermostFirst goes from the delegation that opened last to the run's own session.
func (r *Recorder) innermostFirst() func(func(*openSession) bool) {
	return func(yield func(*openSession) bool) {
		for _, s := range slices.Backward(r.open) {
			if !yield(s) {
				return
			}
		}
		if r.run != nil {
			yield(r.run)
		}
	}
}

const (
	byID     evidence = iota // it carries a session id
	byCall                   // it is about a call that one session made
	byStream                 // the streams that run
	byDepth                  // the switches alone
)
