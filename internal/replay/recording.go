package replay

import "github.com/sessctl/sessctl/internal/session"

// Model is a way to say which session an event belongs to.
type Model uint8

// The models. Auto asks the session id that an event carries, where it carries
// none the streams that are running, and where those are not recorded the depth.
// ByDepth counts agent switches and holds back messages while one is open
// (docker/docker-agent#1739). BySession asks ids and streams and no switches: it
// is what docker agent does since v1.32.1 (#2077), with the streams for what has
// no id.
const (
	Auto Model = iota
	ByDepth
	BySession
)

// Models are the names of the models, by their number.
var Models = [...]string{"auto", "depth", "session-id"}

func (m Model) String() string { return Models[m] }

// EventStep is the verdict on one event: would a correct runtime store it in the
// session of the run, or does it belong to a sub-session? Step.Depth counts the
// delegations that are open behind the event, and Step.Frame is the innermost
// one that the event belongs to, nil for the run's own session.
type EventStep struct {
	Step
	Before int    // delegations open before the event
	Target string // the session that what it stores belongs to, "" when unknown
	// Agent is who produced it: the event's own, else that of the frame.
	Agent string
	// Call is the call that the event is about: the delegation that opens or
	// closes, the call that a result answers.
	Call string
	// Row is the role of the message that a MessageAdded completes, NoRole when
	// nothing told of its content.
	Row session.Role

	// Other is what the other model would do, and OtherReason why: the depth
	// model's verdict beside ids and streams, and theirs beside the depth
	// model's. They disagree where the actions differ.
	Other       Action
	OtherReason Reason

	// Anomaly is set where the event does not fit what came before.
	Anomaly *Anomaly
}

// Disagree reports whether the two persistence models would do different things
// with the event.
func (s *EventStep) Disagree() bool { return s.Action != s.Other }

// AnomalyKind says what is odd about a stream.
type AnomalyKind uint8

// The kinds of anomalies.
const (
	UnmatchedEnd   AnomalyKind = iota // the end of a delegation that is not open: the depth stays 0
	UnmatchedStart                    // a delegation without an end, closed by what came next
	CutOff                            // the recording ends inside a delegation
)

// Anomaly is a start or an end of a delegation that has no counterpart.
type Anomaly struct {
	Kind   AnomalyKind
	Line   int64  // of the event that shows it; CutOff: of the last event
	Opened int64  // the line where the delegation opened, 0 for an UnmatchedEnd
	Run    string // the session of the run
	Child  string // the session that the delegation started, "" when unknown
	Caller string
	Agent  string
	Call   string // "" when unknown
}

// Recording is what a stream amounts to: the sessions as a correct runtime would
// have stored them.
type Recording struct {
	// Trees are the sessions of the stream, one tree for each that a user
	// started, in that order, with bodies. Items have the table "events" and
	// their line as key.
	//
	// A child that never completed is there without an item that refers to it:
	// no runtime stores one. All its items are flagged Unfinished, as is a
	// message that was streaming when the recording stopped.
	Trees []*session.Tree

	Anomalies []Anomaly // the first ones
	Odd       int       // how many there are
}

// Skipped is a line of a recording that is no event, and why.
type Skipped struct {
	Line int64
	Why  string // for people; never message text
}
