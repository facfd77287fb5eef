package recording

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/replay"
)

// Recorder runs the events of a stream through the model, one at a time. Its
// memory follows what is open at a time and not what has passed, unless it keeps
// the sessions.
type Recorder struct {
	model    Model
	assembly *assembly       // nil when the sessions are not kept
	run      *openSession    // the session of the run, nil before the first event that names one
	open     []*openSession  // the delegations that are open, in the order in which they opened
	closed   map[string]bool // the sessions of the latest that closed: they name nobody any more
	line     int64           // of the last event
	asked    int             // how often it was asked who can speak
	result   Result
}

// NewRecorder makes a recorder that decides by the model. With keep, End gives
// the sessions as well, as the runtime stores them: noOutput is its text for a result
// without one (session.Runtime).
func NewRecorder(model Model, keep bool, noOutput string) *Recorder {
	r := &Recorder{model: model, closed: map[string]bool{}}
	if keep {
		r.assembly = &assembly{noOutput: noOutput, byID: map[string]*node{}, nodes: map[*openSession]*node{}}
	}
	return r
}

// Take is the verdict on the next event.
func (r *Recorder) Take(e *Event) Step {
	r.line = e.Line
	step := Step{Before: r.openDepth()}
	var at owner
	switch e.Kind {
	case UserMessage:
		at = r.takeUserMessage(e, &step)
	case StreamStarted:
		at = r.takeStreamStart(e, &step)
	case StreamStopped:
		at = r.takeStreamStop(e, &step)
	case Switched:
		at = r.takeSwitch(e, &step)
	case ChildCompleted:
		at = r.takeChild(e, &step)
	default:
		at = r.locateOwner(e)
		if e.Kind == CallAnswered {
			r.closeAnswered(e, at.stream, &step)
		}
	}
	step.Depth = r.openDepth()
	if s := at.stream; s != nil {
		s.followEvent(e, &step)
		step.Frame, step.Agent = s.frame, s.agent
	}
	step.Agent = cmp.Or(e.Agent, step.Agent)
	r.judgeEvent(e, at, &step)
	if r.assembly != nil {
		r.assembly.takeEvent(e, at.stream, &step)
	}
	return step
}

// End closes what is still open and gives what the stream amounts to.
func (r *Recorder) End() *Result {
	last := r.line
	for _, s := range r.open {
		if r.line = last; s.resulted == 0 {
			r.recordAnomaly(nil, CutOff, s)
			continue
		}
		r.line = s.resulted // the run went on
		r.recordAnomaly(nil, UnmatchedStart, s)
	}
	r.open = nil
	if r.assembly != nil {
		r.result.Trees = r.assembly.buildTrees()
	}
	return &r.result
}

// openDepth counts the open delegations that the model sees: switches, and streams
// that run; between the end of a stream and the end of its switch the delegation
// is open still.
func (r *Recorder) openDepth() int {
	n := 0
	for _, s := range r.open {
		switch {
		case r.model == ByDepth && !s.switched:
		case r.model == BySession && s.state != running:
		default:
			n++
		}
	}
	return n
}

// takeUserMessage begins a run or goes on with one, unless a sub-session was just
// opened that repeats its task in this way.
func (r *Recorder) takeUserMessage(e *Event, step *Step) owner {
	if s := r.knownSession(e.Session); s != nil && s != r.run {
		return owner{s, e.Session, byID}
	}
	if r.run != nil && e.Session != r.run.id && r.latestUnnamed(e.Agent) != nil {
		return owner{r.beginChild(e), e.Session, byID}
	}
	r.beginRun(e, step)
	return owner{r.run, r.run.id, byID}
}

// takeStreamStart begins a run, goes on with one, or is the first of a sub-session.
func (r *Recorder) takeStreamStart(e *Event, step *Step) owner {
	s := r.knownSession(e.Session)
	switch {
	case s != nil && s != r.run:
	case r.resumesRun(e):
		r.beginRun(e, step)
		s = r.run
	default:
		if s = r.beginChild(e); r.isByStream(s) {
			step.Reason, step.Call = replay.Opens, s.frame.Call
		}
	}
	s.state, s.agent = running, e.Agent
	return owner{s, s.id, byID}
}

// takeStreamStop ends a stream. A delegation that was not opened by a switch ends
// with it.
func (r *Recorder) takeStreamStop(e *Event, step *Step) owner {
	s := r.knownSession(e.Session)
	if e.Session == "" {
		s = r.speakingSession(e.Agent)
	}
	if s == nil {
		return owner{nil, e.Session, byID}
	}
	s.state = stopped
	if s != r.run && r.isByStream(s) {
		step.Reason, step.Call = replay.Closes, s.frame.Call
	}
	if s != r.run && !s.switched {
		r.closeDelegation(e, step, s)
	}
	return owner{s, s.id, byID}
}

// takeSwitch opens a delegation or closes one.
func (r *Recorder) takeSwitch(e *Event, step *Step) owner {
	if e.Start {
		s := r.openDelegation(e.From, e.To)
		s.switched = true
		if step.Call = s.frame.Call; !r.isByStream(s) {
			step.Reason = replay.Opens
		}
		return owner{s, s.id, byDepth}
	}
	s := r.findClosing(e)
	if s == nil {
		step.Reason, step.Anomaly = replay.Clamped, r.recordAnomaly(e, UnmatchedEnd, nil)
		if r.run != nil && len(r.open) == 0 && r.run.agent == e.From { // recorded from the middle of it on
			r.run.state = stopped
		}
		return owner{r.speakingSession(e.To), "", byDepth}
	}
	if step.Call = s.frame.Call; !r.isByStream(s) {
		step.Reason = replay.Closes
	}
	r.closeDelegation(e, step, s)
	return owner{s.parent, s.parent.id, byDepth}
}

// takeChild is the record of a sub-session; its place is the parent's.
func (r *Recorder) takeChild(e *Event, step *Step) owner {
	if e.Child == nil {
		return owner{r.knownSession(e.Session), e.Session, byID}
	}
	id := e.Child.Root().ID
	if r.run == nil || r.run.id == id { // recorded from the middle on
		if r.run != nil {
			step.Anomaly = r.recordAnomaly(e, BegunInside, &openSession{id: id, line: r.run.line, frame: &replay.Frame{Caller: e.Agent, Agent: r.run.agent}})
		}
		r.beginRun(e, step)
	}
	child := r.knownSession(id)
	if r.run.id == "" && child != nil && child.parent == r.run {
		r.run.id = e.Session
	}
	if s := r.latestUnnamed(""); child == nil && s != nil && s.parent.id == e.Session {
		s.setID(id)
		child = s
	}
	if child != nil && child != r.run {
		step.Call = child.frame.Call
		if !child.switched {
			r.closeDelegation(e, step, child)
		}
	}
	return owner{r.knownSession(e.Session), e.Session, byID}
}

// isByStream reports whether the model sees a delegation by its stream and not by
// its switch.
func (r *Recorder) isByStream(s *openSession) bool { return !s.switched || r.model == BySession }

// recordAnomaly records an anomaly and returns it. e is nil at the end of the recording.
func (r *Recorder) recordAnomaly(e *Event, kind AnomalyKind, s *openSession) *Anomaly {
	const most = 1000
	a := Anomaly{Kind: kind, Line: r.line}
	if s != nil {
		a.Opened, a.Child, a.Caller, a.Agent, a.Call = s.line, s.id, s.frame.Caller, s.frame.Agent, s.frame.Call
	} else if e != nil {
		a.Caller, a.Agent = e.To, e.From
	}
	if r.result.Odd++; r.result.Odd <= most {
		r.result.Anomalies = append(r.result.Anomalies, a)
	}
	return &a
}

// judgeEvent says what each model does with an event of the owner.
func (r *Recorder) judgeEvent(e *Event, at owner, step *Step) {
	if kinds[e.Kind] == nothing {
		step.Action, step.Other = replay.None, replay.None
		if step.Reason == replay.Unreasoned {
			step.Reason = replay.NothingStored
		}
		return
	}
	step.Target = at.id
	step.Action, step.Reason = r.judgeBySession(e, at)
	step.Other, step.OtherReason = r.judgeByDepth(e)
	if r.model == ByDepth {
		step.Action, step.Reason, step.Other, step.OtherReason = step.Other, step.OtherReason, step.Action, step.Reason
	}
}

// judgeBySession stores what belongs to the run's own session.
func (r *Recorder) judgeBySession(e *Event, at owner) (replay.Action, replay.Reason) {
	own := at.stream == r.run && r.run != nil
	switch {
	case e.Kind == ChildCompleted && own:
		return replay.Persist, replay.OwnRecord
	case e.Kind == ChildCompleted:
		return replay.Skip, replay.ChildRecord
	}
	reason := [...]struct{ own, child replay.Reason }{
		byID:     {replay.OwnID, replay.ChildID},
		byCall:   {replay.OwnCall, replay.ChildCall},
		byStream: {replay.OwnStream, replay.ChildStream},
		byDepth:  {replay.AtDepthZero, replay.BelowZero},
	}[at.how]
	if own || at.id == "" && at.stream == nil {
		return replay.Persist, reason.own
	}
	return replay.Skip, reason.child
}

// judgeByDepth stores what comes while no switch is open, and records at any depth.
func (r *Recorder) judgeByDepth(e *Event) (replay.Action, replay.Reason) {
	if kinds[e.Kind] == record {
		return replay.Persist, replay.NotGuarded
	}
	if slices.ContainsFunc(r.open, func(s *openSession) bool { return s.switched }) {
		return replay.Skip, replay.BelowZero
	}
	return replay.Persist, replay.AtDepthZero
}
