package rules

import (
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// party is an agent at work: in a session of its own, or on a branch of one that
// several agents share, in one run of the runtime.
type party struct {
	of                 *Subject
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
	seen  map[*Subject]bool
}

type fileBy struct {
	path string
	by   party
}

func newFileWrites() *fileWrites {
	return &fileWrites{at: map[string][]fileWrite{}, known: map[fileBy]bool{}, spans: map[party]span{}, seen: map[*Subject]bool{}}
}

func (w *fileWrites) add(s *Subject, use fileUse) {
	by := s.partyOf(use.item)
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
		s.addSpans(w.spans)
	}
}

func (s *Subject) partyOf(i int) party { return party{s, s.Items[i].Branch, s.Items[i].Invocation} }

// addSpans adds when the parties of a session worked.
func (s *Subject) addSpans(spans map[party]span) {
	for i := range s.Items {
		it := &s.Items[i]
		if it.Time.IsZero() || s.Replay.Steps[i].Action != replay.Persist {
			continue
		}
		at, met := spans[s.partyOf(i)]
		if !met || it.Time.Before(at.first) {
			at.first = it.Time
		}
		if it.Time.After(at.last) {
			at.last = it.Time
		}
		spans[s.partyOf(i)] = at
	}
}

// reportSharedFile tells of a file that two parties wrote while both were running.
func (p *Pass) reportSharedFile(name string, w *fileWrites) {
	for n, write := range w.at[name] {
		for _, earlier := range w.at[name][:n] {
			one, other := w.spans[earlier.by], w.spans[write.by]
			if !one.first.Before(other.last) || !other.first.Before(one.last) || p.isWaiting(earlier.by, write.by) {
				continue
			}
			f := p.find(write.by.of.Session, write.item)
			f.Nth = 2
			f.Related = []session.Place{earlier.by.of.At(earlier.item)}
			f.Message = write.by.name() + " writes " + quoted(name) + ", which " + earlier.by.name() +
				" writes as well, and both were running: the last one wins"
			p.Report(f)
			return
		}
	}
}

func (w party) name() string {
	if w.branch != "" {
		return "the agent on branch " + quoted(w.branch)
	}
	return w.of.whoseName()
}

// isWaiting reports whether one of two parties waits for the other.
func (p *Pass) isWaiting(a, b party) bool {
	if a.of == b.of {
		return waitsFor(a.branch, b.branch)
	}
	return p.waitsBelow(a.of, b.of) || p.waitsBelow(b.of, a.of)
}

// waitsFor reports whether one branch lies below the other, whose agent waits for it.
func waitsFor(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == "" || a == b || strings.HasPrefix(b, a+".")
}

// waitsBelow reports whether a session waits for delegations that lead down to another.
func (p *Pass) waitsBelow(above, below *Subject) bool {
	seen := map[*Subject]bool{}
	for s := below; s != nil && !seen[s]; {
		seen[s] = true
		if s == above {
			return true
		}
		d := p.Trace.Callers[s.Session]
		if d == nil || !d.Call().Delegation.Blocking {
			return false
		}
		s = p.subject(d.Session)
	}
	return false
}
