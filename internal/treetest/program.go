package treetest

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"
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
