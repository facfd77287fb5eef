package copilot

import (
	"slices"

	"github.com/sessctl/sessctl/internal/store/filelog"
)

// slot is the place of a result: a call of an answer.
type slot struct{ line, nth int }

// arrangeLines arranges the lines of an agent as they are sent, as requests of resumed sessions have shown: results
// stand behind their calls. A result belongs to the oldest open call of its id; calls stay open until the session is
// resumed, or a prompt comes between turns.
func (l *log) arrangeLines(of int32) (list []int) {
	var open []slot
	answers := map[slot]int{}
	early, answered := map[filelog.Name]int{}, map[filelog.Name]bool{} // early are results whose calls are not there yet
	real, resumed := map[filelog.Name]bool{}, map[int]bool{}           // resumed are results behind the line that closes their calls
	turn, closed := false, false
	closeCalls := func() {
		open = nil
		clear(early)
	}
	pair := func(s slot, i int) { answers[s], l.nodes[i].placed, answered[l.nodes[i].call] = i, true, true }
	for _, i := range l.lines[of] {
		n := &l.nodes[i]
		switch n.kind {
		case resume:
			closeCalls()
			turn, closed = false, true
		case turnStart, turnEnd:
			turn = n.kind == turnStart
		case prompt, notice:
			if !turn || len(open) == 0 {
				closeCalls()
			}
		case summary:
			closeCalls()
		case answer:
			for nth, call := range l.callsOf(n) {
				if at, there := early[call]; there {
					pair(slot{i, nth}, at)
					delete(early, call)
				} else {
					open = append(open, slot{i, nth})
				}
			}
		case result:
			resumed[i], real[n.call] = closed && n.stands, real[n.call] || !n.stands
			if k := slices.IndexFunc(open, func(s slot) bool { return l.callsOf(&l.nodes[s.line])[s.nth] == n.call }); k >= 0 {
				pair(open[k], i)
				open = slices.Delete(open, k, k+1)
			} else if !answered[n.call] {
				early[n.call] = i
			}
		}
	}
	l.placeInterrupted(l.lines[of], resumed, real, answers)
	for _, i := range l.lines[of] {
		if n := &l.nodes[i]; !n.placed && (n.kind.isSent() || n.kind == unread) {
			list = append(list, i)
			for nth := range l.callsOf(n) {
				if at, there := answers[slot{i, nth}]; there {
					list = append(list, at)
				}
			}
		}
	}
	return list
}

// placeInterrupted places what the runtime wrote of calls when it was resumed, which is lost at the next resume.
func (l *log) placeInterrupted(lines []int, resumed map[int]bool, real map[filelog.Name]bool, answers map[slot]int) {
	for at, i := range lines {
		n := &l.nodes[i]
		if !resumed[i] || n.placed {
			continue
		}
		if n.stale = real[n.call]; n.stale {
			continue
		}
		n.passed = true
		if s, found := l.lastCall(lines[:at], n.call, answers); found {
			answers[s], n.placed = i, true
		}
	}
}

// lastCall is the last slot of a call among lines that has no answer.
func (l *log) lastCall(lines []int, call filelog.Name, answers map[slot]int) (slot, bool) {
	for _, i := range slices.Backward(lines) {
		for nth, made := range l.callsOf(&l.nodes[i]) {
			if _, there := answers[slot{i, nth}]; made == call && !there {
				return slot{i, nth}, true
			}
		}
	}
	return slot{}, false
}
