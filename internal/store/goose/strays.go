package goose

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/eventlog"
)

// run is the run of a sub-agent, with what is known to be its own in the session of its caller.
type run struct {
	child  *session.Session
	call   *session.Call  // nil where none names it
	maker  *placed        // who made the call
	result session.Digest // what the call got
	items  []*placed      // all that is known of it
	lone   map[string]int // see countHalves
	byID   map[session.Digest][]*placed
	// It is after the row low and before up, which made the call. All between first and last is
	// its own, and what is between from and first may be.
	low, up, from, first, last int64
}

// findStrays tells which messages the runs of sub-agents stored. goose stores an answer with
// the results of its calls when all of these have answered, so that while a sub-agent works, no
// row of its caller is stored: what is between its rows is its own. A half of a pair whose
// other half is in a sub-session is that one's, too, and so is a copy. What is found tells
// more of the others, until nothing does.
func (r *reader) findStrays(s *session.Session) {
	for i := range s.Items { // a repair may have changed what tells
		if it := &s.Items[i]; it.Home() != s.ID {
			it.Own().Home, it.Copied = "", false
		}
	}
	if !slices.ContainsFunc(s.Children, func(c *session.Session) bool { return c.Delegated }) {
		return
	}
	f := finder{reader: r, byRow: placedIn(s), lone: map[string]int{}, tasks: map[session.Digest][]*run{}}
	f.readRuns(s)
	for _, it := range f.byRow {
		countHalves(f.lone, it.Item, 1)
	}
	slices.SortStableFunc(f.byRow, func(a, b *placed) int { return cmp.Compare(a.row, b.row) })
	for at, it := range f.byRow {
		it.at = at
	}
	for f.giveMessages(f.isCopy, true) || f.giveMessages(f.provesRun, false) || f.giveMessages(f.isBetween, false) {
	}
	for _, it := range f.byRow {
		if it.Home() == "" && slices.ContainsFunc(f.runs, func(p *run) bool { return p.holdsRow(it, p.first) }) { // two worked at once
			it.Own().Home = session.HomeUnknown
		}
	}
}

// placed is a message with the number of its row.
type placed struct {
	*session.Item
	stored, row int64 // as it is stored, and as it will be
	at          int   // its place in finder.byRow, of a message of the session
}

// placedIn are the messages of a session. What a repair will store anew gets a number that is
// higher than all: see eventlog.Write.Renumber.
func placedIn(s *session.Session) []*placed {
	items, anew := make([]*placed, len(s.Items)), false
	for i := range s.Items {
		it := &s.Items[i]
		stored, err := strconv.ParseInt(it.Key, 10, 64)
		row := stored
		anew = anew && eventlog.SameSecond(s.Items[i-1].Position, it.Position) || err != nil || it.Position&second != min(stored, second)
		if anew {
			row = 1<<62 + int64(i)
		}
		items[i] = &placed{Item: it, stored: stored, row: row}
	}
	return items
}

// finder is what is known while strays are looked for.
type finder struct {
	*reader
	runs  []*run
	byRow []*placed
	lone  map[string]int // of what is the session's own, as far as is known
	tasks map[session.Digest][]*run
}

// giveMessages gives messages to the only run that claims them.
func (f *finder) giveMessages(claim func(p *run, it *placed) bool, copies bool) (found bool) {
	for _, p := range f.runs {
		f.spanRun(p)
	}
	for _, it := range f.byRow {
		var of []*run
		for _, p := range f.runs {
			if it.Home() == "" && claim(p, it) {
				of = append(of, p)
			}
		}
		if len(of) == 1 {
			p := of[0]
			it.Own().Home, it.Copied, found = p.child.ID, copies, true
			countHalves(f.lone, it.Item, -1)
			if !copies {
				f.addToRun(p, it)
			}
		}
	}
	return found
}

// readRuns reads what the sub-sessions of a session have, and which calls started them.
func (f *finder) readRuns(s *session.Session) {
	at := map[string]*run{}
	for _, child := range s.Children {
		if child.Delegated {
			p := &run{child: child, lone: map[string]int{}, byID: map[session.Digest][]*placed{}, low: math.MinInt64, up: math.MaxInt64}
			for _, it := range placedIn(child) {
				f.addToRun(p, it)
			}
			at[child.ID], f.runs = p, append(f.runs, p)
		}
	}
	for _, it := range f.byRow {
		for n := range it.Calls {
			c := &it.Calls[n]
			if c.Delegation == nil {
				continue
			}
			if p := at[c.Delegation.Child]; p != nil {
				p.maker, p.call = it, c
				f.tasks[c.Delegation.Task] = append(f.tasks[c.Delegation.Task], p)
			}
		}
		for _, res := range it.Results {
			if p := at[res.Child]; p != nil && p.call != nil && p.call.ID == res.CallID {
				p.result = res.Digest
			}
		}
	}
}

// countHalves counts how many calls of an id there are more than results.
func countHalves(lone map[string]int, it *session.Item, n int) {
	for _, c := range it.Calls {
		lone[c.ID] += n
	}
	for _, res := range it.Results {
		lone[res.CallID] -= n
	}
}

func (p *run) hasMessage(fn func(it *placed) bool) bool { return slices.ContainsFunc(p.items, fn) }

// asksTask reports whether a message says the task of the run.
func (p *run) asksTask(it *placed) bool {
	return p.call != nil && isQuestion(it) && it.Text != 0 && it.Text == p.call.Delegation.Task
}

// givesResult reports whether a message says what the call got.
func (p *run) givesResult(it *placed) bool {
	return it.Role == session.Assistant && len(it.Calls) == 0 && it.Text != 0 && it.Text == p.result
}

func isQuestion(it *placed) bool {
	return it.Role == session.User && !it.Flags.Has(session.Implicit)
}

// isContext reports whether goose added a message to a question.
func isContext(it *placed) bool {
	return it.Role == session.User && it.Flags.Has(session.Implicit)
}

// provesRun: a message says of itself that it is the run's, which lacks it.
func (f *finder) provesRun(p *run, it *placed) bool {
	row := it.row
	return row > p.low && row < p.up && (p.asksTask(it) && !p.hasMessage(p.asksTask) || p.givesResult(it) && p.blocksCaller() && !p.hasMessage(p.givesResult)) ||
		slices.ContainsFunc(it.Calls, func(c session.Call) bool { return f.lone[c.ID] > 0 && p.lone[c.ID] < 0 }) ||
		slices.ContainsFunc(it.Results, func(res session.Result) bool { return f.lone[res.CallID] < 0 && p.lone[res.CallID] > 0 })
}

// isBetween: a message is between those of the run. Where it may be another one's, both claim it.
func (f *finder) isBetween(p *run, it *placed) bool {
	return p.holdsRow(it, p.from) && slices.ContainsFunc(f.runs, func(p *run) bool { return p.holdsRow(it, p.first) })
}

// holdsRow reports whether a message is among the run's from a row on, which has one question
// and one context.
func (p *run) holdsRow(it *placed, from int64) bool {
	row := it.row
	return row >= from && row <= p.last && (!isQuestion(it) || !p.hasMessage(isQuestion)) && (!isContext(it) || !p.hasMessage(isContext))
}

func (p *run) blocksCaller() bool { return p.call != nil && p.call.Delegation.Blocking }

// isCopy: the run has the same message, with the same message_id. One that several of its
// messages have tells nothing: some servers give all their answers the same.
func (f *finder) isCopy(p *run, it *placed) bool {
	same := p.byID[f.twins[it.stored]]
	return len(same) == 1 && same[0].Meaning == it.Meaning && eventlog.SameSecond(same[0].Position, it.Position)
}

// addToRun notes a message of the run.
func (f *finder) addToRun(p *run, it *placed) {
	p.items = append(p.items, it)
	countHalves(p.lone, it.Item, 1)
	if id := f.twins[it.stored]; id != 0 {
		p.byID[id] = append(p.byID[id], it)
	}
}

// spanRun finds between which rows everything is the run's. Where its start is not known, what is
// before may be; where its end is not, all before the answer with the call is.
func (f *finder) spanRun(p *run) {
	p.from, p.first, p.last = math.MaxInt64, math.MaxInt64, math.MinInt64
	if !p.blocksCaller() {
		return
	}
	first, ended := f.answerWith(p.maker), p.hasMessage(p.givesResult)
	answer := f.byRow[first].row
	p.low, p.up = f.rowBefore(p.maker, first), p.maker.row
	for _, it := range p.items {
		if row := it.row; row < p.up {
			p.first, p.last = min(p.first, row), max(p.last, row)
		} else {
			ended = false // a repair stored it anew
		}
	}
	if !ended && p.first < answer {
		p.last = max(p.last, answer-1)
	}
	p.first = max(p.first, p.low+1)
	if p.from = p.first; !p.hasMessage(isQuestion) {
		p.from = p.low + 1
	}
}

// answerWith is where the answer with a call begins: its text, calls and results are of one
// second.
func (f *finder) answerWith(maker *placed) (at int) {
	for at = maker.at; at > 0; at-- {
		before := f.byRow[at-1]
		if before.Home() != "" || !storedTogether(before, maker) || before.Role != session.Assistant && before.Role != session.Tool {
			break
		}
		if before.Role == session.Assistant && len(before.Calls) == 0 {
			return at - 1
		}
	}
	return at
}

// storedTogether reports whether two messages are of one second, as goose reads it or as it is meant.
func storedTogether(a, b *placed) bool {
	return eventlog.SameSecond(a.Position, b.Position) || !a.Time.IsZero() && a.Time.Unix() == b.Time.Unix()
}

// rowBefore is the last row before those that a run can have: what a person asked its caller,
// and earlier calls of sub-agents, which itself can call none.
func (f *finder) rowBefore(maker *placed, answer int) int64 {
	for at := answer - 1; at >= 0; at-- {
		it := f.byRow[at]
		context := at > 0 && isContext(it) && f.asksCaller(f.byRow[at-1], maker) // of what was asked before it
		if context || f.asksCaller(it, maker) || slices.ContainsFunc(it.Calls, func(c session.Call) bool { return c.Delegation != nil && c.Delegation.Child != "" }) {
			return it.row
		}
	}
	return math.MinInt64
}

// asksCaller reports whether a message is a question to whoever made a call, and not the task of
// a run that lacks it.
func (f *finder) asksCaller(it, maker *placed) bool {
	return isQuestion(it) && it.Home() == "" && it.Position <= maker.Position|second &&
		!slices.ContainsFunc(f.tasks[it.Text], func(p *run) bool { return p.asksTask(it) && !p.hasMessage(p.asksTask) })
}

// second is the part of a position that tells messages of one second apart.
const second = 1<<eventlog.SecondBits - 1
