package treetest

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/session"
)

// Program is what a team of agents did: the user turns of the root session.
type Program struct {
	turns     [][]answer
	countIDs  bool // call ids count from one in every session
	noResults bool // results of children do not leak, nor answers without text
	parallel  bool // the calls of a batch run at the same time; where nothing leaks only
}

// Sequential is the program with the calls of a batch one after another, as
// runtimes that leak ran them.
func (p Program) Sequential() Program {
	p.parallel = false
	return p
}

// answer is one message of the agent that speaks.
type answer struct {
	text  string
	calls []call
	died  bool // the process died before the calls ran
}

// call is an ordinary call, a handoff or a delegation.
type call struct {
	to    string // the agent that a handoff names
	task  string // unique among the tasks of the program
	agent string // the agent asked, "" for calls that are no delegation
	child []answer
	fails bool // the child fails: nothing of it is stored but what leaked
}

// Programs draws programs. An agent that waits is never asked from below: what
// it said there could not be told from what it says itself.
func Programs() *rapid.Generator[Program] {
	return rapid.Custom(func(t *rapid.T) Program {
		p := Program{countIDs: rapid.Bool().Draw(t, "count ids"), noResults: rapid.Bool().Draw(t, "no results"), parallel: rapid.Bool().Draw(t, "parallel")}
		d := drawer{t: t, left: 14, immortal: p.countIDs && !p.noResults}
		for n := rapid.IntRange(1, 3).Draw(t, "turns"); n > 0 && !d.died; n-- {
			p.turns = append(p.turns, d.answers("root", nil))
		}
		return p
	})
}

type drawer struct {
	t        *rapid.T
	left     int // answers still to draw
	tasks    int
	immortal bool
	died     bool
}

var team = []string{"root", "alpha", "beta", "gamma", "delta"}

func (d *drawer) answers(agent string, waiting []string) []answer {
	var list []answer
	for n := rapid.IntRange(0, 2).Draw(d.t, "steps"); n > 0 && d.left > 0; n-- {
		d.left--
		a := answer{text: rapid.SampledFrom([]string{"", "ok", "let me see"}).Draw(d.t, "text")}
		if !d.immortal && rapid.IntRange(0, 40).Draw(d.t, "dies") == 40 {
			d.died = true
			a.died, a.text = true, "half a sen"
			return append(list, a)
		}
		speaker := agent
		for m := rapid.IntRange(1, 3).Draw(d.t, "calls"); m > 0 && !d.died; m-- {
			c := d.call(speaker, append(slices.Clone(waiting), agent))
			if c.to != "" {
				agent = c.to
			}
			a.calls = append(a.calls, c)
		}
		list = append(list, a)
		if d.died {
			return list
		}
	}
	return append(list, answer{text: rapid.SampledFrom([]string{"done", "ok"}).Draw(d.t, "last")})
}

func (d *drawer) call(speaker string, waiting []string) call {
	free := slices.DeleteFunc(slices.Clone(team), func(a string) bool { return a == speaker || slices.Contains(waiting, a) })
	kind := rapid.IntRange(0, 9).Draw(d.t, "kind")
	if len(free) == 0 || kind < 4 || kind < 9 && d.left == 0 {
		return call{}
	}
	other := rapid.SampledFrom(free).Draw(d.t, "agent")
	if kind == 9 {
		return call{to: other}
	}
	d.tasks++
	return call{
		agent: other, task: fmt.Sprintf("task %d", d.tasks), fails: rapid.IntRange(0, 4).Draw(d.t, "fails") == 4,
		child: d.answers(other, append(slices.Clone(waiting), speaker)),
	}
}

// Wild draws trees that no runtime would write: random items with ids from a
// tiny alphabet. Children form no circle, because grouping makes none.
func Wild() *rapid.Generator[*session.Tree] {
	ids := rapid.SampledFrom([]string{"", "A", "B", "C", "D"})
	small := rapid.IntRange(0, 3)
	digests := rapid.Custom(func(t *rapid.T) session.Digest { return session.Digest(small.Draw(t, "digest")) })
	calls := rapid.Custom(func(t *rapid.T) session.Call {
		c := session.Call{ID: ids.Draw(t, "id")}
		if rapid.Bool().Draw(t, "delegates") {
			c.Delegation = &session.Delegation{
				Agent: ids.Draw(t, "agent"), Child: ids.Draw(t, "child"),
				Task: digests.Draw(t, "task"), Blocking: rapid.Bool().Draw(t, "blocking"),
			}
		}
		return c
	})
	results := rapid.Custom(func(t *rapid.T) session.Result {
		return session.Result{CallID: ids.Draw(t, "call"), Digest: digests.Draw(t, "digest")}
	})
	items := rapid.Custom(func(t *rapid.T) session.Item {
		it := session.Item{
			Kind: session.Kind(small.Draw(t, "kind")), Role: session.Role(rapid.IntRange(0, 4).Draw(t, "role")),
			Flags: session.Flags(rapid.Uint8Range(0, 127).Draw(t, "flags")), Agent: ids.Draw(t, "agent"), Child: ids.Draw(t, "child"),
			Calls: rapid.SliceOfN(calls, 0, 2).Draw(t, "calls"), Results: rapid.SliceOfN(results, 0, 2).Draw(t, "results"),
			Meaning: digests.Draw(t, "meaning"), Text: digests.Draw(t, "text"), KeptFrom: int64(rapid.IntRange(-2, 6).Draw(t, "kept")),
		}
		if rapid.Bool().Draw(t, "timed") {
			it.Time = Start.Add(time.Duration(small.Draw(t, "time")) * time.Second)
		}
		return it
	})
	return rapid.Custom(func(t *rapid.T) *session.Tree {
		tree := &session.Tree{}
		rows := 0
		for i, id := range []string{"A", "B", "C", "D"}[:rapid.IntRange(1, 4).Draw(t, "sessions")] {
			s := &session.Session{ID: id, Parent: ids.Draw(t, "parent"), Task: digests.Draw(t, "task"), Items: rapid.SliceOfN(items, 0, 8).Draw(t, "items")}
			if i > 0 && rapid.Bool().Draw(t, "below") {
				above := tree.Sessions[rapid.IntRange(0, i-1).Draw(t, "above")]
				above.Children = append(above.Children, s)
			}
			for n := range s.Items {
				rows++
				s.Items[n].Table, s.Items[n].Key, s.Items[n].Body = "items", strconv.Itoa(rows), &session.Body{}
			}
			tree.Sessions = append(tree.Sessions, s)
		}
		return tree
	})
}
