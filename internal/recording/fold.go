package recording

import (
	"time"

	"github.com/sessctl/sessctl/internal/replay"
)

// Row is an event as it is shown, with those that are folded into it. It holds
// nothing of what was said.
type Row struct {
	Step

	Line, Last int64 // of the first event and of the last one
	Count      int   // events of the kind
	Kind       EventKind
	Name       string
	Time       time.Time
	From, To   string // Switched
	Child      string // ChildCompleted: the id of the sub-session
	Again      bool   // of all events: it would be folded into the one before
}

// Path are the agents of the row's frame from the run's own, which is alone outside of all
// delegations; nil when no event named it.
func (r *Row) Path() []string {
	switch {
	case r.Frame != nil:
		return pathOf(r.Frame)
	case r.Agent != "":
		return []string{r.Agent}
	}
	return nil
}

func pathOf(f *replay.Frame) []string {
	if f.Parent == nil {
		return []string{f.Caller, f.Agent}
	}
	return append(pathOf(f.Parent), f.Agent)
}

// Fold makes rows of events: one of each event that matters, and one of several
// in a row that do not differ. Its memory does not grow with their number.
type Fold struct {
	all  bool
	emit func(*Row) error
	row  Row // has a Count while it waits for more of its kind
	next Row // that of the event that was taken last
}

// NewFold makes a Fold that hands on its rows, which are good until emit returns.
// With all, every event is a row of its own.
func NewFold(all bool, emit func(*Row) error) *Fold { return &Fold{all: all, emit: emit} }

// shown are the kinds of events that are rows by themselves. The pieces of calls
// and their results are told with the message that they become part of.
var shown = [...]bool{
	UserMessage: true, Choice: true, Reasoning: true, MessageAdded: true, ChildCompleted: true, TokenUsage: true,
	TitleSet: true, Summarized: true, Switched: true, Restarted: true, Failed: true,
}

// isOwnRow reports whether the event is a row by itself, because of what it is or
// of what the model says about it.
func isOwnRow(e *Event, s *Step) bool {
	return shown[e.Kind] || s.Before != s.Depth || s.Anomaly != nil || s.Disagree()
}

// Take adds an event with its verdict. It keeps neither.
func (f *Fold) Take(e *Event, s *Step) error {
	if !f.all && !isOwnRow(e, s) {
		return nil
	}
	f.next = Row{
		Step: *s, Line: e.Line, Last: e.Line, Count: 1,
		Kind: e.Kind, Name: e.Name, Time: e.Time, From: e.From, To: e.To,
	}
	if e.Child != nil {
		f.next.Child = e.Child.Root().ID
	}
	again := f.row.saysSame(&f.next)
	if f.all {
		f.next.Again, f.row = again, f.next
		return f.emit(&f.next)
	}
	if again {
		f.row.Last = f.next.Line
		f.row.Count++
		return nil
	}
	err := f.End()
	f.row = f.next
	return err
}

// End hands on the row that waits for more of its kind.
func (f *Fold) End() error {
	if f.row.Count == 0 || f.all {
		return nil
	}
	row := f.row
	f.row = Row{}
	return f.emit(&row)
}

// saysSame reports whether two rows say the same of equal events. What moves the
// depth, is odd or makes calls is like nothing else.
func (r *Row) saysSame(next *Row) bool {
	special := func(one *Row) bool { return one.Before != one.Depth || one.Anomaly != nil || len(one.Calls) > 0 }
	if r.Count == 0 || r.Kind != next.Kind || r.Name != next.Name || r.Child != next.Child || special(r) || special(next) {
		return false
	}
	return r.Step.Step == next.Step.Step && r.Target == next.Target && r.Agent == next.Agent && r.Call == next.Call &&
		r.Row == next.Row && r.Other == next.Other && r.OtherReason == next.OtherReason
}
