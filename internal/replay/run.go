// Package replay is the depth-tracking persistence model: it runs the items of
// a session tree, or the events that a runtime emitted, through a state machine
// that knows when an agent is blocked by a delegation, and says for each whether
// a correct runtime would have stored it there. Replay never fails and decides
// nothing; it records.
package replay

import (
	"slices"
	"sort"

	"github.com/sessctl/sessctl/internal/session"
)

// run is a part of a recorded session that nothing is missing in. A session that
// was recorded from its start to its end is one run.
type run struct {
	begin, end  int // its recorded items
	bound       int // the first stored item that can be one of them
	first, last int // the first and the last stored item with a partner at its place, -1 for none
}

// split finds the runs: where positions jump, items were not recorded. A runtime
// counts its own list, and a store has everything of it and what leaked besides,
// so that an item's stored position is never less.
func (p *pair) split() []*run {
	list := []*run{{}}
	for i := range p.events {
		if p.part && i > 0 && p.events[i].Position > p.events[i-1].Position+1 {
			list = append(list, &run{begin: i})
		}
		list[len(list)-1].end = i + 1
	}
	for _, r := range list {
		if p.part && r.begin < r.end {
			from := p.events[r.begin].Position
			r.bound = sort.Search(len(p.rows), func(j int) bool { return p.rows[j].Position >= from })
		}
	}
	return list
}

// anchored finds the partners that say the same: as many as there can be, but
// none before the place where its run began. Positions are believed unless most
// of what the store has stands before them. References name their sub-sessions,
// so of several ways those go first that part no reference from its own.
func (p *pair) anchored() []int {
	a, b := keysOf(p.events), keysOf(p.rows)
	for _, r := range p.runs {
		if last := r.end - 1; last >= 0 && p.events[last].cut { // the whole may say more, and stands at its place
			a[last] = 0
		}
	}
	match := equals(a, b, nil)
	if !p.part {
		return match
	}
	limits := &limits{make([]int, len(a)), slices.Repeat([]int{len(b)}, len(a))}
	for _, r := range p.runs {
		for i := r.begin; i < r.end; i++ {
			limits.from[i] = r.bound
		}
	}
	if limits.matter(match) {
		if bound := equals(a, b, limits); 2*partners(bound) >= partners(match) {
			match = bound
		} else {
			p.unbind(limits)
		}
	}
	limits.hold(equals(p.references(p.events), p.references(p.rows), limits))
	if limits.matter(match) {
		if held := equals(a, b, limits); partners(held) >= partners(match) {
			match = held
		}
	}
	return match
}

func (p *pair) unbind(l *limits) {
	for _, r := range p.runs {
		r.bound = 0
	}
	clear(l.from)
}

// references are the keys of the items that refer to sub-sessions, 0 for others.
func (p *pair) references(list []content) []session.Digest {
	keys := make([]session.Digest, len(list))
	for i := range list {
		if list[i].Kind == session.SubSession && list[i].Child != "" {
			keys[i] = list[i].key
		}
	}
	return keys
}

func partners(match []int) int {
	n := 0
	for _, j := range match {
		if j >= 0 {
			n++
		}
	}
	return n
}

// limits say for each item of a sequence which ones of another it can be.
type limits struct{ from, to []int }

// allow reports whether two items can be partners; nil allows all.
func (l *limits) allow(i, j int) bool { return l == nil || l.from[i] <= j && j < l.to[i] }

// matter reports whether a match breaks them.
func (l *limits) matter(match []int) bool {
	for i, j := range match {
		if j >= 0 && !l.allow(i, j) {
			return true
		}
	}
	return false
}

// hold keeps partners together: nothing can stand on another side of them.
func (l *limits) hold(match []int) {
	last := 0
	for i, j := range match {
		if j >= 0 {
			last = j
		}
		l.from[i] = max(l.from[i], last)
		if j >= 0 {
			last++
		}
	}
	next := -1
	for i, j := range slices.Backward(match) {
		if j >= 0 {
			next = j + 1
		}
		if next >= 0 {
			l.to[i] = min(l.to[i], next)
		}
		if j >= 0 {
			next--
		}
	}
}

// fill finds partners that do not say the same, run by run.
func (p *pair) fill() {
	last := -1
	for _, r := range p.runs {
		to := len(p.rows)
		if n := slices.IndexFunc(p.match[r.end:], func(j int) bool { return j >= 0 }); n >= 0 {
			to = p.match[r.end+n]
		}
		if from := max(r.bound, last+1); from <= to {
			fill(p.match[r.begin:r.end], p.events[r.begin:r.end], p.rows[:to], from, standsFor)
		}
		for _, j := range p.match[r.begin:r.end] {
			last = max(last, j)
		}
	}
}

// span finds where the items of the runs can stand: in all of the session, or from
// the user item that begins a run to the one that begins the next.
func (p *pair) span() {
	p.extent()
	for _, r := range p.runs {
		from, to := r.bound, len(p.rows)
		if p.part && r.first >= 0 {
			for from = r.first; from > r.bound && !isPrompt(p.rows[from]); {
				from--
			}
			for to = r.last + 1; to < len(p.rows) && !isPrompt(p.rows[to]); {
				to++
			}
			to = min(to+1, len(p.rows))
		}
		for j := from; j < to; j++ {
			p.near[j] = true
		}
	}
}

// extent finds the first and the last stored item of each run.
func (p *pair) extent() {
	clear(p.among)
	for _, r := range p.runs {
		r.first, r.last = -1, -1
		for i := r.begin; i < r.end; i++ {
			j := p.match[i]
			if j < 0 || p.moved[i] {
				continue
			}
			if r.first < 0 || j < r.first {
				r.first = j
			}
			r.last = max(r.last, j)
		}
		from, to := r.first, r.last
		if !p.part {
			from, to = 0, len(p.rows)-1
		}
		for j := max(from, 0); j <= to; j++ {
			p.among[j] = true
		}
	}
}

// place is the stored item behind which a lost one should stand; behind is the
// latest partner of those before it. That of another run is too far away; copies of
// what children said stand behind the call.
func (p *pair) place(i, behind int) int {
	if !p.part {
		return behind
	}
	n := slices.IndexFunc(p.runs, func(r *run) bool { return i < r.end })
	switch r := p.runs[n]; {
	case r.first < 0:
		return max(behind, r.bound-1)
	case behind < r.first:
		for behind = r.first - 1; behind >= 0 && p.excused[behind]; {
			behind--
		}
	}
	return behind
}

// Action is what a correct runtime would have done with an item or an event.
type Action uint8

// The actions.
const (
	Persist Action = iota // it belongs into the session that holds it
	Skip                  // it belongs into a child: a leak
	None                  // an event that stores nothing
)

func (a Action) String() string { return [...]string{"persist", "skip", "none"}[a] }

// Reason says why.
type Reason uint8

// The reasons, in the order in which the model asks.
const (
	OwnItem        Reason = iota // depth 0: the session's own
	OwnRecord                    // the parent's own record of a sub-session
	OwnResult                    // a result of the opener's own batch
	BehindCall                   // produced while the session's agent was blocked
	ResultOfLeaked               // a result of a call that a leaked item made
)

// The reasons of events only.
const (
	NothingStored Reason = iota + 100 // it leaves nothing in a store
	OwnID                             // it carries the id of the run's session
	ChildID                           // it carries the id of another session
	OwnStream                         // no id; of the streams that run, the run's own session speaks
	ChildStream                       // no id; a sub-session's stream speaks
	OwnCall                           // no id; the call was made in the run's own session
	ChildCall                         // no id; the call was made in a sub-session
	AtDepthZero                       // no delegation is open
	BelowZero                         // a delegation is open
	NotGuarded                        // the depth model stores such records at any depth
	ChildRecord                       // the record of a sub-session of a sub-session
	Opens                             // a delegation begins
	Closes                            // a delegation ends
	Clamped                           // the end of a delegation that is not open
	RunBegins                         // the run's own session begins or goes on: nothing is open
)

var reasons = map[Reason]string{
	OwnItem:        "the session's own item",
	OwnRecord:      "the parent's own record",
	OwnResult:      "result of the caller's own batch",
	BehindCall:     "the caller is blocked by its delegation",
	ResultOfLeaked: "result of a leaked call",

	NothingStored: "stores nothing",
	OwnID:         "carries the session's id",
	ChildID:       "carries the sub-session's id",
	OwnStream:     "no session id, and no sub-session is speaking",
	ChildStream:   "no session id, and a sub-session is speaking",
	OwnCall:       "no session id, and the call is the session's own",
	ChildCall:     "no session id, and the call is a sub-session's",
	AtDepthZero:   "depth 0",
	BelowZero:     "a delegation is open",
	NotGuarded:    "not guarded by depth",
	ChildRecord:   "a record of the sub-session",
	Opens:         "a delegation opens",
	Closes:        "a delegation closes",
	Clamped:       "no delegation is open: the depth stays 0",
	RunBegins:     "the run begins or goes on, so nothing is open",
}

func (r Reason) String() string { return reasons[r] }

// Step is the verdict on one stored item or one event.
type Step struct {
	Depth  int // delegations open at the item: 0 for the session's own
	Action Action
	Reason Reason
	Frame  *Frame // the innermost open delegation of a skipped item, else nil
}

// Frame is one open delegation as seen from the session that holds the items, or
// from the session of a recorded run.
type Frame struct {
	Parent *Frame
	Item   int    // index of the item that opened it, -1 when that item did not leak, and of a recorded one
	Nth    int    // index of the call in that item
	Caller string // the agent that waits
	Agent  string // the agent asked, "" when the arguments do not say

	Call  string // of a recorded one: the id of the call, "" when unknown
	Child string // of a recorded one: the id of the session that it started, "" when unknown

	// Copy is the call in the child that made it, for an inner frame; nil when
	// that child is not stored.
	Copy *Delegation

	next *Frame // that of the item's next call, which runs after this one
	done bool   // the call has its result

	speaker string // the agent that spoke inside last
	passed  bool   // it handed over to one that has not spoken yet
}

// Depth counts the frame and those around it.
func (f *Frame) Depth() int {
	n := 0
	for ; f != nil; f = f.Parent {
		n++
	}
	return n
}

// Delegation is one delegation call of a session's own item, with what the
// stored items tell of its fate.
type Delegation struct {
	Session *session.Session
	Item    int // index of the item that made the call
	Nth     int // index of the call in that item
	Result  int // index of the item with its result, the first of several; -1 when there is none
	Final   int // index of the item with the result that counts (see Outcome), -1 when there is none
	End     int // index behind the last item of its window, and of a child apart behind its result

	Child     *session.Session // the session that it started, nil when unknown
	Reference int              // index of the sub-session item for Child, -1 when there is none

	Leaked []Leaked // items of its child that stand in Session, in stored order
}

// Call is the call itself.
func (d *Delegation) Call() *session.Call { return &d.Session.Items[d.Item].Calls[d.Nth] }

// Outcome is the result that counts, nil when there is none: the first that does not say
// that the child waits for a person or still runs, and without such a one the last.
// A call that needs an approval has two results (kagent).
func (d *Delegation) Outcome() *session.Result {
	if d.Final < 0 {
		return nil
	}
	var found *session.Result
	results := d.Session.Items[d.Final].Results
	for n := range results {
		if r := &results[n]; r.CallID == d.Call().ID && (found == nil || found.Pending) {
			found = r
		}
	}
	return found
}

// Caller is the agent that made the call.
func (d *Delegation) Caller() string { return d.Session.Items[d.Item].Agent }

// Leaked is one item that stands in a session although a child produced it.
type Leaked struct {
	Item  int       // index in the session that holds it
	Frame *Frame    // where it belongs when no copy exists
	Twin  *TreeItem // its copy in the child's subtree, nil when there is none

	// Undecidable: no twin, and the caller's own agent name. It may be the
	// caller's; it is reported and never moved.
	Undecidable bool
}

// TreeItem is an item of a session of the tree.
type TreeItem struct {
	Session *session.Session
	Item    int
}

// Session is the replay of one session.
type Session struct {
	Session     *session.Session
	Steps       []Step // parallel to the items
	Delegations []*Delegation
}

// Trace is the replay of a tree.
type Trace struct {
	Sessions []*Session // parallel to Tree.Sessions

	bySession map[*session.Session]*Session // made by link, for trees of several sessions

	// Callers says which delegation started a child session; sessions that no
	// delegation is known for are missing.
	Callers map[*session.Session]*Delegation
}
