package forest

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// trees collects each set of connected sessions.
func (g *graph) trees() []*session.Tree {
	g.fillChildren()
	roots := g.roots()
	var trees []*session.Tree
	for i := range g.heads {
		if set := roots[g.set(int32(i))]; set[0] == g.heads[i].Session {
			trees = append(trees, &session.Tree{Sessions: preorder(set)})
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

// roots lists the roots of each set, those of cut loops last.
func (g *graph) roots() map[int32][]*session.Session {
	roots := make(map[int32][]*session.Session)
	for _, cut := range []bool{false, true} {
		for i, p := range g.parent {
			if p == none && g.cut[i] == cut {
				set := g.set(int32(i))
				roots[set] = append(roots[set], g.heads[i].Session)
			}
		}
	}
	return roots
}

// preorder lists roots and what is below them, parents before children. It
// keeps its own stack, because damage can nest sessions to any depth.
func preorder(roots []*session.Session) []*session.Session {
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
