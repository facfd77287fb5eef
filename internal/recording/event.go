// Package recording follows the events that a runtime emitted through the
// depth-tracking persistence model: what a correct runtime would have stored of
// each, and where, and what its sessions would be. Package events reads them, and
// package replay does the same for items that are stored.
package recording

import (
	"time"

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
	OtherEvent:     nothing,
	UserMessage:    message,
	StreamStarted:  nothing,
	StreamStopped:  nothing,
	Choice:         message,
	Reasoning:      message,
	PartialCall:    message,
	CallStarted:    nothing,
	CallAnswered:   message,
	MessageAdded:   message,
	ChildCompleted: record,
	TokenUsage:     record,
	TitleSet:       record,
	Summarized:     record,
	Switched:       nothing,
	Restarted:      nothing,
	Failed:         nothing,
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
