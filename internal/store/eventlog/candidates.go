package eventlog

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
)

// glimpse is what the bytes of the events of a session tell, of which none is decoded.
type glimpse struct {
	lacking uint64 // see store.Options.Lacks
	newest  int64  // where its last event stands
}

// lookInto looks into an event.
func (st *logStore) lookInto(owner int, at int64, row Row) {
	g := &st.glimpses[owner]
	if g.newest = max(g.newest, at); g.lacking == 0 {
		return
	}
	for _, name := range st.layout.Said {
		text := column.Bytes(row.Value(name))
		if !st.layout.Verbatim(text) {
			g.lacking = 0
			return
		}
		g.lacking &= st.lacks(text)
	}
}

// AtMost is a Layout.Verbatim of stores whose texts are in pieces only where a value has a name more
// often.
func AtMost(times int, names ...string) func(value []byte) bool {
	return func(value []byte) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return bytes.Count(value, []byte(name)) > times })
	}
}

// leaveLacking leaves the trees out that cannot hold what is looked for, and puts the newest first.
func (st *logStore) leaveLacking() {
	if st.facts.NewestFirst = st.lacks != nil; st.lacks == nil {
		return
	}
	newest := map[*session.Tree]int64{}
	st.trees = slices.DeleteFunc(st.trees, func(tree *session.Tree) bool {
		lacking := uint64(math.MaxUint64)
		for _, s := range tree.Sessions {
			n, _ := st.numberByName(s.ID)
			lacking &= st.glimpses[n].lacking
			newest[tree] = max(newest[tree], st.glimpses[n].newest)
		}
		return lacking != 0
	})
	slices.SortStableFunc(st.trees, func(a, b *session.Tree) int { return cmp.Compare(newest[b], newest[a]) })
	st.only = slices.DeleteFunc(slices.Clone(st.only), func(i int) bool { return st.hasUnlinkedSessions() && st.glimpses[i].lacking != 0 })
	slices.SortStableFunc(st.only, func(a, b int) int { return cmp.Compare(st.glimpses[b].newest, st.glimpses[a].newest) })
}
