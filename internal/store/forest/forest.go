// Package forest groups the sessions of a store into trees: the sets that
// parent links and sub-session references connect.
package forest

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// Head is what grouping needs to know of one session.
type Head struct {
	Session *session.Session // its items may still be missing
	Refs    []string         // the ids that its sub-session items and calls name, in item order
}

// HeadOf is the head of a session whose items are loaded.
func HeadOf(s *session.Session) Head {
	h := Head{Session: s}
	for i := range s.Items {
		it := &s.Items[i]
		if it.Kind == session.SubSession {
			h.Refs = append(h.Refs, it.Child())
		}
		for n := range it.Calls {
			if d := it.Calls[n].Delegation; d != nil && d.Child != "" {
				h.Refs = append(h.Refs, d.Child)
			}
		}
	}
	return h
}

// GroupHeads makes trees of heads, which come in stored order. The result is as
// session.Tree promises, in linear time:
//
//   - A session belongs below its recorded parent if that exists, else below
//     the first session that refers to it, unless that lies below it already.
//   - A tree holds everything that recorded parents and references connect.
//     Its root is its first session that belongs below none; further ones are
//     further roots. Trees are ordered by their roots, siblings as stored.
//   - Recorded parents that form a loop are cut at the loop's first session,
//     which becomes a root and receives the fault session.ParentCycle: clearing
//     its parent link gives the tree that is returned. It is the tree's first
//     session only when no other session of the tree can be.
//
// Group fills Children and appends to Faults, so each session goes through it
// once. Ids that are not unique mean the first session that has them.
func GroupHeads(heads []Head) []*session.Tree {
	g := newGraph(heads)
	g.linkRecorded()
	g.cutLoops()
	g.linkReferred()
	return g.collectTrees()
}

// MarkDangling flags the sub-session items of s whose child does not exist, for
// stores whose reader skips those.
func MarkDangling(s *session.Session, exists func(id string) bool) {
	for i := range s.Items {
		it := &s.Items[i]
		if it.Kind == session.SubSession && !exists(it.Child()) {
			it.Flags |= session.Dangling | session.Skipped
		}
	}
}

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
		if id := heads[i].Session.ID; g.indexOf(id) == none {
			g.index[id] = int32(i)
		}
		g.group[i] = int32(i)
	}
	return g
}

// indexOf is the index of the session with the id.
func (g *graph) indexOf(id string) int32 {
	if i, ok := g.index[id]; ok {
		return i
	}
	return none
}

// setOf names the set that i is in.
func (g *graph) setOf(i int32) int32 {
	for g.group[i] != i {
		g.group[i] = g.group[g.group[i]]
		i = g.group[i]
	}
	return i
}

// joinSets joins the sets of a and b, and reports whether they were two. The
// lower index stands for both, which keeps the result independent of order.
func (g *graph) joinSets(a, b int32) bool {
	a, b = g.setOf(a), g.setOf(b)
	g.group[max(a, b)] = min(a, b)
	return a != b
}

func (g *graph) linkRecorded() {
	for i := range g.heads {
		g.parent[i] = none
		if id := g.heads[i].Session.Parent; id != "" {
			g.parent[i] = g.indexOf(id)
		}
		if p := g.parent[i]; p != none {
			g.joinSets(int32(i), p)
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
			if child := g.indexOf(id); child != none {
				referrers[child] = append(referrers[child], int32(i))
			}
		}
	}
	for i := len(g.heads) - 1; i >= 0; i-- {
		if g.parent[i] != none || g.cut[i] {
			continue
		}
		for _, from := range referrers[i] {
			if g.joinSets(from, int32(i)) {
				g.parent[i] = from
				break
			}
		}
	}
	for child, list := range referrers {
		for _, from := range list {
			g.joinSets(from, int32(child))
		}
	}
}

// collectTrees collects each set of connected sessions.
func (g *graph) collectTrees() []*session.Tree {
	g.fillChildren()
	roots := g.rootsBySet()
	var trees []*session.Tree
	for i := range g.heads {
		if set := roots[g.setOf(int32(i))]; set[0] == g.heads[i].Session {
			trees = append(trees, &session.Tree{Sessions: listPreorder(set)})
		}
	}
	return trees
}

func (g *graph) fillChildren() {
	for i, p := range g.parent {
		if p != none {
			above := g.heads[p].Session
			above.Children = append(above.Children, g.heads[i].Session)
		}
	}
}

// rootsBySet lists the roots of each set, those of cut loops last.
func (g *graph) rootsBySet() map[int32][]*session.Session {
	roots := make(map[int32][]*session.Session)
	for _, cut := range []bool{false, true} {
		for i, p := range g.parent {
			if p == none && g.cut[i] == cut {
				set := g.setOf(int32(i))
				roots[set] = append(roots[set], g.heads[i].Session)
			}
		}
	}
	return roots
}

// listPreorder lists roots and what is below them, parents before children. It
// keeps its own stack, because damage can nest sessions to any depth.
func listPreorder(roots []*session.Session) []*session.Session {
	var list []*session.Session
	todo := slices.Clone(roots)
	slices.Reverse(todo)
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		list = append(list, s)
		for _, child := range slices.Backward(s.Children) {
			todo = append(todo, child)
		}
	}
	return list
}
