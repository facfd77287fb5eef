package adk

import (
	"sync"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

// note is what an event says about others, which an item has no room for.
type note struct {
	rewind  string // the invocation before which the session goes on
	summary *span
	dialect string
	aware   bool // its time has an offset, as all of P1's have in PostgreSQL
	asks    bool // for a person's approval or for credentials: its answers wait
	// about are the calls that its questions to a person are about, by the ids of the
	// questions.
	about *map[string]string
}

// notes are kept by the key of the item. Few events have one.
type notes struct {
	byKey sync.Map
	// follows: the reader looks for the call of a result among what it sends, and leaves
	// a result out with its call.
	follows bool
}

func (n *notes) keep(key string, value note) {
	if value == (note{}) {
		n.byKey.Delete(key) // a repair can have changed the event
		return
	}
	n.byKey.Store(key, value)
}

func (n *notes) of(it *session.Item) note {
	value, _ := n.byKey.Load(it.Key)
	v, _ := value.(note)
	return v
}

// noteOf is the note of an event. Only adk-python knows rewinds (3.1 step 1).
func noteOf(g generation, s *stored) note {
	n := note{dialect: s.dialect, aware: g == p1 && s.time.zoned}
	n.asks = len(s.Actions.RequestedToolConfirmations)+len(s.Actions.RequestedAuthConfigs) > 0
	n.about = questions(g, s)
	if g.python() {
		n.rewind = s.Actions.RewindBeforeInvocationID
	}
	switch c := s.Actions.Compaction; {
	case c == nil || s.broken:
	case g == j1: // everything up to the end, of the last summary only
		n.summary = &span{end: c.end(), sole: true}
		if n.summary.end.IsZero() {
			n.summary.end = time.Unix(endOfTime, 0)
		}
	case g.summaryFault(s) == "":
		// adk-python leaves out every event before a summary that is not older than
		// its start; the others, as adk-java does it, what lies within the span (3.6).
		n.summary = &span{start: c.start(), end: c.end(), open: g.python(), local: g == p0}
		for _, e := range c.ExcludedEvents {
			n.summary.except = append(n.summary.except, excluded{e.InvocationID, spanTime(e.Timestamp).Time})
		}
	}
	return n
}
