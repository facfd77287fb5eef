package treetest

import (
	"fmt"
	"slices"
	"strings"
)

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
	root := r.session("")
	for _, turn := range p.turns {
		r.add(root, "user")
		speaker := "root"
		if r.play(root, &speaker, turn) {
			break
		}
	}
	r.keep(root)
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

func (r *renderer) session(parent string) *conversation {
	c := &conversation{id: fmt.Sprintf("C%d", r.count), parent: parent}
	r.count++
	if r.root == nil {
		r.root = c
	}
	return c
}

// add adds an item, and its copy to the root session if it leaks.
func (r *renderer) add(c *conversation, words string) {
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

// play lets the agents speak; it reports whether the process died.
func (r *renderer) play(c *conversation, speaker *string, answers []answer) bool {
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
		r.add(c, words)
		if a.died {
			return true
		}
		if r.batch(c, opener, ids, a.calls) {
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

// batch runs the calls of one answer: one after another, or at the same time,
// where the last one ends first.
func (r *renderer) batch(c *conversation, opener string, ids []string, calls []call) (died bool) {
	parallel := r.program.parallel && !r.leaky
	begun := len(c.lines)
	for i := range calls {
		if r.run(c, &calls[i]) {
			return true
		}
		if !parallel {
			r.add(c, fmt.Sprintf("%s <%s", opener, ids[i]))
		}
	}
	if !parallel {
		return false
	}
	slices.Reverse(c.lines[begun:])
	for i := range ids {
		r.add(c, fmt.Sprintf("%s <%s", opener, ids[(i+1)%len(ids)]))
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

// run runs the child of a delegation.
func (r *renderer) run(c *conversation, call *call) (died bool) {
	if call.agent == "" {
		return false
	}
	child := r.session(c.id)
	child.outermost = c.outermost
	if c == r.root {
		child.outermost = call.task
	}
	r.add(child, fmt.Sprintf("system(%s)", call.task))
	r.add(child, "user implicit")
	speaker := call.agent
	if r.play(child, &speaker, call.child) {
		return true
	}
	if !call.fails {
		c.children = append(c.children, child)
		c.lines = append(c.lines, "sub "+child.id)
	}
	return false
}

// keep stores a session and its children, and takes the twins of all others away.
func (r *renderer) keep(root *conversation) {
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
