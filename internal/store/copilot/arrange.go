package copilot

import (
	"slices"

	"github.com/sessctl/sessctl/internal/store/filelog"
)

// entry is a line that becomes an item, with the results that are sent behind it.
type entry struct {
	line    int
	answers []int // by the calls, the line of the result; -1 for none
}

// arrangement is the order in which the lines of an agent are sent, as requests of resumed sessions have shown.
type arrangement struct {
	*log
	list  []entry
	open  []slot                // calls that a result may answer here
	early map[filelog.Name]int  // results without a call so far, by their places in list
	done  map[filelog.Name]bool // calls that have results
	turn  bool
}

// slot is the place of a result.
type slot struct{ entry, nth int }

// arrangeLines arranges the lines of an agent. A result belongs to the oldest open call of its id; calls stay
// open until the session is resumed, or a prompt comes between turns.
func (l *log) arrangeLines(of int32) []int {
	a := &arrangement{log: l, early: map[filelog.Name]int{}, done: map[filelog.Name]bool{}}
	resumed, real, closed := map[int]bool{}, map[filelog.Name]bool{}, false // resumed are results behind the line that closes their calls
	for _, i := range l.lines[of] {
		n := &l.nodes[i]
		switch n.kind {
		case resume:
			a.closeCalls()
			a.turn, closed = false, true
		case turnStart, turnEnd:
			a.turn = n.kind == turnStart
		case prompt, notice:
			if !a.turn || len(a.open) == 0 {
				a.closeCalls()
			}
			a.addEntry(i)
		case summary:
			a.closeCalls()
			a.addEntry(i)
		case answer:
			a.addAnswer(i)
		case result:
			resumed[i] = closed && n.stands
			real[n.call] = real[n.call] || !n.stands
			a.addResult(i)
		case unread:
			a.addEntry(i)
		}
	}
	for k := range a.list { // what the runtime wrote of a call when it was resumed is lost at the next resume
		e := &a.list[k]
		if e.line < 0 || !resumed[e.line] {
			continue
		}
		n := &l.nodes[e.line]
		if n.stale = real[n.call]; !n.stale {
			n.passed = true
			a.claimPast(k)
		}
	}
	return a.lines()
}

func (a *arrangement) closeCalls() {
	a.open = nil
	clear(a.early)
}

func (a *arrangement) addEntry(i int) { a.list = append(a.list, entry{line: i}) }

func (a *arrangement) addAnswer(i int) {
	calls := a.callsOf(&a.nodes[i])
	e := entry{line: i, answers: make([]int, len(calls))}
	for nth, call := range calls {
		e.answers[nth] = -1
		if at, early := a.early[call]; early {
			e.answers[nth], a.list[at].line = a.list[at].line, -1
			a.done[call] = true
			delete(a.early, call)
			continue
		}
		a.open = append(a.open, slot{len(a.list), nth})
	}
	a.list = append(a.list, e)
}

func (a *arrangement) addResult(i int) {
	call := a.nodes[i].call
	for k, s := range a.open {
		if e := &a.list[s.entry]; a.callsOf(&a.nodes[e.line])[s.nth] == call {
			e.answers[s.nth], a.done[call] = i, true
			a.open = slices.Delete(a.open, k, k+1)
			return
		}
	}
	if !a.done[call] {
		a.early[call] = len(a.list)
	}
	a.addEntry(i)
}

// claimPast gives a result to the last call before it that has none.
func (a *arrangement) claimPast(k int) {
	for at := k - 1; at >= 0; at-- {
		e := &a.list[at]
		for nth, i := range e.answers {
			if i < 0 && a.callsOf(&a.nodes[e.line])[nth] == a.nodes[a.list[k].line].call {
				e.answers[nth], a.list[k].line = a.list[k].line, -1
				return
			}
		}
	}
}

// lines are those of all entries.
func (a *arrangement) lines() (list []int) {
	for _, e := range a.list {
		if e.line < 0 {
			continue
		}
		list = append(list, e.line)
		for _, i := range e.answers {
			if i >= 0 {
				list = append(list, i)
			}
		}
	}
	return list
}
