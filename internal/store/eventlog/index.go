package eventlog

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// entry is an event in the first pass.
type entry struct {
	row     table.Place
	at, tie int64
}

// orphans are the events of a session that does not exist.
type orphans struct {
	id   string
	key  string // of the first event
	rows []table.Place
}

// readEvents finds the events of every session, in their order.
func (st *logStore) readEvents(ctx context.Context) error {
	st.entries, st.links, st.unsaid = make([][]entry, len(st.list)), make([][]int, len(st.list)), make([][]string, len(st.list))
	strays := map[string]*orphans{}
	read, bytes := 0, 0
	columns := slices.Concat(st.layout.Place, []string{st.events.ID}, st.layout.LinkColumns)
	lost, err := st.eventsOf(ctx, st.only, columns, func(owner int, row Row) error {
		for _, value := range row.values {
			bytes += len(text(value))
		}
		if read++; read%4096 == 0 && st.progress != nil {
			st.progress(int64(bytes))
		}
		if owner < 0 {
			st.stray(strays, row)
			return nil
		}
		at, tie := st.layout.Order(row.Place, row)
		st.entries[owner] = append(st.entries[owner], entry{row.Place, at, tie})
		if st.layout.Links != nil {
			st.link(owner, row)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, events := range st.entries {
		slices.SortFunc(events, func(a, b entry) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.tie, b.tie), cmp.Compare(a.row, b.row))
		})
	}
	st.facts.Faults = append(st.facts.Faults, lost...)
	st.report(slices.Collect(maps.Values(strays)))
	return nil
}

// stray notes an event that belongs to no session.
func (st *logStore) stray(strays map[string]*orphans, row Row) {
	key := row.of(st.events.Key)
	joined := string(joinedKey(nil, key))
	o := strays[joined]
	if o == nil {
		missing := owner{key: key}
		missing.name = strings.Clone(missing.path())
		o = &orphans{id: missing.name, key: st.key(&missing, row)}
		strays[joined] = o
	}
	o.rows = append(o.rows, row.Place)
}

// report makes a fault for every session that is missing.
func (st *logStore) report(strays []*orphans) {
	slices.SortFunc(strays, func(a, b *orphans) int { return cmp.Compare(a.rows[0], b.rows[0]) })
	why := "which does not exist"
	if len(st.faults) > 0 {
		why = "whose own row is damaged or does not exist"
	}
	for _, o := range strays {
		count := "1 row"
		if len(o.rows) > 1 {
			count = fmt.Sprint(len(o.rows), " rows")
		}
		st.facts.Faults = append(st.facts.Faults, session.Fault{
			Kind: session.OrphanRecord, Item: -1, Ref: session.Ref{Session: o.id, Table: st.events.Name, Key: o.key}, Count: len(o.rows),
			Detail: fmt.Sprintf("%s has %s, from row %d on, of session %.60q, %s", st.events.Name, count, o.rows[0], o.id, why),
		})
		for _, row := range o.rows {
			st.orphaned[row] = true
		}
	}
}
