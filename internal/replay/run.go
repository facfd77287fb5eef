// Package replay is the depth-tracking persistence model: it runs the items of
// a session tree, or the events that a runtime emitted, through a state machine
// that knows when an agent is blocked by a delegation, and says for each whether
// a correct runtime would have stored it there. Replay never fails and decides
// nothing; it records.
package replay

import (
	"slices"
	"sort"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/session"
)

// run is a part of a recorded session that nothing is missing in. A session that
// was recorded from its start to its end is one run.
type run struct {
	begin, end  int // its recorded items
	bound       int // the first stored item that can be one of them
	first, last int // the first and the last stored item with a partner at its place, -1 for none
}

// splitRuns finds the runs: where positions jump, items were not recorded. A runtime
// counts its own list, and a store has everything of it and what leaked besides,
// so that an item's stored position is never less.
func (p *pair) splitRuns() []*run {
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

// matchEqual finds the partners that say the same: as many as there can be, but
// none before the place where its run began. Positions are believed unless most
// of what the store has stands before them. References name their sub-sessions,
// so of several ways those go first that part no reference from its own.
func (p *pair) matchEqual() []int {
	a, b := keysOf(p.events), keysOf(p.rows)
	for _, r := range p.runs {
		if last := r.end - 1; last >= 0 && p.events[last].cut { // the whole may say more, and stands at its place
			a[last] = 0
		}
	}
	match := alignKeys(a, b, nil)
	if !p.part {
		return match
	}
	limits := &limits{make([]int, len(a)), slices.Repeat([]int{len(b)}, len(a))}
	for _, r := range p.runs {
		for i := r.begin; i < r.end; i++ {
			limits.from[i] = r.bound
		}
	}
	if limits.isBrokenBy(match) {
		if bound := alignKeys(a, b, limits); 2*countPartners(bound) >= countPartners(match) {
			match = bound
		} else {
			p.unbindRuns(limits)
		}
	}
	limits.holdTogether(alignKeys(p.referenceKeys(p.events), p.referenceKeys(p.rows), limits))
	if limits.isBrokenBy(match) {
		if held := alignKeys(a, b, limits); countPartners(held) >= countPartners(match) {
			match = held
		}
	}
	return match
}

func (p *pair) unbindRuns(l *limits) {
	for _, r := range p.runs {
		r.bound = 0
	}
	clear(l.from)
}

// referenceKeys are the keys of the items that refer to sub-sessions, 0 for others.
func (p *pair) referenceKeys(list []content) []session.Digest {
	keys := make([]session.Digest, len(list))
	for i := range list {
		if list[i].Kind == session.SubSession && list[i].Child() != "" {
			keys[i] = list[i].key
		}
	}
	return keys
}

func countPartners(match []int) int {
	return lists.CountIf(match, func(j int) bool { return j >= 0 })
}

// limits say for each item of a sequence which ones of another it can be.
type limits struct{ from, to []int }

// canPair reports whether two items can be partners; nil allows all.
func (l *limits) canPair(i, j int) bool { return l == nil || l.from[i] <= j && j < l.to[i] }

// isBrokenBy reports whether a match breaks them.
func (l *limits) isBrokenBy(match []int) bool {
	for i, j := range match {
		if j >= 0 && !l.canPair(i, j) {
			return true
		}
	}
	return false
}

// holdTogether keeps partners together: nothing can stand on another side of them.
func (l *limits) holdTogether(match []int) {
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

// matchSimilar finds partners that do not say the same, run by run.
func (p *pair) matchSimilar() {
	last := -1
	for _, r := range p.runs {
		to := len(p.rows)
		if n := slices.IndexFunc(p.match[r.end:], func(j int) bool { return j >= 0 }); n >= 0 {
			to = p.match[r.end+n]
		}
		if from := max(r.bound, last+1); from <= to {
			fillGaps(p.match[r.begin:r.end], p.events[r.begin:r.end], p.rows[:to], from, standsFor)
		}
		for _, j := range p.match[r.begin:r.end] {
			last = max(last, j)
		}
	}
}

// markNear finds where the items of the runs can stand: in all of the session, or from
// the user item that begins a run to the one that begins the next.
func (p *pair) markNear() {
	p.updateExtent()
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

// updateExtent finds the first and the last stored item of each run.
func (p *pair) updateExtent() {
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

// expectedPlace is the stored item behind which a lost one should stand; behind is the
// latest partner of those before it. That of another run is too far away; copies of
// what children said stand behind the call.
func (p *pair) expectedPlace(i, behind int) int {
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
