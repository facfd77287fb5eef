package replay

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// stream is a session of the recording that is not over: the run's own, or that
// of an open delegation.
type stream struct {
	frame  *Frame // nil for the run's own session
	id     string // "" until an event names it
	parent *stream
	agent  string // who spoke last
	line   int64  // where it opened

	switched bool // opened by a switch, whose end closes it
	state    state

	calls []openCall // of the last answer, without a result so far
	pending
}

// state is how far the stream of a session is.
type state uint8

const (
	waiting state = iota // no start was seen
	running
	stopped
)

// openCall is a call without a result so far.
type openCall struct {
	id, name   string
	delegation *session.Delegation
	started    bool // it runs
	claimed    bool // a delegation that opened already
}

// asks says how well a call fits the start of a delegation to an agent: one that
// runs before one that is still streaming, one that names the agent before one
// that names nobody, as that of a skill does. 0 is not at all.
func (c *openCall) asks(agent string) int {
	const fits, named, runs = 1, 2, 4
	d := c.delegation
	if d == nil { // the arguments are not known yet
		d = session.DelegationFor(c.name, "")
	}
	if d == nil || !d.Blocking || c.claimed || d.Agent != "" && d.Agent != agent {
		return 0
	}
	score := fits
	if d.Agent != "" {
		score += named
	}
	if c.started {
		score += runs
	}
	return score
}

// pending is what was said in a session since its last message was complete.
type pending struct {
	answer  int64 // the line where an answer began, 0 for none
	results []openResult
}

type openResult struct {
	id   string
	line int64
}

// follow notes what an event says of the session that speaks, so that a message
// that is complete can tell what it holds.
func (s *stream) follow(e *Event, step *EventStep) {
	switch e.Kind {
	case Choice, Reasoning:
		s.hear(e)
	case PartialCall:
		s.hear(e)
		s.call(&e.Call)
		step.Call = e.Call.ID
	case CallStarted:
		s.call(&e.Call)
		s.calls[s.callAt(e.Call.ID)].started = true
		step.Call = e.Call.ID
	case CallAnswered:
		s.answered(e)
		step.Call = e.Call.ID
	case MessageAdded:
		step.Row, step.Call = s.completed()
	case UserMessage:
		step.Row, s.pending = session.User, pending{}
	case Restarted:
		s.answer = 0
	}
}

// hear notes who speaks. The calls of the answer before are history then.
func (s *stream) hear(e *Event) {
	if e.Agent != "" {
		s.agent = e.Agent
	}
	if s.answer == 0 {
		s.answer, s.calls = e.Line, nil
	}
}

// call notes a call, or more of what is known of it.
func (s *stream) call(c *session.Call) {
	n := s.callAt(c.ID)
	if n < 0 {
		s.calls = append(s.calls, openCall{id: c.ID, name: c.Name, delegation: c.Delegation})
		return
	}
	if c.Name != "" {
		s.calls[n].name = c.Name
	}
	if c.Delegation != nil {
		s.calls[n].delegation = c.Delegation
	}
}

func (s *stream) callAt(id string) int {
	return slices.IndexFunc(s.calls, func(c openCall) bool { return c.id == id })
}

func (s *stream) answered(e *Event) {
	if n := s.callAt(e.Call.ID); n >= 0 {
		s.calls = slices.Delete(s.calls, n, n+1)
	}
	s.results = append(s.results, openResult{e.Call.ID, e.Line})
}

// completed is the role of the message that is complete now, and of a result the
// call. Messages are complete in the order in which they began.
func (s *stream) completed() (session.Role, string) {
	switch {
	case s.answer > 0 && (len(s.results) == 0 || s.answer < s.results[0].line):
		s.answer = 0
		return session.Assistant, ""
	case len(s.results) > 0:
		id := s.results[0].id
		s.results = s.results[1:]
		return session.Tool, id
	}
	return session.NoRole, ""
}
