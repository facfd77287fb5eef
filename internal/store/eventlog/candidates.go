package eventlog

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/column"
)

// lookInto looks into an event.
func (st *logStore) lookInto(owner int, at int64, row Row) {
	for _, name := range st.layout.Said {
		text, lacks := column.Bytes(row.Value(name)), st.lacks
		if !st.layout.Verbatim(text) {
			lacks = func([]byte) uint64 { return 0 }
		}
		st.glimpses[owner].Look(lacks, at, text)
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
	st.trees = store.NewestTrees(st.trees, func(s *session.Session) store.Glimpse {
		n, _ := st.numberByName(s.ID)
		return st.glimpses[n]
	})
	if st.hasUnlinkedSessions() {
		st.only = slices.DeleteFunc(slices.Clone(st.only), func(i int) bool { return !st.glimpses[i].HasAll() })
		slices.SortStableFunc(st.only, func(a, b int) int { return cmp.Compare(st.glimpses[b].Newest, st.glimpses[a].Newest) })
	}
}
