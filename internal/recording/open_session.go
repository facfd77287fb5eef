package recording

import (
	"cmp"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// openSession is a session of the recording that is not over: the run's own, or that
// of an open delegation.
type openSession struct {
	frame  *replay.Frame // nil for the run's own session
	id     string        // "" until an event names it
	parent *openSession
	agent  string // who spoke last
	line   int64  // where it opened

	switched bool // opened by a switch, whose end closes it
	state    state

	calls []openCall     // of the last answer
	at    map[string]int // where in calls one is, by its id
	pending

	blocked  int   // the number of the question at which it waited for another one
	resulted int64 // the line where the call that opened it got its result, 0 for none
}

// state is how far the stream of a session is.
type state uint8

const (
	waiting state = iota // no start was seen
	running
	stopped
)

// openCall is a call of the last answer.
type openCall struct {
	id, name   string
	delegation *session.Delegation
	started    bool // it runs
	answered   bool // it has its result
	claimed    bool // a delegation that opened already
}

// fitScore says how well a call fits the start of a delegation to an agent: one that
// runs before one that is still streaming, one that names the agent before one
// that names nobody, as that of a skill does. 0 is not at all.
func (c *openCall) fitScore(agent string) int {
	const fits, named, runs = 1, 2, 4
	d := c.delegation
	if d == nil { // the arguments are not known yet
		d = session.DelegationFor(c.name, "")
	}
	if d == nil || !d.Blocking || c.claimed || c.answered || d.Agent != "" && d.Agent != agent {
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
	implied bool  // the answer before was complete before any event said so
	results []openResult
}

type openResult struct {
	id   string
	line int64
}

// followEvent notes what an event says of the session that speaks, so that a message
// that is complete can tell what it holds.
func (s *openSession) followEvent(e *Event, step *Step) {
	switch e.Kind {
	case Choice, Reasoning:
		s.noteSpeaker(e)
	case PartialCall:
		s.noteSpeaker(e)
		s.noteCall(e)
		step.Call = e.Call.ID
	case CallStarted:
		s.completeAnswer(e.Call.ID)
		s.noteCall(e).started = true
		step.Call = e.Call.ID
	case CallAnswered:
		s.completeAnswer(e.Call.ID)
		s.noteCall(e).answered = true
		s.results = append(s.results, openResult{e.Call.ID, e.Line})
		step.Call = e.Call.ID
	case MessageAdded:
		step.Row, step.Call = s.takeComplete()
		switch step.Row {
		case session.Assistant:
			step.Calls = s.calledIDs()
		case session.NoRole: // an answer that was not streamed
			s.calls, s.at = nil, nil
		}
	case UserMessage:
		step.Row, s.pending = session.User, pending{}
	case Restarted:
		s.answer = 0
	}
}

// completeAnswer completes the answer that makes a call: a call runs when its message is
// complete. A client that does not know message_added (docker agent v1.32.3)
// records nothing else of that.
func (s *openSession) completeAnswer(call string) {
	if _, known := s.at[call]; known && s.answer > 0 {
		s.answer, s.implied = 0, true
	}
}

// noteSpeaker notes who speaks. The calls of the answer before are history then, and so
// are its results.
func (s *openSession) noteSpeaker(e *Event) {
	s.agent = cmp.Or(e.Agent, s.agent)
	if s.answer == 0 {
		s.calls, s.at, s.pending = nil, nil, pending{answer: e.Line}
	}
}

// noteCall notes a call, or more of what is known of it.
func (s *openSession) noteCall(e *Event) *openCall {
	c := &e.Call
	n, known := s.at[c.ID]
	if !known {
		if s.at == nil {
			s.at = map[string]int{}
		}
		n = len(s.calls)
		s.at[c.ID] = n
		s.calls = append(s.calls, openCall{id: c.ID})
	}
	s.calls[n].name, s.calls[n].delegation = cmp.Or(c.Name, s.calls[n].name), cmp.Or(c.Delegation, s.calls[n].delegation)
	return &s.calls[n]
}

func (s *openSession) calledIDs() []string {
	ids := make([]string, len(s.calls))
	for i := range s.calls {
		ids[i] = s.calls[i].id
	}
	return ids
}

// takeComplete is the role of the message that is complete now, and of a result
// the call. Messages are complete in the order in which they began.
func (s *openSession) takeComplete() (session.Role, string) {
	switch {
	case s.answer > 0 && (len(s.results) == 0 || s.answer < s.results[0].line):
		s.answer = 0
		return session.Assistant, ""
	case len(s.results) > 0:
		id := s.results[0].id
		s.results = s.results[1:]
		return session.Tool, id
	case s.implied:
		s.implied = false
		return session.Assistant, ""
	}
	return session.NoRole, ""
}
