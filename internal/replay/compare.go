package replay

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// Comparison is how a stored tree differs from what the events of its run amount
// to.
type Comparison struct {
	Recorded      *session.Tree // what the events amount to
	RecordedTrace *Trace        // its replay, in which nothing leaked
	// Trace is the replay of the stored tree with the recording as its witness:
	// leaked are exactly the stored items that the events put into a child, each
	// with its frame and its twin, and none is undecidable.
	Trace       *Trace
	Differences []Difference // by session of the recording, in its order
	// Compared counts the stored items that stand among those of the recorded
	// runs. What was not recorded is not compared: other runs of the session, and
	// children of theirs.
	Compared int
}

// DifferenceKind says how a stored session differs from the recorded one.
type DifferenceKind uint8

// The kinds of differences. What leaked into a caller's session is none of them:
// the trace has it.
const (
	Lost      DifferenceKind = iota // the events have an item that the store lacks
	Foreign                         // the store has an item, among those of the run, that no event made
	Altered                         // it says something else than the events did
	Misplaced                       // it stands at another place, or in a session that is not its own
)

// Difference is one of them. Recorded and RecordedItem are its place in the
// recording (nil and -1 for a Foreign item), Stored and StoredItem its place in
// the store (of a Lost item: the session that should hold it, nil when that is
// lost as well, and the item that it should stand behind, -1 for the start).
type Difference struct {
	Kind         DifferenceKind
	Recorded     *session.Session
	RecordedItem int
	Stored       *session.Session
	StoredItem   int
	// What names the parts that differ, of an Altered item: "text", "reasoning",
	// "agent", "arguments", "calls", "error mark", "implicit mark", "sub-session",
	// Retried.
	What []string
}

// Retried is the part of an item that differs where the store has the end of an
// answer only: the beginning may be that of an attempt that failed and was made
// again, of which docker agent emits no event (runtime/fallback.go).
const Retried = "the beginning of its text"

// Compare holds a stored tree against what the events of its run amount to. Both
// have their bodies loaded, and the same root by id. Sessions are the same if
// their ids are: a child that the store has under another id counts as lost, but
// for one that never completed and that a repair rebuilt. The recording may be of
// a part of a run only, or of several, and the session may hold others. What results
// say is told in the form in which the runtime stores them.
func Compare(recorded, stored *session.Tree, runtime *session.Runtime) *Comparison {
	c := newComparer(recorded, stored, runtime)
	for _, p := range c.pairs {
		if p.stored != nil {
			c.findLeaks(p)
			c.excuseCopies(p)
			p.excuseReplies()
		}
	}
	for _, p := range c.pairs {
		p.matchRest()
	}
	c.findElsewhere()
	trace := c.traceStored(stored)
	return &Comparison{Recorded: recorded, RecordedTrace: c.recorded, Trace: trace, Differences: c.listDifferences(trace), Compared: c.countCompared()}
}

// comparer holds two trees against each other.
type comparer struct {
	recorded *Trace  // of the recording, in which nothing leaked
	pairs    []*pair // by session of the recording, in its order
	of       map[*session.Session]*pair

	leaked    map[TreeItem]bool     // recorded items that stand in the session of a caller
	elsewhere map[TreeItem]TreeItem // lost recorded items by where they stand
}

func newComparer(recorded, stored *session.Tree, runtime *session.Runtime) *comparer {
	c := &comparer{
		of: map[*session.Session]*pair{}, leaked: map[TreeItem]bool{}, elsewhere: map[TreeItem]TreeItem{},
	}
	trace, windows := walkAll(recorded, witness{})
	linkChildren(recorded, trace, windows, nil)
	linkInOrder(recorded, trace)
	c.recorded = trace
	byID, complete := map[string]*session.Session{}, map[string]bool{}
	marks := false
	for _, s := range stored.Sessions {
		byID[s.ID] = s
		marks = marks || slices.ContainsFunc(s.Items, hasFailedResult)
	}
	for _, s := range recorded.Sessions {
		for i := range s.Items {
			if s.Items[i].Kind == session.SubSession {
				complete[s.Items[i].Child()] = true
			}
		}
	}
	for _, s := range recorded.Sessions {
		same := byID[s.ID]
		if same == nil && !complete[s.ID] {
			same = c.findRebuilt(s, byID)
		}
		p := newPair(s, same, !complete[s.ID], runtime)
		p.marks, p.mended = marks, same != nil && same.ID != s.ID
		if same != nil {
			delete(byID, same.ID)
		}
		c.pairs = append(c.pairs, p)
		c.of[s] = p
	}
	return c
}

// hasFailedResult reports whether an item is a result that is an error.
func hasFailedResult(it session.Item) bool {
	return slices.ContainsFunc(it.Results, func(r session.Result) bool { return r.IsError })
}

// findRebuilt finds the stored session that a repair made of what had leaked of a recorded
// one, nil for none: behind the call that started it. The reference to it is known
// then.
func (c *comparer) findRebuilt(s *session.Session, stored map[string]*session.Session) *session.Session {
	d := c.recorded.Callers[s]
	if d == nil || c.of[d.Session] == nil || c.of[d.Session].storedCall(d) == nil {
		return nil
	}
	p := c.of[d.Session]
	begin := p.match[d.Item] + 1
	for j := begin; j < p.findClosing(d, begin, nil); j++ {
		child := stored[p.rows[j].Child()]
		if p.back[j] < 0 && !p.excused[j] && child != nil && IsRebuilt(child) && !differsFromCall(d, child) {
			p.excused[j] = true
			return child
		}
	}
	return nil
}

// linkInOrder links the children that link left because several calls fit: those
// of a caller stand in the recording in the order of its calls. Of one that never
// completed there is no other evidence, and an agent that failed is often asked
// again in the same words.
func linkInOrder(recorded *session.Tree, trace *Trace) {
	for _, rs := range trace.Sessions {
		calls := rs.Delegations
		for _, child := range recorded.Sessions {
			if child.Parent != rs.Session.ID || trace.Callers[child] != nil {
				continue
			}
			n := slices.IndexFunc(calls, func(d *Delegation) bool {
				return d.Child == nil && d.Call().Delegation.Blocking && !contradictsCall(d, child)
			})
			if n >= 0 {
				calls[n].Child, trace.Callers[child] = child, calls[n]
				calls = calls[n+1:]
			}
		}
	}
}

// matchRest finds partners for what neither stands at its place nor leaked: first
// the same at another place, then something else at the same place.
func (p *pair) matchRest() {
	anywhere := func(content) bool { return false }
	for _, i := range p.claimPartners(content.itemKeys, anywhere) {
		p.moved[i] = true
	}
	p.claimPartners(restrictKeys(isReply, content.callKeys), isTurn)
	p.claimPartners(content.callKeys, isAny)
	p.claimPartners(content.speakerKeys, isAny)
	p.updateExtent()
}

// isForeign reports whether no event of the recording explains a stored item that
// stands among those of the run. What a repair wrote is known.
func (p *pair) isForeign(j int) bool {
	return p.isFree(j) && p.among[j] && !p.rows[j].Flags.Has(session.Synthetic)
}

// countCompared counts the stored items among those of the recorded runs, and what
// leaked behind them.
func (c *comparer) countCompared() int {
	n := 0
	for _, p := range c.pairs {
		for j := range p.rows {
			if p.among[j] || p.back[j] >= 0 || p.leaks[j] != nil {
				n++
			}
		}
	}
	return n
}

// findElsewhere looks for lost items in sessions that are not their own.
func (c *comparer) findElsewhere() {
	for _, p := range c.pairs {
		for j := range p.rows {
			if l := p.leaks[j]; l != nil {
				c.leaked[l.of.TreeItem] = true
			}
		}
	}
	foreign := map[session.Digest][]TreeItem{}
	for _, p := range c.pairs {
		for j := range p.rows {
			if p.isForeign(j) {
				foreign[p.rows[j].key] = append(foreign[p.rows[j].key], TreeItem{p.stored, j})
			}
		}
	}
	for _, p := range c.pairs {
		for i := range p.events {
			key := p.events[i].key
			if p.isLost(i) && !c.leaked[TreeItem{p.recorded, i}] && len(foreign[key]) > 0 {
				c.elsewhere[TreeItem{p.recorded, i}] = foreign[key][0]
				foreign[key] = foreign[key][1:]
			}
		}
	}
}

// isLost reports whether the session lacks a recorded item that was there to store.
// What a repair could not move into a session that it made never was.
func (p *pair) isLost(i int) bool {
	return p.match[i] < 0 && p.events[i].key != 0 && !p.events[i].isUnsaid() && !p.mended
}

// pair is a session of the recording with the stored one that it is.
type pair struct {
	recorded, stored *session.Session // stored is nil when the store lacks it
	events, rows     []content        // their items
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
	p := &pair{recorded: recorded, stored: stored, events: sessionContents(recorded, runtime), rows: sessionContents(stored, runtime), part: part}
	p.markCut()
	p.runs = p.splitRuns()
	p.match = p.matchEqual()
	p.matchSimilar()
	if part {
		for _, r := range p.runs {
			tightenPartners(p.match[r.begin:r.end], p.events[r.begin:r.end], p.rows)
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
	p.markNear()
	p.claimPartners(restrictKeys(isReply, content.itemKeys), isTurn)
	p.claimPartners(content.resultKeys, isTurn)
	p.claimPartners(restrictKeys(isAnswer, content.ownCallKeys), isAny)
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

func isPrompt(it content) bool {
	return it.Kind == session.Message && it.Role == session.User && !it.Flags.Has(session.Implicit) && !it.IsAnswer()
}

// isReply reports whether an item is a part of what came back from the calls of
// a batch, in whatever order they ended.
func isReply(it content) bool { return it.Kind == session.SubSession || it.IsAnswer() }

// isTurn reports whether an item is the message of a person or an agent.
func isTurn(it content) bool { return !isReply(it) }

func isAny(content) bool { return true }

func isAnswer(it content) bool { return it.Role == session.Assistant }

// listDifferences lists what the trace does not tell.
func (c *comparer) listDifferences(trace *Trace) []Difference {
	explained := map[TreeItem]bool{}
	for _, at := range c.elsewhere {
		explained[at] = true
	}
	background := backgroundChildren(trace)
	var list []Difference
	for _, p := range c.pairs {
		var own []ranked
		behind := p.behindEvents(isAny)
		for i := range p.events {
			if d, ok := c.itemDifference(p, i, behind[i]); ok {
				own = append(own, ranked{i, d})
			}
		}
		for j, before := range p.behindRows(isAny) {
			if !p.isForeign(j) || explained[TreeItem{p.stored, j}] || p.rows[j].Kind == session.SubSession && background[p.rows[j].Child()] {
				continue
			}
			rank := -1
			if before >= 0 {
				rank = p.back[before]
			}
			own = append(own, ranked{rank, Difference{Kind: Foreign, RecordedItem: -1, Stored: p.stored, StoredItem: j}})
		}
		slices.SortStableFunc(own, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
		for _, r := range own {
			list = append(list, r.Difference)
		}
	}
	return list
}

// ranked is a difference with the index of the recorded item that it stands at.
type ranked struct {
	rank int
	Difference
}

// itemDifference is what the store has otherwise than a recorded item; behind is the
// stored item that it should stand behind.
func (c *comparer) itemDifference(p *pair, i, behind int) (Difference, bool) {
	d := Difference{Recorded: p.recorded, RecordedItem: i, Stored: p.stored, StoredItem: p.match[i]}
	place := TreeItem{p.recorded, i}
	elsewhere, stands := c.elsewhere[place]
	switch {
	case stands:
		d.Kind, d.Stored, d.StoredItem = Misplaced, elsewhere.Session, elsewhere.Item
	case p.isLost(i):
		d.Kind, d.StoredItem = Lost, p.expectedPlace(i, behind)
		return d, !c.leaked[place]
	case p.match[i] < 0:
		return d, false
	case p.moved[i]:
		d.Kind = Misplaced
	default:
		d.Kind, d.What = Altered, p.differingParts(i)
		return d, d.What != nil
	}
	return d, true
}

// differingParts names the parts in which the stored partner of a recorded item
// differs from it.
func (p *pair) differingParts(i int) []string {
	recorded, stored := p.events[i], p.rows[p.match[i]]
	if recorded.key == stored.key {
		return nil
	}
	names := compareParts(recorded, stored)
	if !p.marks {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "error mark" })
	}
	if len(names) == 0 {
		return nil
	}
	return names
}

// backgroundChildren are the ids of the children of calls whose callers do not wait: what
// such a child does is not on the stream (docker agent 5).
func backgroundChildren(trace *Trace) map[string]bool {
	ids := map[string]bool{}
	for child, d := range trace.Callers {
		if !d.Call().Delegation.Blocking {
			ids[child.ID] = true
		}
	}
	return ids
}

// CommonSubsequence finds a longest common subsequence of two sequences: for each item of
// the first the index of its partner in the second, -1 for none. 0 has no equal.
func CommonSubsequence(a, b []session.Digest) []int { return alignKeys(a, b, nil) }
