package isolation

import (
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// party is an agent at work: in a session of its own, or on a branch of one that
// several agents share, in one run of the runtime.
type party struct {
	of                 *rules.Subject
	branch, invocation string
}

// span is from when to when a party worked, as far as its items have times.
type span struct{ first, last time.Time }

// fileWrite is that a party wrote a file.
type fileWrite struct {
	by   party
	item int
}

// fileWrites are the writes of a tree, by file: the first one of each party.
type fileWrites struct {
	order []string
	at    map[string][]fileWrite
	known map[fileBy]bool
	spans map[party]span // of all parties of the sessions that wrote something
	seen  map[*rules.Subject]bool
}

type fileBy struct {
	path string
	by   party
}

func newFileWrites() *fileWrites {
	return &fileWrites{at: map[string][]fileWrite{}, known: map[fileBy]bool{}, spans: map[party]span{}, seen: map[*rules.Subject]bool{}}
}

func (w *fileWrites) add(s *rules.Subject, use fileUse) {
	by := partyOf(s, use.item)
	if !use.writes || w.known[fileBy{use.path, by}] {
		return
	}
	w.known[fileBy{use.path, by}] = true
	if w.at[use.path] == nil {
		w.order = append(w.order, use.path)
	}
	w.at[use.path] = append(w.at[use.path], fileWrite{by, use.item})
	if !w.seen[s] {
		w.seen[s] = true
		addSpans(s, w.spans)
	}
}

func partyOf(s *rules.Subject, i int) party {
	return party{s, s.Items[i].Branch, s.Items[i].Invocation}
}

// addSpans adds when the parties of a session worked.
func addSpans(s *rules.Subject, spans map[party]span) {
	for i := range s.Items {
		it := &s.Items[i]
		if it.Time.IsZero() || s.Replay.Steps[i].Action != replay.Persist {
			continue
		}
		at, met := spans[partyOf(s, i)]
		if !met || it.Time.Before(at.first) {
			at.first = it.Time
		}
		if it.Time.After(at.last) {
			at.last = it.Time
		}
		spans[partyOf(s, i)] = at
	}
}

// reportSharedFile tells of a file that two parties wrote while both were running.
func reportSharedFile(p *rules.Pass, name string, w *fileWrites) {
	for n, write := range w.at[name] {
		for _, earlier := range w.at[name][:n] {
			one, other := w.spans[earlier.by], w.spans[write.by]
			if !one.first.Before(other.last) || !other.first.Before(one.last) || isWaiting(p, earlier.by, write.by) {
				continue
			}
			f := p.Find(write.by.of.Session, write.item)
			f.Nth = 2
			f.Related = []session.Place{earlier.by.of.At(earlier.item)}
			f.Message = write.by.name() + " and " + earlier.by.name() + " both write " + rules.Quoted(name) + ". They were running at the same time, so the last one wins."
			p.Report(f)
			return
		}
	}
}

func (w party) name() string {
	if w.branch != "" {
		return "the agent on branch " + rules.Quoted(w.branch)
	}
	return whoseName(w.of)
}

// isWaiting reports whether one of two parties waits for the other.
func isWaiting(p *rules.Pass, a, b party) bool {
	if a.of == b.of {
		return waitsFor(a.branch, b.branch)
	}
	return waitsBelow(p, a.of, b.of) || waitsBelow(p, b.of, a.of)
}

// waitsFor reports whether one branch lies below the other, whose agent waits for it.
func waitsFor(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == "" || a == b || strings.HasPrefix(b, a+".")
}

// waitsBelow reports whether a session waits for delegations that lead down to another.
func waitsBelow(p *rules.Pass, above, below *rules.Subject) bool {
	seen := map[*rules.Subject]bool{}
	for s := below; s != nil && !seen[s]; {
		seen[s] = true
		if s == above {
			return true
		}
		d := p.Trace.Callers[s.Session]
		if d == nil || !d.Call().Delegation.Blocking {
			return false
		}
		s = p.Subject(d.Session)
	}
	return false
}
