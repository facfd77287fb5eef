// Package recording follows the events that a runtime emitted through the
// depth-tracking persistence model: what a correct runtime would have stored of
// each, and where, and what its sessions would be. Package events reads them, and
// package replay does the same for items that are stored.
package recording

import (
	"time"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// EventKind says what an event of a recorded stream means to the model.
type EventKind uint8

// The kinds of events. OtherEvent is whatever stores nothing and moves nobody:
// information for a screen, and types that are not known.
const (
	OtherEvent EventKind = iota
	UserMessage
	StreamStarted
	StreamStopped
	Choice         // a piece of an answer's text
	Reasoning      // a piece of an answer's reasoning
	PartialCall    // a call of the answer that is streaming, or a piece of its arguments
	CallStarted    // a call about to run, with its final arguments
	CallAnswered   // its result
	MessageAdded   // the message that was described before is complete
	ChildCompleted // a sub-session with everything in it
	TokenUsage
	TitleSet
	Summarized
	Switched  // an agent delegates to another one, or is back
	Restarted // the answer that is streaming was thrown away: another model takes over
	Failed
)

// stores says what an event leaves in a store.
type stores uint8

const (
	nothing stores = iota
	message        // a message, or a part of one
	record         // something else: a sub-session, tokens, a title, a summary
)

// kinds are what the model knows of each kind of event. The depth model holds
// back messages only: that is how it was designed (docker/docker-agent#1739).
var kinds = [...]stores{
	UserMessage: message, Choice: message, Reasoning: message, PartialCall: message, CallAnswered: message, MessageAdded: message,
	ChildCompleted: record, TokenUsage: record, TitleSet: record, Summarized: record,
	Failed: nothing, // and so the others
}

// Event is one event of a recorded stream, as far as the model needs it.
type Event struct {
	Line  int64 // in the recording, from 1
	Kind  EventKind
	Name  string    // its type, as recorded: "agent_choice"
	Time  time.Time // zero when it has none
	Agent string    // who it names, "" for none

	// Session is the session that the event belongs to, "" where it exposes
	// none. Of a completed child it is the parent's.
	Session string

	// Text is the piece of text or reasoning, what the user said, a result, a
	// title, a summary, or an error.
	Text string

	// Call is the call that it is about. Of a PartialCall, Args is the piece or
	// all so far; of a CallAnswered only the id is sure, and the name where it
	// is recorded.
	Call    session.Call
	IsError bool // CallAnswered

	Start    bool // Switched: a delegation begins
	From, To string

	Position int64 // UserMessage: index in its session, -1 unknown
	KeptFrom int64 // Summarized: as Item.KeptFrom
	Model    string

	// Child is a completed sub-session with everything that is nested in it,
	// bodies loaded, parents before children; nil when it could not be read.
	// It belongs to whoever takes the event.
	Child *session.Tree
}

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

// Step is the verdict on one event: would a correct runtime store it in the session
// of the run, or does it belong to a sub-session? Depth counts the delegations that
// are open behind the event, and Frame is the innermost one that the event belongs
// to, nil for the run's own session.
type Step struct {
	replay.Step
	Before int    // delegations open before the event
	Target string // the session that what it stores belongs to, "" when unknown
	// Agent is who produced it: the event's own, else that of the frame.
	Agent string
	// Call is the call that the event is about: the delegation that opens or
	// closes, the call that a result answers.
	Call string
	// Calls are the calls of the answer that a MessageAdded completes.
	Calls []string
	// Row is the role of the message that a MessageAdded completes, NoRole when
	// nothing told of its content.
	Row session.Role

	// Other is what the other model would do, and OtherReason why: the depth
	// model's verdict beside ids and streams, and theirs beside the depth
	// model's. They disagree where the actions differ.
	Other       replay.Action
	OtherReason replay.Reason

	// Anomaly is set where the event does not fit what came before.
	Anomaly *Anomaly
}

// Disagree reports whether the two persistence models would do different things
// with the event.
func (s *Step) Disagree() bool { return s.Action != s.Other }

// AnomalyKind says what is odd about a stream.
type AnomalyKind uint8

// The kinds of anomalies.
const (
	UnmatchedEnd   AnomalyKind = iota // the end of a delegation that is not open: the depth stays 0
	UnmatchedStart                    // a delegation without an end, closed by what came next
	CutOff                            // the recording ends inside a delegation
	BegunInside                       // it begins inside of one, which was taken for the run so far
)

// Anomaly is a start or an end of a delegation that has no counterpart.
type Anomaly struct {
	Kind   AnomalyKind
	Line   int64  // of the event that shows it; CutOff: of the last event
	Opened int64  // the line where the delegation opened, 0 for an UnmatchedEnd
	Child  string // the session that the delegation started, "" when unknown
	Caller string
	Agent  string
	Call   string // "" when unknown
}

// Table is the table of items that were put together from events; their key is
// the line where they began.
const Table = "events"

// Result is what a recording amounts to: the sessions as a correct runtime would
// have stored them, and what is odd about it.
type Result struct {
	// Trees are the sessions of the stream, one tree for each that a user
	// started, in that order, with bodies; nil where nobody asked for them. Items
	// have the table Table, those of completed sub-sessions the table of their
	// reader. A session that no event names is called after Table and its line.
	// Positions count from what user_message says of its place in the session: a
	// jump tells of items that were not recorded.
	//
	// A child that never completed is there without an item that refers to it:
	// no runtime stores one. All its items are flagged Unfinished, as is a
	// message that was streaming when the recording stopped.
	Trees []*session.Tree

	Anomalies []Anomaly // the first ones
	Odd       int       // how many there are

	Skipped []Skipped // the first lines that are no events; for whom reads them to fill in
	Unread  int       // how many there are
}

// Skipped is a line of a recording that is no event, and why.
type Skipped struct {
	Line int64
	Why  string // for people; never message text
}
