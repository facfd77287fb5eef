package isolation

import (
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// past is what the agents of a session said, what their tools answered and what the
// user asked: the first item of each, by what it says.
type past struct {
	said    map[session.Digest]int
	calls   map[called]int // where the texts are loaded
	answers map[answered]int
	asked   map[session.Digest]int
}

// called is a call with all that it says.
type called struct{ id, tool, args string }

// answered is a result with what it says.
type answered struct {
	call string
	text session.Digest
}

// pastOf is made once a session, and only where a child has something that does not
// look like its own. What leaked into the session is not its own either.
func pastOf(s *rules.Subject) *past {
	return rules.Once(&s.Known, func() *past { return findPast(s) })
}

func findPast(s *rules.Subject) *past {
	found := &past{map[session.Digest]int{}, map[called]int{}, map[answered]int{}, map[session.Digest]int{}}
	for i := range s.Items {
		it := &s.Items[i]
		if !it.OnWire() || s.Replay.Steps[i].Action != replay.Persist {
			continue
		}
		if it.Role == session.Assistant && it.Meaning != 0 {
			first(found.said, it.Meaning, i)
		}
		if it.Role == session.User && it.Meaning != 0 {
			first(found.asked, it.Meaning, i)
		}
		for n := range it.Calls {
			if c := &it.Calls[n]; c.ID != "" && c.Args != "" {
				first(found.calls, called{c.ID, c.Name, c.Args}, i)
			}
		}
		for n := range it.Results {
			if r := &it.Results[n]; tells(r) {
				first(found.answers, answered{r.CallID, r.Digest}, i)
			}
		}
	}
	return found
}

// first notes the index for a key that has none.
func first[K comparable](known map[K]int, key K, i int) {
	if _, is := known[key]; !is {
		known[key] = i
	}
}

// message finds the message that says the same as another session's, or that makes
// one of its calls.
func (p *past) message(it *session.Item) (i int, known bool) {
	if i, known = p.said[it.Meaning]; known {
		return i, true
	}
	for n := range it.Calls {
		c := &it.Calls[n]
		if i, known = p.calls[called{c.ID, c.Name, c.Args}]; known {
			return i, true
		}
	}
	return 0, false
}

// tells reports whether a result says something that two calls do not get alike:
// errors, placeholders and results without a text or an id are no evidence.
func tells(r *session.Result) bool {
	return r.CallID != "" && r.Digest != 0 && !r.IsError && !r.Synthetic && !r.Pending
}
