package claudecode

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// runOf is the one that a line is a piece of, nil for none.
func (c *chain) runOf(i int) *filelog.Run {
	return filelog.RunAt(c.runs, c.nodes[i].offset)
}

// tellRuns are the faults of lines that the runtime passes over, although there are records
// in them. The session is read as a repair leaves it, and these say what is missing until
// then: a result that is there is neither missing nor made up.
func (c *chain) tellRuns() {
	apart := "each record on its own line"
	for _, r := range c.runs {
		f := session.Fault{Kind: session.Undecodable, Item: -1, Field: r.Name(), Passed: true}
		f.Calls = c.answeredIn(r)
		f.Detail, f.Remedy = r.Describe(f.Calls)
		if uuid := c.twice[r]; uuid != "" {
			f.Detail += "; another line has the identifier " + uuid + " as well and says something else, so compare the two before you repair"
		} else {
			f.Default = &apart
		}
		c.faults = append(c.faults, f)
	}
}

// nodeAt is the line that begins at an offset, or the one behind it.
func (c *chain) nodeAt(offset int64) (at int, exact bool) {
	return slices.BinarySearchFunc(c.nodes, offset, func(n node, at int64) int { return cmp.Compare(n.offset, at) })
}

// answeredIn are the calls whose results a run has.
func (c *chain) answeredIn(r *filelog.Run) (calls []string) {
	for i, _ := c.nodeAt(r.Offset); i < len(c.nodes) && c.runOf(i) == r; i++ {
		for _, call := range c.toolsOf(&c.nodes[i], user) {
			calls = append(calls, c.Text(call))
		}
	}
	return calls
}
