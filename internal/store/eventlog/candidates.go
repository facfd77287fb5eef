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

// glimpseOf is that of some sessions together.
func (st *logStore) glimpseOf(sessions ...int) glimpse {
	all := glimpse{lacking: math.MaxUint64}
	for _, i := range sessions {
		all.lacking &= st.glimpses[i].lacking
		all.newest = max(all.newest, st.glimpses[i].newest)
	}
	return all
}

// leaveLacking leaves the trees out that cannot hold what is looked for, and puts the newest first.
func (st *logStore) leaveLacking() {
	if st.facts.NewestFirst = st.lacks != nil; st.lacks == nil {
		return
	}
	of := map[*session.Tree]glimpse{}
	for _, tree := range st.trees {
		var sessions []int
		for _, s := range tree.Sessions {
			n, _ := st.numberByName(s.ID)
			sessions = append(sessions, n)
		}
		of[tree] = st.glimpseOf(sessions...)
	}
	st.trees = slices.DeleteFunc(st.trees, func(t *session.Tree) bool { return of[t].lacking != 0 })
	slices.SortStableFunc(st.trees, func(a, b *session.Tree) int { return cmp.Compare(of[b].newest, of[a].newest) })
}

// candidates are the sessions that can hold what is looked for, the newest first, or else all.
func (st *logStore) candidates() []int {
	if st.lacks == nil {
		return st.only
	}
	list := slices.DeleteFunc(slices.Clone(st.only), func(i int) bool { return st.glimpses[i].lacking != 0 })
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(st.glimpses[b].newest, st.glimpses[a].newest) })
	return list
}
