package replay

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// pair is a session of the recording with the stored one of the same id.
type pair struct {
	recorded, stored *session.Session // stored is nil when the store lacks it
	events, rows     []said           // their items
	part             bool             // the recording may hold a part of the session only

	match []int // the stored item of each recorded one, -1 for none
	back  []int // the recorded item of each stored one, -1 for none
	moved []bool
	leaks []*leak // parallel to rows: what a child produced

	first, last int // the first and the last stored item with a partner, -1 for none
	from, to    int // the stored items of the run: others are those of other runs
}

func newPair(recorded, stored *session.Session, part bool) *pair {
	p := &pair{recorded: recorded, stored: stored, events: allSaid(recorded), rows: allSaid(stored), part: part}
	p.match = equals(keysOf(p.events), keysOf(p.rows))
	if part {
		tighten(p.match, p.events, p.rows)
	}
	fill(p.match, p.events, p.rows, standsFor)
	p.moved = make([]bool, len(p.events))
	p.back = slices.Repeat([]int{-1}, len(p.rows))
	p.leaks = make([]*leak, len(p.rows))
	for i, j := range p.match {
		if j >= 0 {
			p.back[j] = i
		}
	}
	p.span()
	p.claim(of(isReply, said.same), isTurn)
	p.claim(of(isAnswer, said.ownIDs), isAny)
	return p
}

// span finds where the run's items can stand: in all of the session, or from the
// user item that begins the run to the one that begins the next.
func (p *pair) span() {
	p.extent()
	p.to = len(p.rows)
	if !p.part || p.first < 0 {
		return
	}
	for p.from = p.first; p.from > 0 && !isPrompt(p.rows[p.from]); {
		p.from--
	}
	for p.to = p.last + 1; p.to < len(p.rows) && !isPrompt(p.rows[p.to]); {
		p.to++
	}
	p.to = min(p.to+1, len(p.rows))
}

// extent finds the first and the last stored item with a partner at its place.
func (p *pair) extent() {
	p.first, p.last = -1, -1
	for j, i := range p.back {
		if i < 0 || p.moved[i] {
			continue
		}
		if p.first < 0 {
			p.first = j
		}
		p.last = j
	}
}

// within reports whether a stored item stands among those of the run.
func (p *pair) within(j int) bool { return p.from <= j && j < p.to }

func isPrompt(it said) bool {
	return it.Kind == session.Message && it.Role == session.User && !it.Flags.Has(session.Implicit) && !it.Answers()
}

// isReply reports whether an item is a part of what came back from the calls of
// a batch, in whatever order they ended.
func isReply(it said) bool { return it.Kind == session.SubSession || it.Answers() }

// isTurn reports whether an item is the message of a person or an agent.
func isTurn(it said) bool { return !isReply(it) }

func isAny(said) bool { return true }

func isAnswer(it said) bool { return it.Role == session.Assistant }
