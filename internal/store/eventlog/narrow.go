package eventlog

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/table"
)

// narrowSessions leaves out the sessions of trees that nobody asked for, where the database can
// leave their events where they are. An id that no session begins with narrows nothing: it
// may be words of a title.
func (st *logStore) narrowSessions(ctx context.Context, opts store.Options) error {
	byIndex := opts.Only != "" && !opts.Deep
	keep := opts.Keep
	if byIndex {
		keep = func(heads *session.Tree, _ time.Time) bool { return strings.HasPrefix(heads.Root().ID, opts.Only) }
	}
	if keep == nil || !st.db.About().Remote {
		return nil
	}
	recent, err := st.recentSessions(ctx, opts.Since)
	if err != nil {
		return err
	}
	heads := st.heads
	if st.hasUnlinkedSessions() {
		if heads, err = st.headsOf(ctx, st.only); err != nil {
			return err
		}
	}
	wanted := map[string]bool{}
	for i, head := range heads {
		newest := time.Time{}
		if recent != nil && !recent[i] {
			newest = opts.Since.Add(-1)
		}
		if keep(&session.Tree{Sessions: []*session.Session{head}}, newest) {
			wanted[st.treeKey(i)] = true
		}
	}
	var list []int
	for i := range heads {
		if wanted[st.treeKey(i)] {
			list = append(list, i)
		}
	}
	if len(list) == len(heads) || byIndex && list == nil {
		return nil
	}
	st.alone = byIndex
	for i := range st.heads {
		if _, found := slices.BinarySearch(list, i); !found {
			st.heads[i] = nil
		}
	}
	st.only, st.narrowed = append([]int{}, list...), true
	return nil
}

// treeKey is what a session has in common with all that can be in its tree: its key, but
// for the id where sessions are linked.
func (st *logStore) treeKey(i int) string {
	if !st.hasUnlinkedSessions() {
		return string(joinedKey(nil, *st.list[i].within))
	}
	return string(joinedKey(nil, st.list[i].keyValues()))
}

// recentSessions are the sessions with an event that may have come since then. nil for all: where
// trees have several sessions, each of them would have to be asked.
func (st *logStore) recentSessions(ctx context.Context, since time.Time) (map[int]bool, error) {
	if since.IsZero() || !st.layout.Timed || !st.hasUnlinkedSessions() {
		return nil, nil
	}
	recent := map[int]bool{}
	late := table.Selection{Table: st.events.Name, Columns: st.events.Key, Times: st.layout.Place[0], Since: since, Glance: true}
	lost, err := st.db.Scan(ctx, late, func(_ table.Place, row []table.Value) error {
		if i, ok := st.numberByKey(row); ok {
			recent[i] = true
		}
		return nil
	})
	if lost != nil {
		return nil, err
	}
	return recent, err
}

// scanOwnerless hands over the events whose session does not exist. Where a foreign key leads
// to the sessions there are none.
func (st *logStore) scanOwnerless(ctx context.Context, names []string, fn func(owner int, row Row) error) error {
	if slices.Contains(st.schema.Tables[st.events.Name].Parents, st.sessions.Name) {
		return nil
	}
	c := st.events.pickColumns(slices.Concat(st.events.Key, names))
	rows := table.Selection{
		Table: st.events.Name, Columns: c.list, Key: st.events.Key,
		Lacking: &table.Selection{Table: st.sessions.Name, Columns: st.sessions.Key},
	}
	_, err := st.db.Scan(ctx, rows, func(at table.Place, values []table.Value) error {
		row := Row{at, c.names, values}
		if _, owned := st.numberByKey(row.valuesOf(st.events.Key)); owned { // by other rules of equality
			return nil
		}
		return fn(-1, row)
	})
	return err
}

// Begins counts the sessions whose ids begin so, with those that were left out.
func (st *logStore) Begins(id string) int {
	n := 0
	for i := range st.list {
		if strings.HasPrefix(st.list[i].name, id) {
			n++
		}
	}
	return n
}
