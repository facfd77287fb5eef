package treetest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
			p.turns = append(p.turns, d.drawAnswers("root", nil))
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

func (d *drawer) drawAnswers(agent string, waiting []string) []answer {
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
			c := d.drawCall(speaker, append(slices.Clone(waiting), agent))
			agent = cmp.Or(c.to, agent)
			a.calls = append(a.calls, c)
		}
		list = append(list, a)
		if d.died {
			return list
		}
	}
	return append(list, answer{text: rapid.SampledFrom([]string{"done", "ok"}).Draw(d.t, "last")})
}

func (d *drawer) drawCall(speaker string, waiting []string) call {
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
		child: d.drawAnswers(other, append(slices.Clone(waiting), speaker)),
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
			Flags: session.Flags(rapid.Uint8Range(0, 127).Draw(t, "flags")), Shared: &session.Shared{Agent: ids.Draw(t, "agent"), Child: ids.Draw(t, "child"), KeptFrom: int64(rapid.IntRange(-2, 6).Draw(t, "kept"))},
			Calls: rapid.SliceOfN(calls, 0, 2).Draw(t, "calls"), Results: rapid.SliceOfN(results, 0, 2).Draw(t, "results"),
			Meaning: digests.Draw(t, "meaning"), Text: digests.Draw(t, "text"),
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
				s.Items[n].Own().Table, s.Items[n].Key, s.Items[n].Body = "items", strconv.Itoa(rows), &session.Body{}
			}
			tree.Sessions = append(tree.Sessions, s)
		}
		return tree
	})
}

// Rendered is a program as a runtime would have stored it.
type Rendered struct {
	Notation string
	Leaks    []Leak // in stored order
	Whole    bool   // everything that children said leaked, results included
}

// Leak is the truth about one item of the root session that a child produced.
type Leak struct {
	Item int    // of the root session
	Task string // of the delegation in the root session
	Home string // the session that it belongs to, stored or not
	Twin string // its copy: "C3.4", "" when it was not stored
}

// Render plays a program as a runtime does, one that leaks or one that does not.
func (p Program) Render(leaky bool) Rendered {
	r := &renderer{program: p, leaky: leaky}
	root := r.newConversation("")
	for _, turn := range p.turns {
		r.addItem(root, "user")
		speaker := "root"
		if r.playAnswers(root, &speaker, turn) {
			break
		}
	}
	r.keepStored(root)
	return Rendered{Notation: r.text.String(), Leaks: r.leaks, Whole: !p.noResults}
}

type renderer struct {
	program Program
	leaky   bool
	text    strings.Builder
	count   int // sessions
	clock   int
	root    *conversation
	leaks   []Leak
}

// conversation is a session in memory; whether it is stored is known at its end.
type conversation struct {
	id, parent string
	outermost  string // task of the delegation in the root session
	lines      []string
	calls      int
	children   []*conversation
}

func (r *renderer) newConversation(parent string) *conversation {
	c := &conversation{id: fmt.Sprintf("C%d", r.count), parent: parent}
	r.count++
	r.root = cmp.Or(r.root, c)
	return c
}

// addItem adds an item, and its copy to the root session if it leaks.
func (r *renderer) addItem(c *conversation, words string) {
	r.clock++
	words = fmt.Sprintf("%s at=%d", words, r.clock)
	c.lines = append(c.lines, words)
	prologue := strings.HasPrefix(words, "system") || strings.HasPrefix(words, "user")
	silent := r.program.noResults && !strings.Contains(words, `"`)
	if r.leaky && c != r.root && !prologue && !silent {
		r.leaks = append(r.leaks, Leak{
			Item: len(r.root.lines), Task: c.outermost, Home: c.id, Twin: fmt.Sprintf("%s.%d", c.id, len(c.lines)-1),
		})
		r.root.lines = append(r.root.lines, words)
	}
}

// playAnswers lets the agents speak; it reports whether the process died.
func (r *renderer) playAnswers(c *conversation, speaker *string, answers []answer) bool {
	for _, a := range answers {
		opener := *speaker
		ids := make([]string, len(a.calls))
		words := opener
		if a.text != "" {
			words += fmt.Sprintf(" %q", a.text)
		}
		for i := range a.calls {
			ids[i] = r.newID(c)
			words += " " + notationOf(ids[i], &a.calls[i])
		}
		if a.died {
			words += " unfinished"
		}
		r.addItem(c, words)
		if a.died {
			return true
		}
		if r.runBatch(c, opener, ids, a.calls) {
			return true
		}
		for _, call := range a.calls {
			if call.to != "" {
				*speaker = call.to
			}
		}
	}
	return false
}

// runBatch runs the calls of one answer: one after another, or at the same time,
// where the last one ends first.
func (r *renderer) runBatch(c *conversation, opener string, ids []string, calls []call) (died bool) {
	parallel := r.program.parallel && !r.leaky
	begun := len(c.lines)
	for i := range calls {
		if r.runChild(c, &calls[i]) {
			return true
		}
		if !parallel {
			r.addItem(c, fmt.Sprintf("%s <%s", opener, ids[i]))
		}
	}
	if !parallel {
		return false
	}
	slices.Reverse(c.lines[begun:])
	for i := range ids {
		r.addItem(c, fmt.Sprintf("%s <%s", opener, ids[(i+1)%len(ids)]))
	}
	return false
}

func (r *renderer) newID(c *conversation) string {
	if r.program.countIDs {
		c.calls++
		return fmt.Sprintf("c%d", c.calls)
	}
	r.root.calls++
	return fmt.Sprintf("u%d", r.root.calls)
}

func notationOf(id string, c *call) string {
	switch {
	case c.agent != "":
		return fmt.Sprintf("%s>%s(%s)", id, c.agent, c.task)
	case c.to != "":
		return fmt.Sprintf("%s:handoff(%s)", id, c.to)
	}
	return id + "()"
}

// runChild runs the child of a delegation.
func (r *renderer) runChild(c *conversation, call *call) (died bool) {
	if call.agent == "" {
		return false
	}
	child := r.newConversation(c.id)
	child.outermost = c.outermost
	if c == r.root {
		child.outermost = call.task
	}
	r.addItem(child, fmt.Sprintf("system(%s)", call.task))
	r.addItem(child, "user implicit")
	speaker := call.agent
	if r.playAnswers(child, &speaker, call.child) {
		return true
	}
	if !call.fails {
		c.children = append(c.children, child)
		c.lines = append(c.lines, "sub "+child.id)
	}
	return false
}

// keepStored stores a session and its children, and takes the twins of all others away.
func (r *renderer) keepStored(root *conversation) {
	stored := map[string]bool{}
	var write func(c *conversation)
	write = func(c *conversation) {
		stored[c.id] = true
		head := c.id
		if c.parent != "" {
			head += "<" + c.parent
		}
		r.text.WriteString(head + "\n  " + strings.Join(c.lines, "\n  ") + "\n")
		for _, child := range c.children {
			write(child)
		}
	}
	write(root)
	for i := range r.leaks {
		if !stored[r.leaks[i].Home] {
			r.leaks[i].Twin = ""
		}
	}
}
