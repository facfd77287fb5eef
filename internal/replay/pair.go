package replay

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// pair is a session of the recording with the stored one that it is.
type pair struct {
	recorded, stored *session.Session // stored is nil when the store lacks it
	events, rows     []said           // their items
	part             bool             // the recording may hold a part of the session only
	marks            bool             // the store marks results that are errors: docker agent does since v1.23.0
	mended           bool             // a repair made the stored one of what had leaked
	runs             []*run           // of the recording, in its order

	match []int // the stored item of each recorded one, -1 for none
	back  []int // the recorded item of each stored one, -1 for none
	moved []bool
	leaks []*leak // parallel to rows: what a child produced

	// Parallel to rows:
	near    []bool // a run's item can stand there: others are those of other runs
	among   []bool // it stands among the items of a run
	excused []bool // no event made it, and why is known
}

func newPair(recorded, stored *session.Session, part bool, runtime *session.Runtime) *pair {
	p := &pair{recorded: recorded, stored: stored, events: allSaid(recorded, runtime), rows: allSaid(stored, runtime), part: part}
	p.markCut()
	p.runs = p.split()
	p.match = p.anchored()
	p.fill()
	if part {
		for _, r := range p.runs {
			tighten(p.match[r.begin:r.end], p.events[r.begin:r.end], p.rows)
		}
	}
	p.moved = make([]bool, len(p.events))
	p.back = slices.Repeat([]int{-1}, len(p.rows))
	p.leaks = make([]*leak, len(p.rows))
	p.near, p.among, p.excused = make([]bool, len(p.rows)), make([]bool, len(p.rows)), make([]bool, len(p.rows))
	for i, j := range p.match {
		if j >= 0 {
			p.back[j] = i
		}
	}
	p.span()
	p.claim(of(isReply, said.same), isTurn)
	p.claim(said.outcomes, isTurn)
	p.claim(of(isAnswer, said.ownIDs), isAny)
	return p
}

// markCut marks the recorded items that may go on. All that a child said that
// never completed is Unfinished, and the stream told the end of all but the last.
func (p *pair) markCut() {
	for i := range p.events {
		it := &p.events[i]
		it.cut = it.cut && (p.recorded.Parent == "" || p.part && i == len(p.events)-1)
	}
}

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
