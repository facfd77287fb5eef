package claudecode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/store/filelog"
)

// join is the line that the first message of a branch would hang below if nothing were lost.
type join struct {
	below  filelog.Name
	detail string // of the fault
}

// activateMain finds out what the next request of the session itself is made of. A branch that is
// sent and does not begin where the conversation does has lost what is before it: below a line
// that is no message, has no parent and stands in the middle of the file (progress,
// anthropics/claude-code#37437), or with the prompt that a branch with a history ends in. What a
// person begins anew, as /rewind does, is neither.
func (t *trunk) activateMain() error {
	c, known := t.chain, len(t.chain.faults)
	ours := func(n *node) bool { return n.side == 0 && !n.sidechain }
	c.activateChain(ours)
	first, lost, err := t.findLostBranch()
	if first < 0 || err != nil {
		return err
	}
	for i := range c.nodes {
		n := &c.nodes[i]
		n.active, n.rank, n.cut, n.again = false, 0, false, false
	}
	c.faults, c.joins = c.faults[:known], map[int]join{first: lost}
	c.activateChain(ours)
	return nil
}

// findLostBranch finds the first message of such a branch; -1 for none.
func (t *trunk) findLostBranch() (first int, lost join, err error) {
	c := t.chain
	began := slices.IndexFunc(c.path, func(i int) bool { return c.isMessage(i) })
	if began < 0 || c.nodes[c.path[0]].boundary || c.nodes[c.path[began]].summary {
		return -1, lost, nil
	}
	first, root := c.path[began], c.path[0]
	if !slices.ContainsFunc(c.nodes[:first], func(n node) bool { return !n.active && (n.kind == user || n.kind == assistant) }) {
		return -1, lost, nil
	}
	list, tops := c.findTops()
	longest, sizes := -1, map[int32]int{} // the last line of the longest branch before, and how long each is
	for _, i := range list {
		if top := tops[i]; i < first && c.isMessage(i) && top != tops[root] {
			if sizes[top]++; longest < 0 || sizes[top] >= sizes[tops[longest]] {
				longest = i
			}
		}
	}
	if longest < 0 {
		return -1, lost, nil
	}
	twin, end, err := t.samePrompt(list, tops, first)
	if err != nil || twin < 0 && c.isMessage(root) {
		return -1, lost, err
	}
	lost.below = c.nodes[longest].uuid
	same := ""
	if twin >= 0 {
		lost.below, longest, same = c.aboveStrays(c.nodes[twin].parent), end, ", which ends in the same prompt"
	}
	lost.detail = fmt.Sprintf("the branch that begins with line %s is sent, and not the one up to line %s%s", c.Text(c.nodes[first].uuid), c.Text(c.nodes[longest].uuid), same)
	if root != first {
		lost.detail += fmt.Sprintf("; it hangs below line %s, which says nothing and has no parent", c.Text(c.nodes[root].uuid))
	}
	return first, lost, nil
}

// isMessage reports whether a line says something to a model.
func (c *chain) isMessage(i int) bool { return c.nodes[i].kind == user || c.nodes[i].kind == assistant }

// findTops finds the lines of the chain, and the first line of the branch that each is on.
func (c *chain) findTops() (list []int, tops []int32) {
	for i, within := range c.within {
		if within {
			list = append(list, i)
		}
	}
	const unknown = -1
	tops = slices.Repeat([]int32{unknown}, len(c.nodes))
	for _, i := range list {
		var way []int
		top := i
		for at, known := i, true; known; {
			if top = at; tops[at] != unknown {
				top = int(tops[at])
				break
			}
			way, tops[at] = append(way, at), int32(at) // which a circle comes to again
			parent := c.aboveStrays(c.nodes[at].parent)
			up, ok := c.findLine(parent)
			if !ok && parent != 0 {
				up = c.lineBefore(list, at)
				ok = up >= 0
			}
			at, known = up, ok && !c.nodes[at].boundary
		}
		for _, at := range way {
			tops[at] = int32(top)
		}
	}
	return list, tops
}

// samePrompt finds the last prompt of a branch with a history that says what a prompt says with
// which another branch begins, and the last line below it; -1 for none.
func (t *trunk) samePrompt(list []int, tops []int32, first int) (twin, end int, err error) {
	c, lines := t.chain, t.log.Window()
	said := func(i int) (text string, err error) {
		if n := &c.nodes[i]; n.kind != user || n.to > n.from {
			return "", nil
		}
		raw, err := lines.Line(c.nodes[i].lineSpan())
		if err != nil {
			return "", err
		}
		if l, m, _ := parseLine(raw); !l.Meta {
			text, _, _ = textOf(m.Content)
		}
		return strings.TrimSpace(text), nil
	}
	prompt, err := said(first)
	if twin, end = -1, -1; prompt == "" || err != nil {
		return twin, end, err
	}
	history, below := map[int32]bool{}, map[filelog.Name]bool{} // of a branch; of the twin
	for _, i := range list {
		n := &c.nodes[i]
		if i >= first || tops[i] == tops[first] || !c.isMessage(i) && !below[n.parent] {
			continue
		}
		text, err := said(i)
		if err != nil {
			return -1, -1, err
		}
		switch {
		case text == prompt && history[tops[i]]:
			twin, end, below = i, i, map[filelog.Name]bool{n.uuid: true}
		case below[n.parent]:
			if end, below[n.uuid] = i, true; text != "" { // the branch goes on with another prompt
				twin, below = -1, map[filelog.Name]bool{}
			}
		}
		history[tops[i]] = true
	}
	return twin, end, nil
}
