package adk

import (
	"time"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/session"
)

// Document is an event of ADK that another store keeps as one JSON text, in the names
// of any of its runtimes: snake case as adk-python has them, camel case, or those of
// adk-go before 2.2, which begin in upper case.
type Document struct {
	Data   []byte    // is not kept
	Column string    // that holds it, for faults
	Python bool      // adk-python reads it, else adk-go
	User   string    // whose session it is in
	Stored time.Time // when it was, for one that has no time of its own
}

// Documents decodes the events of a store, and relates those of a session. The zero
// value is ready. It is safe for concurrent use.
type Documents struct{ notes notes }

// Item decodes an event into an item that has its Table, Key and Position, as
// eventlog.Layout.Item does.
func (d *Documents) Item(doc Document, it *session.Item, body bool) []session.Fault {
	g := g2
	if doc.Python {
		g = ps
	}
	s, list := stored{raw: doc.Data}, faults(nil)
	if err := g.decode(doc.Data, &s.event); err != nil {
		s.event, s.broken = event{}, true
		list.unknown(doc.Column, explain(err), jsonedit.Whole(doc.Data))
	}
	if s.time = jsonStamp(s.Timestamp, seconds); s.time.bad != "" {
		list.add(session.BadTime, doc.Column+" timestamp", s.time.bad)
	}
	if s.time.IsZero() {
		s.time.Time = doc.Stored
	}
	if s.Branch.wrong {
		list.unknown(doc.Column+" branch", wrongBranch, true)
	}
	g.fill(&s, doc.User, it, body, &list)
	d.notes.keep(it.Key, noteOf(g, &s))
	return list
}

// Relate sets what the events of a session tell of each other, anew where it was set
// before: what a rewind annulled, what a summary covers, which results a later one
// stands for.
func (d *Documents) Relate(s *session.Session) { d.notes.relate(s) }

// WithoutTime is the document of an event without the event's time.
func WithoutTime(data []byte) []byte {
	for _, pointer := range []string{"/timestamp", "/Timestamp"} {
		if _, has := jsonedit.Raw(data, pointer); !has {
			continue
		}
		if rest, err := jsonedit.Set(data, pointer, nil); err == nil {
			return rest
		}
	}
	return data
}
