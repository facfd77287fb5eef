package crush

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/eventlog"
)

// window is a call of a sub-agent and its result: while that works, Crush stores no row of its
// caller but the results of the same message's calls (internal/agent/agent.go: the next step
// begins when all tools have answered), and rows keep their numbers. So what else is between is
// the sub-agent's. The result is the next one with the call's id, unless another call takes the
// id before.
type window struct {
	*session.Delegation
	call string
	end  int // the index of the result, 0 where there is none
}

// findStrays tells which messages the runs of sub-agents stored in the sessions of their callers.
func (r *reader) findStrays(tree *session.Tree) {
	for _, s := range tree.Sessions {
		numbers := eventlog.RowNumbers(s)
		results := map[string]int{} // by the ids of calls, where the next result is that answers it
		for i := len(s.Items) - 1; i >= 0; i-- {
			it := &s.Items[i]
			var open []window
			answered := false
			for n := range it.Calls {
				call := &it.Calls[n]
				if d := call.Delegation; d != nil && d.Child != "" {
					open = append(open, window{d, call.ID, results[call.ID]})
					answered = answered || results[call.ID] > 0
				}
			}
			if answered {
				r.markStrays(tree, s, i, open, numbers)
			}
			for n := range it.Calls {
				delete(results, it.Calls[n].ID)
			}
			for n := range it.Results {
				if !it.Flags.Has(session.Synthetic) { // a repair made it up, and it tells nothing of when the sub-agent ended
					results[it.Results[n].CallID] = i
				}
			}
		}
	}
}

// markStrays marks the messages between the calls of sub-agents in one message and their results:
// those of one that worked alone, and then what is proved of the others.
func (r *reader) markStrays(tree *session.Tree, s *session.Session, caller int, open []window, numbers []int64) {
	end := 0
	for _, w := range open {
		end = max(end, w.end)
	}
	p := puzzle{open: open, seen: map[string]bool{}}
	unknown := false
	for i := caller + 1; i < end; i++ {
		it := &s.Items[i]
		foreign := func(res session.Result) bool {
			return !slices.ContainsFunc(s.Items[caller].Calls, func(c session.Call) bool { return c.ID == res.CallID })
		}
		if len(it.Results) > 0 && !slices.ContainsFunc(it.Results, foreign) {
			continue
		}
		home := ""
		for _, w := range open {
			switch {
			case w.end > 0 && (w.end <= i || numbers[w.end] > 0 && numbers[i] > numbers[w.end]) || it.Role == session.User && w.Task != 0 && it.Text != w.Task:
			case home == "":
				home = w.Child
			default: // two worked at once
				home = session.HomeUnknown
			}
		}
		if home != "" && it.Home() != "" { // another message called one that worked at that time
			home = session.HomeUnknown
		}
		if home != "" {
			it.Own().Home = home
			p.rows = append(p.rows, row{item: it, of: stray})
			unknown = unknown || home == session.HomeUnknown
		}
	}
	if unknown {
		p.solveRows(tree, s, r.heads)
	}
}

// puzzle is whose messages are that may be of one of several sub-agents. Each of these asks one
// question, then answers, has all its calls answered before it goes on, and ends with the text
// that is the result of the call. What is the same in all ways to share the messages out so is
// proved.
type puzzle struct {
	open   []window
	rows   []row // of all of them, and their results, in their order
	seen   map[string]bool
	owners []map[int]bool // of each row, in the ways that are found
}

// row is a message of the sub-agent open[of], or of any one, or the result of one.
type row struct {
	item *session.Item
	of   int
	ends bool
}

const stray = -1

// run is how far a sub-agent is.
type run struct {
	asked bool
	last  int    // the row of its last answer that waits for results, or that ends it
	open  uint64 // the calls of that which have no result yet
	ended bool
	lacks int64 // how many messages message_count says it has elsewhere; what it says is no proof below 0
}

// manyStates are more than are looked at: then nothing is proved.
const manyStates = 20_000

func (p *puzzle) solveRows(tree *session.Tree, s *session.Session, heads map[string]head) {
	runs, told, lacking := make([]run, len(p.open)), true, -int64(len(p.rows))
	for n, w := range p.open {
		child := tree.Session(w.Child)
		if child == nil {
			return
		}
		for i := range child.Items {
			p.rows = append(p.rows, row{item: &child.Items[i], of: n})
		}
		if w.end > 0 {
			p.rows = append(p.rows, row{&s.Items[w.end], n, true})
		}
		runs[n].lacks = heads[w.Child].count - int64(len(child.Items))
		told, lacking = told && runs[n].lacks >= 0, lacking+runs[n].lacks
	}
	for n := range runs {
		if !told || lacking != 0 { // the count was not kept, or was set right
			runs[n].lacks = -1
		}
	}
	slices.SortStableFunc(p.rows, func(a, b row) int { return cmp.Compare(a.item.Position, b.item.Position) })
	p.owners = make([]map[int]bool, len(p.rows))
	if !p.shareRows(0, runs) || len(p.seen) > manyStates {
		return
	}
	for n, row := range p.rows {
		if row.of != stray || row.item.Home() != session.HomeUnknown || len(p.owners[n]) != 1 {
			continue
		}
		for of := range p.owners[n] {
			row.item.Own().Home = p.open[of].Child
		}
	}
}

// shareRows reports whether the rows from n on can be shared out among the runs, and notes how.
func (p *puzzle) shareRows(n int, runs []run) (done bool) {
	if n == len(p.rows) {
		return !slices.ContainsFunc(runs, func(r run) bool { return r.lacks > 0 })
	}
	state := fmt.Sprint(n, runs)
	if known, ok := p.seen[state]; ok || len(p.seen) > manyStates {
		return known
	}
	for of := range runs {
		if row := &p.rows[n]; row.of != stray && row.of != of {
			continue
		}
		next, ok := p.nextRun(n, of, runs[of])
		if !ok {
			continue
		}
		after := slices.Clone(runs)
		after[of] = next
		if p.shareRows(n+1, after) {
			if done = true; p.owners[n] == nil {
				p.owners[n] = map[int]bool{}
			}
			p.owners[n][of] = true
		}
	}
	p.seen[state] = done
	return done
}

// nextRun is a run after the nth row, if that can be the next one of it.
func (p *puzzle) nextRun(n, of int, r run) (_ run, ok bool) {
	it, w := p.rows[n].item, p.open[of]
	if p.rows[n].of == stray {
		if it.Home() != session.HomeUnknown && it.Home() != w.Child || r.lacks == 0 {
			return r, false
		}
		r.lacks = max(r.lacks-1, -1)
	}
	switch {
	case p.rows[n].ends:
		var result session.Result
		for _, res := range it.Results {
			if res.CallID == w.call {
				result = res
			}
		}
		return r, result.IsError || r.ended && result.Digest == p.rows[r.last].item.Text
	case it.Kind != session.Message:
		return r, false
	case it.Role == session.User:
		ok = !r.asked && (w.Task == 0 || it.Text == w.Task)
		r.asked = true
	case it.Role == session.Assistant:
		ok = r.asked && r.open == 0 && !r.ended && len(it.Calls) < 64
		r.last, r.open, r.ended = n, 1<<len(it.Calls)-1, len(it.Calls) == 0
	case it.Role == session.Tool:
		for _, res := range it.Results {
			call := slices.IndexFunc(p.rows[r.last].item.Calls, func(c session.Call) bool { return c.ID == res.CallID })
			if call < 0 || r.open>>call&1 == 0 {
				return r, false
			}
			r.open &^= 1 << call
			ok = true
		}
		if r.open == 0 {
			r.last = 0
		}
	}
	return r, ok
}
