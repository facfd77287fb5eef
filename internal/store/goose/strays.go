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
	call   *session.Call   // nil where none names it
	maker  *session.Item   // who made the call
	result session.Digest  // what the call got
	items  []*session.Item // all that is known of it
	lone   map[string]int  // see count
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
	runs := runsOf(s)
	if len(runs) == 0 {
		return
	}
	f := finder{reader: r, runs: runs, lone: map[string]int{}}
	for i := range s.Items {
		it := &s.Items[i]
		for _, p := range runs {
			if p.copied(it, r.twins[rowOf(it)]) {
				it.Home, it.Copied = p.child.ID, true
			}
		}
		if it.Home == "" {
			f.byRow = append(f.byRow, it)
			count(f.lone, it, 1)
		}
	}
	slices.SortFunc(f.byRow, func(a, b *session.Item) int { return cmp.Compare(rowOf(a), rowOf(b)) })
	for f.find(f.proven) || f.find(f.between) {
	}
	for _, it := range f.byRow {
		if it.Home == "" && slices.ContainsFunc(runs, func(p *run) bool { return p.holds(it, p.first) }) { // two worked at once
			it.Home = session.HomeUnknown
		}
	}
}

// finder is what is known while strays are looked for.
type finder struct {
	*reader
	runs  []*run
	byRow []*session.Item
	lone  map[string]int // of what is the session's own, as far as is known
}

// find gives messages to the only run that claims them.
func (f *finder) find(claim func(p *run, it *session.Item) bool) (found bool) {
	for _, p := range f.runs {
		f.span(p)
	}
	for _, it := range f.byRow {
		var of []*run
		for _, p := range f.runs {
			if it.Home == "" && claim(p, it) {
				of = append(of, p)
			}
		}
		if len(of) == 1 {
			p := of[0]
			it.Home, p.items, found = p.child.ID, append(p.items, it), true
			count(p.lone, it, 1)
			count(f.lone, it, -1)
		}
	}
	return found
}

// runsOf are the runs of the sub-sessions of a session.
func runsOf(s *session.Session) (runs []*run) {
	at := map[string]*run{}
	for _, child := range s.Children {
		if child.Delegated {
			p := &run{child: child, lone: map[string]int{}, low: math.MinInt64, up: math.MaxInt64}
			for i := range child.Items {
				p.items = append(p.items, &child.Items[i])
				count(p.lone, p.items[i], 1)
			}
			at[child.ID], runs = p, append(runs, p)
		}
	}
	if len(runs) == 0 {
		return nil
	}
	for i := range s.Items {
		for n := range s.Items[i].Calls {
			c := &s.Items[i].Calls[n]
			if c.Delegation == nil {
				continue
			}
			if p := at[c.Delegation.Child]; p != nil {
				p.maker, p.call = &s.Items[i], c
			}
		}
		for _, res := range s.Items[i].Results {
			if p := at[res.Child]; p != nil && p.call != nil && p.call.ID == res.CallID {
				p.result = res.Digest
			}
		}
	}
	return runs
}

// count counts how many calls of an id there are more than results.
func count(lone map[string]int, it *session.Item, n int) {
	for _, c := range it.Calls {
		lone[c.ID] += n
	}
	for _, res := range it.Results {
		lone[res.CallID] -= n
	}
}

func (p *run) has(fn func(it *session.Item) bool) bool { return slices.ContainsFunc(p.items, fn) }

// asks reports whether a message says the task of the run.
func (p *run) asks(it *session.Item) bool {
	return p.call != nil && isQuestion(it) && it.Text != 0 && it.Text == p.call.Delegation.Task
}

// ends reports whether a message says what the call got.
func (p *run) ends(it *session.Item) bool {
	return it.Role == session.Assistant && len(it.Calls) == 0 && it.Text != 0 && it.Text == p.result
}

func isQuestion(it *session.Item) bool {
	return it.Role == session.User && !it.Flags.Has(session.Implicit)
}

// isContext reports whether goose added a message to a question.
func isContext(it *session.Item) bool {
	return it.Role == session.User && it.Flags.Has(session.Implicit)
}

// proven: a message says of itself that it is the run's, which lacks it.
func (f *finder) proven(p *run, it *session.Item) bool {
	row := rowOf(it)
	return row > p.low && row < p.up && (p.asks(it) && !p.has(p.asks) || p.ends(it) && p.blocks() && !p.has(p.ends)) ||
		slices.ContainsFunc(it.Calls, func(c session.Call) bool { return f.lone[c.ID] > 0 && p.lone[c.ID] < 0 }) ||
		slices.ContainsFunc(it.Results, func(res session.Result) bool { return f.lone[res.CallID] < 0 && p.lone[res.CallID] > 0 })
}

// between: a message is between those of the run. Where it may be another one's, both claim it.
func (f *finder) between(p *run, it *session.Item) bool {
	return p.holds(it, p.from) && slices.ContainsFunc(f.runs, func(p *run) bool { return p.holds(it, p.first) })
}

// holds reports whether a message is among the run's from a row on, which has one question
// and one context.
func (p *run) holds(it *session.Item, from int64) bool {
	row := rowOf(it)
	return row >= from && row <= p.last && !(isQuestion(it) && p.has(isQuestion)) && !(isContext(it) && p.has(isContext))
}

func (p *run) blocks() bool { return p.call != nil && p.call.Delegation.Blocking }

// copied reports whether a message is the one that its session has in a row.
func (p *run) copied(it *session.Item, row int64) bool {
	return row != 0 && slices.ContainsFunc(p.child.Items, func(own session.Item) bool {
		return rowOf(&own) == row && own.Meaning == it.Meaning && eventlog.SameSecond(own.Position, it.Position)
	})
}

// span finds between which rows everything is the run's. Where its start is not known, what is
// before may be; where its end is not, all before the answer with the call is.
func (f *finder) span(p *run) {
	p.from, p.first, p.last = math.MaxInt64, math.MaxInt64, math.MinInt64
	if !p.blocks() {
		return
	}
	answer, ended := f.answer(p.maker), p.has(p.ends)
	p.low, p.up = f.began(p.maker, answer), rowOf(p.maker)
	for _, it := range p.items {
		if row := rowOf(it); row < p.up {
			p.first, p.last = min(p.first, row), max(p.last, row)
		} else {
			ended = false // a repair stored it anew
		}
	}
	if !ended && p.first < answer {
		p.last = max(p.last, answer-1)
	}
	p.first = max(p.first, p.low+1)
	if p.from = p.first; !p.has(isQuestion) {
		p.from = p.low + 1
	}
}

// answer is the first row of the answer with a call: its text, calls and results are of one
// second.
func (f *finder) answer(maker *session.Item) int64 {
	n := slices.Index(f.byRow, maker)
	for ; n > 0; n-- {
		before := f.byRow[n-1]
		said := before.Role == session.Assistant && len(before.Calls) == 0
		if before.Home != "" || !eventlog.SameSecond(before.Position, maker.Position) || before.Role != session.Assistant && before.Role != session.Tool {
			break
		}
		if said {
			n--
			break
		}
	}
	return rowOf(f.byRow[n])
}

// began is the last row before those that a run can have: what a person asked its caller, and
// earlier calls of sub-agents, which itself can call none.
func (f *finder) began(maker *session.Item, answer int64) (row int64) {
	row = math.MinInt64
	asked := false
	for _, it := range f.byRow {
		at := rowOf(it)
		if at >= answer {
			break
		}
		context := asked && isContext(it) // of what was asked before it
		asked = isQuestion(it) && it.Home == "" && it.Position <= maker.Position|second &&
			!slices.ContainsFunc(f.runs, func(p *run) bool { return p.asks(it) && !p.has(p.asks) })
		called := slices.ContainsFunc(it.Calls, func(c session.Call) bool { return c.Delegation != nil && c.Delegation.Child != "" })
		if asked || context || called {
			row = at
		}
	}
	return row
}

// second is the part of a position that tells messages of one second apart.
const second = 1<<eventlog.SecondBits - 1

// rowOf is the number of the row of a message.
func rowOf(it *session.Item) int64 {
	row, _ := strconv.ParseInt(it.Key, 10, 64)
	return row
}
