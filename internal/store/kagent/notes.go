package kagent

import (
	"slices"
	"sync"

	"github.com/sessctl/sessctl/internal/session"
)

// note is what an event says that an item has no room for.
type note struct {
	form     dialect
	parented bool     // the headers of its request say that another agent made it
	pending  []string // the ids of calls whose results only say that a worker waits for approval
	// asks are what requests for approval hand on for workers (b3, link 3), by the ids
	// of the calls that started the runs.
	asks map[string]session.Question
	// about are the calls that requests for approval are about, by the ids of the
	// requests; long are the ids of the long-running calls.
	about map[string]string
	long  []string
}

// notes are kept by the key of the item, the form of an event only until its session
// is complete: every event has one.
type notes struct{ byKey sync.Map }

func (n *notes) keep(key string, value note) { n.byKey.Store(key, value) }

func (n *notes) of(it *session.Item) note {
	value, _ := n.byKey.Load(it.Key)
	v, _ := value.(note)
	return v
}

// thin drops what is not needed any more: a repair can change how the forms of a session
// are mixed only where they are.
func (n *notes) thin(s *session.Session) {
	mixed := slices.ContainsFunc(s.Faults, func(f session.Fault) bool { return f.Kind == session.MixedDialects })
	for i := range s.Items {
		v := n.of(&s.Items[i])
		if !mixed {
			v.form = unknown
		}
		if v.form != unknown || v.parented || v.pending != nil || v.asks != nil || v.about != nil || v.long != nil {
			n.keep(s.Items[i].Key, v)
		} else {
			n.byKey.Delete(s.Items[i].Key)
		}
	}
}

// waits reports whether a result of the item is one that stands for a later one.
func (v note) waits(callID string) bool { return slices.Contains(v.pending, callID) }
