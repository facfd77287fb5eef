package replay

import (
	"maps"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// interval is the time in which a delegation was open, as a part of the stored
// items of its caller.
type interval struct {
	call  *Delegation // the recorded one
	below []heard     // what its child and those below it said
	own   int         // index of the item behind the latest result before its own, or behind the call
	begin int         // index of the item behind the call
	end   int         // index of the result, or behind the last item
}

// callIntervals are the times of the session's calls whose children are recorded, in
// the order of their ends.
func (c *comparer) callIntervals(p *pair) []interval {
	var list []interval
	for _, d := range c.recorded.sessionReplay(p.recorded).Delegations {
		if d.Child == nil || p.storedCall(d) == nil {
			continue
		}
		begin, below := p.match[d.Item]+1, c.heardBelow(d)
		list = append(list, interval{d, below, begin, begin, p.findClosing(d, begin, below)})
	}
	slices.SortStableFunc(list, func(a, b interval) int { return a.end - b.end })
	for n := range list {
		v := &list[n]
		for _, other := range c.recorded.sessionReplay(p.recorded).Delegations {
			if other.Item != v.call.Item || other.Result < 0 || other.Nth > v.call.Nth && !p.isAnswered(v.call) {
				continue
			}
			if at := p.match[other.Result]; at < v.end {
				v.own = max(v.own, at+1)
			}
		}
	}
	return list
}

// isAnswered reports whether the store has the result of a recorded call.
func (p *pair) isAnswered(d *Delegation) bool { return d.Result >= 0 && p.match[d.Result] >= 0 }

// storedCall is the stored form of a recorded delegation call, nil when it is
// lost or delegates nothing.
func (p *pair) storedCall(d *Delegation) *session.Call {
	j := p.match[d.Item]
	if j < 0 || d.Nth >= len(p.rows[j].Calls) {
		return nil
	}
	call := &p.rows[j].Calls[d.Nth]
	if call.ID != d.Call().ID || call.Delegation == nil {
		return nil
	}
	return call
}

// findClosing finds the index of the stored item, from begin on, that ends a recorded
// delegation: its result, also one that was not recorded; where that is missing
// the caller's next turn or the user's, or behind the last item.
func (p *pair) findClosing(d *Delegation, begin int, below []heard) int {
	if d.Result >= 0 && p.match[d.Result] >= begin {
		return p.match[d.Result]
	}
	for j := begin; j < len(p.rows); j++ {
		i := p.back[j]
		if i > d.Item && !isReply(p.events[i]) || i < 0 && (isPrompt(p.rows[j]) || p.callerAnswers(d, j, below)) {
			return j
		}
	}
	return len(p.rows)
}

// callerAnswers reports whether a stored item is a result of a recorded call under
// its caller's name, and nothing that a child said: that can have used the same id.
func (p *pair) callerAnswers(d *Delegation, j int, below []heard) bool {
	it := p.rows[j]
	return it.Agent() == d.Caller() && it.AnswersCall(d.Call().ID) &&
		!slices.ContainsFunc(below, func(h heard) bool { return h.content.key == it.key })
}

// excuseCopies finds the stored items that no event made where they stand, but of which
// the recording knows: copies of what a child said while the call that started it
// ran. It is lost, which tells the rest.
func (c *comparer) excuseCopies(p *pair) {
	var behind []int
	for _, d := range c.recorded.sessionReplay(p.recorded).Delegations {
		if d.Child == nil || p.storedCall(d) != nil {
			continue
		}
		begin := p.match[d.Item] + 1
		if begin == 0 {
			if behind == nil {
				behind = p.behindEvents(isAny)
			}
			begin = behind[d.Item] + 1
		}
		below := c.heardBelow(d)
		copies := map[session.Digest]int{}
		for i := range below {
			if home := c.of[below[i].Session]; home.match[below[i].Item] >= 0 {
				copies[below[i].content.key]++
			}
		}
		for _, j := range p.listUnexplained(begin, p.findClosing(d, begin, below)) {
			if key := p.rows[j].key; copies[key] > 0 && !p.excused[j] {
				p.excused[j] = true
				copies[key]--
			}
		}
	}
}

// excuseReplies finds what came back from calls that were open when a run's
// recording ended: with parallel calls, and results that took over a child's row,
// it can stand before recorded items.
func (p *pair) excuseReplies() {
	if !p.part {
		return
	}
	for _, r := range p.runs {
		at := r.end - 1
		for at > r.begin && isReply(p.events[at]) {
			at--
		}
		if at < r.begin || p.match[at] < 0 {
			continue
		}
		open := map[string]bool{}
		for _, call := range p.events[at].Calls {
			open[call.ID] = !slices.ContainsFunc(p.events[at+1:r.end], func(it content) bool { return it.AnswersCall(call.ID) })
		}
		for j := p.match[at] + 1; j <= r.last; j++ {
			if p.isFree(j) && isReply(p.rows[j]) && p.answersOpen(j, open) {
				p.excused[j] = true
			}
		}
	}
}

// answersOpen reports whether a stored item answers nothing but open calls, each
// for the first time, or refers to the child of one.
func (p *pair) answersOpen(j int, open map[string]bool) bool {
	ids := callsAnswered(p.rows[j].Item)
	if slices.ContainsFunc(ids, func(id string) bool { return !open[id] }) {
		return false
	}
	for _, id := range ids {
		open[id] = false
	}
	return len(ids) > 0 || slices.Contains(slices.Collect(maps.Values(open)), true)
}
