package forest

import (
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

const none = int32(-1)

// graph works on the heads by their index.
type graph struct {
	heads  []Head
	index  map[string]int32 // id → the first head that has it
	parent []int32          // the session that each one belongs below
	cut    []bool           // roots whose recorded link closed a loop
	group  []int32          // disjoint sets: what is connected so far
}

func newGraph(heads []Head) *graph {
	g := &graph{
		heads:  heads,
		index:  make(map[string]int32, len(heads)),
		parent: make([]int32, len(heads)),
		cut:    make([]bool, len(heads)),
		group:  make([]int32, len(heads)),
	}
	for i := range heads {
		if id := heads[i].Session.ID; g.find(id) == none {
			g.index[id] = int32(i)
		}
		g.group[i] = int32(i)
	}
	return g
}

// find is the index of the session with the id.
func (g *graph) find(id string) int32 {
	if i, ok := g.index[id]; ok {
		return i
	}
	return none
}

// set names the set that i is in.
func (g *graph) set(i int32) int32 {
	for g.group[i] != i {
		g.group[i] = g.group[g.group[i]]
		i = g.group[i]
	}
	return i
}

// connect joins the sets of a and b, and reports whether they were two. The
// lower index stands for both, which keeps the result independent of order.
func (g *graph) connect(a, b int32) bool {
	a, b = g.set(a), g.set(b)
	g.group[max(a, b)] = min(a, b)
	return a != b
}

func (g *graph) linkRecorded() {
	for i := range g.heads {
		g.parent[i] = none
		if id := g.heads[i].Session.Parent; id != "" {
			g.parent[i] = g.find(id)
		}
		if p := g.parent[i]; p != none {
			g.connect(int32(i), p)
		}
	}
}

// cutLoops walks every chain of parents once. A walk that meets its own number
// has gone round a loop.
func (g *graph) cutLoops() {
	walk := make([]int32, len(g.heads)) // the walk that passed, 0 for none
	for i := range g.heads {
		number, at := int32(i+1), int32(i)
		for at != none && walk[at] == 0 {
			walk[at] = number
			at = g.parent[at]
		}
		if at != none && walk[at] == number {
			g.cutLoop(at)
		}
	}
}

// cutLoop makes the first session of the loop through i a root.
func (g *graph) cutLoop(i int32) {
	root := i
	for at := g.parent[i]; at != i; at = g.parent[at] {
		root = min(root, at)
	}
	s := g.heads[root].Session
	s.Faults = append(s.Faults, session.Fault{
		Kind: session.ParentCycle, Ref: s.Ref(), Item: -1, Detail: g.describeLoop(root),
	})
	g.parent[root], g.cut[root] = none, true
}

// shownIDs bounds how much of a loop a person has to read.
const shownIDs = 8

// describeLoop writes the loop as "P → C → P": each session and its parent.
func (g *graph) describeLoop(root int32) string {
	ids := []string{g.heads[root].Session.ID}
	for at := g.parent[root]; at != root; at = g.parent[at] {
		if len(ids) == shownIDs {
			ids = append(ids, "…")
			break
		}
		ids = append(ids, g.heads[at].Session.ID)
	}
	return strings.Join(append(ids, ids[0]), " → ")
}

// linkReferred puts sessions without a recorded parent below their first
// referrer. Going backwards leaves the first session of a loop of references
// as its root.
func (g *graph) linkReferred() {
	referrers := make([][]int32, len(g.heads))
	for i := range g.heads {
		for _, id := range g.heads[i].Refs {
			if child := g.find(id); child != none {
				referrers[child] = append(referrers[child], int32(i))
			}
		}
	}
	for i := len(g.heads) - 1; i >= 0; i-- {
		if g.parent[i] != none || g.cut[i] {
			continue
		}
		for _, from := range referrers[i] {
			if g.connect(from, int32(i)) {
				g.parent[i] = from
				break
			}
		}
	}
	for child, list := range referrers {
		for _, from := range list {
			g.connect(from, int32(child))
		}
	}
}
