package dockeragent

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// readTreeByIndex reads the tree of one session by keys. word is its id, or how no other begins.
// A damaged index hides rows, so what is stored twice is compared. The error says what does
// not agree, or why there is nothing to compare: then only a full read can tell.
func (st *agentStore) readTreeByIndex(ctx context.Context, word string) error {
	sc := &st.schema
	usual := !slices.ContainsFunc(st.facts.Faults, func(f session.Fault) bool { return f.Kind != session.Housekeeping })
	if !usual || !sc.hasItems() || len(sc.later)+len(sc.doubts)+len(sc.ties) > 0 {
		return errors.New("the file or its schema is not as docker agent makes it")
	}
	ids, err := st.findLinkedSessions(ctx, word)
	if err != nil {
		return fmt.Errorf("its indexes do not tell all: %w", err)
	}
	indexes := map[string][]string{
		tableSessions: {"sqlite_autoindex_sessions_1"},
		tableItems:    {"idx_session_items_session", "idx_session_items_session_type"},
	}
	only := ids.rowSubset()
	for table, by := range only {
		rows, err := st.db.IndexedRows(ctx, table, by[0], by[1], indexes[table]...)
		if err != nil {
			return err
		}
		list, _ := json.Marshal(rows) // never fails on numbers
		only[table] = [2]string{sc.rowid[table], string(list)}
	}
	if err := st.readRows(ctx, only, true); err != nil {
		return err
	}
	if len(st.trees) != 1 || len(st.sessions) != len(ids) || len(st.numbers) != len(ids) {
		return errors.New("rows are not what the indexes say of them, or a session is missing")
	}
	st.facts.Read = session.ByIndex
	return st.verifyComplete()
}

// findLinkedSessions finds the sessions of the tree of one.
func (st *agentStore) findLinkedSessions(ctx context.Context, word string) (idList, error) {
	var odd bool
	err := st.db.QueryRow(ctx, `select (select total(1) from sessions indexed by sqlite_autoindex_sessions_1)
			<> (select total(1) from sessions indexed by idx_sessions_parent_id)
		or exists(select 1 from sessions indexed by sqlite_autoindex_sessions_1 where id is null or id >= x'')
		or exists(select 1 from session_items indexed by idx_session_items_session where session_id <= '' or session_id >= x'')`).Scan(&odd)
	if err != nil || odd {
		return nil, cmp.Or(err, errors.New("the indexes of its sessions do not agree, or some sessions have no usual id"))
	}
	var id, next sql.NullString
	err = st.db.QueryRow(ctx, `select id, (select min(id) from sessions indexed by sqlite_autoindex_sessions_1 where id > first.id)
		from (select min(id) as id from sessions indexed by sqlite_autoindex_sessions_1 where id >= ?) first`, word).Scan(&id, &next)
	if err != nil || !strings.HasPrefix(id.String, word) || id.String != word && strings.HasPrefix(next.String, word) {
		return nil, cmp.Or(err, errors.New("no id begins so, or several do"))
	}
	links, err := st.readLinks(ctx)
	return slices.Sorted(maps.Keys(findReachable(links, id.String))), err
}

// findReachable finds the sessions that links lead to, directly or not, and those that they begin from.
func findReachable(links map[string]idList, from ...string) map[string]bool {
	found := map[string]bool{}
	for len(from) > 0 {
		id := from[0]
		if from = from[1:]; !found[id] {
			found[id], from = true, append(from, links[id]...)
		}
	}
	return found
}

// readLinks reads, of each session, its parent, its children, and the sessions that refer to it or that
// it refers to in its items. The old column makes the parents in the table slow to reach.
// One visit to a session finds what it refers to and, where there is the old column, tells
// whether it has rows: without any, its items are in that column.
func (st *agentStore) readLinks(ctx context.Context) (map[string]idList, error) {
	parents, others := "not indexed", "null"
	if st.schema.hasMessagesColumn() {
		parents = "indexed by idx_sessions_parent_id"
		others = `case when exists(select 1 from session_items indexed by idx_session_items_session_type
			where session_id = s.id) then null when octet_length(messages) > 2 then '' end` // an AND may do its second part first, which reads a page
	}
	links := map[string]idList{}
	return links, st.db.Scan(ctx, "select count({scan}(a, b)) from (select id as a, parent_id as b from sessions "+parents+` where parent_id > ''
		union all select s.id, coalesce(i.subsession_id, `+others+`) from sessions s indexed by sqlite_autoindex_sessions_1
			left join session_items i indexed by idx_session_items_session_type
			on i.session_id = s.id and i.item_type = 'subsession' and i.subsession_id > '')`, func(v []driver.Value) error {
		if v[1] == nil {
			return nil
		}
		a, isText := v[0].(string)
		b, isAlso := v[1].(string)
		if !isText || !isAlso || b == "" {
			return errors.New("some sessions have no usual id, or items in the old column and no rows")
		}
		a, b = strings.Clone(a), strings.Clone(b)
		links[a], links[b] = append(links[a], b), append(links[b], a)
		return nil
	})
}

// verifyComplete is what tells that there is more of the tree than was read.
func (st *agentStore) verifyComplete() error {
	for _, s := range st.copyWithItems(st.trees[0]).Sessions {
		if s.Parent != "" && st.findSession(s.Parent) == nil {
			return errors.New("a parent is not where the index says")
		}
		for i := range s.Items {
			if s.Items[i].Position != int64(i) {
				return errors.New("the positions of its items have gaps")
			}
		}
		for _, f := range s.Faults {
			if f.Kind == session.StoreDamaged || f.Kind == session.LegacyFuller || f.Kind == session.Housekeeping {
				return errors.New("its sessions tell of more items")
			}
		}
	}
	return nil
}
