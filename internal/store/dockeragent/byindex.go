package dockeragent

import (
	"cmp"
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
)

// byIndex reads the tree of one session by keys. word is its id, or how no other begins.
// A damaged index hides rows, so what is stored twice is compared. The error says what does
// not agree, or why there is nothing to compare: then only a full read can tell.
func (st *agentStore) byIndex(ctx context.Context, word string) error {
	sc := &st.schema
	usual := !slices.ContainsFunc(st.facts.Faults, func(f session.Fault) bool { return f.Kind != session.Housekeeping })
	if !usual || !sc.hasItems() || len(sc.later)+len(sc.doubts)+len(sc.ties) > 0 {
		return errors.New("the file or its schema is not as docker agent makes it")
	}
	ids, err := st.linked(ctx, word)
	if err != nil {
		return err
	}
	indexes := map[string][]string{
		tableSessions: {"sqlite_autoindex_sessions_1"},
		tableItems:    {"idx_session_items_session", "idx_session_items_session_type"},
	}
	only := ids.rows()
	for table, by := range only {
		rows, err := st.db.Indexed(ctx, table, by[0], by[1], indexes[table]...)
		if err != nil {
			return err
		}
		list, _ := json.Marshal(rows) // never fails on numbers
		only[table] = [2]string{sc.rowid[table], string(list)}
	}
	if err := st.read(ctx, only, true); err != nil {
		return err
	}
	if len(st.trees) != 1 || len(st.sessions) != len(ids) || len(st.numbers) != len(ids) {
		return errors.New("rows are not what the indexes say of them, or a session is missing")
	}
	st.facts.Read = session.ByIndex
	return st.doubt()
}

// linked are the sessions of the tree of one: by their parents, and by items that refer to
// sessions. The old column makes the parents in the table slow to reach.
func (st *agentStore) linked(ctx context.Context, word string) (idList, error) {
	odd := `select (select total(1) from sessions indexed by sqlite_autoindex_sessions_1)
			<> (select total(1) from sessions indexed by idx_sessions_parent_id)
		or exists(select 1 from sessions indexed by sqlite_autoindex_sessions_1 where id is null or id >= x'')
		or exists(select 1 from session_items indexed by idx_session_items_session where session_id <= '' or session_id >= x'')`
	parents := "not indexed"
	if st.schema.hasColumn() { // a session without rows has its items there
		odd += ` or exists(select 1 from sessions s indexed by sqlite_autoindex_sessions_1 where not exists(
			select 1 from session_items i indexed by idx_session_items_session where i.session_id = s.id) and octet_length(messages) > 2)`
		parents = "indexed by idx_sessions_parent_id"
	}
	each := func(query string, args ...any) (list idList, err error) {
		err = st.db.Scan(ctx, query, func(v []driver.Value) error {
			list = append(list, strings.Clone(column.View(v[0])))
			return nil
		}, args...)
		if err != nil {
			err = fmt.Errorf("an index is missing or damaged: %w", err)
		}
		return list, err
	}
	if found, err := each("select count({scan}(odd)) from (" + odd + " as odd)"); err != nil || found[0] != "0" {
		return nil, cmp.Or(err, errors.New("the indexes of its sessions do not agree, or some sessions have no usual id or no rows"))
	}
	first, err := each("select count({scan}(id)) from (select id from sessions indexed by sqlite_autoindex_sessions_1 where id >= ? order by id limit 2)", word)
	if err != nil {
		return nil, err
	}
	if len(first) == 0 || !strings.HasPrefix(first[0], word) || first[0] != word && len(first) > 1 && strings.HasPrefix(first[1], word) {
		return nil, errors.New("no id begins so, or several do")
	}
	return each(`with recursive parents(id, parent) as materialized (
			select id, parent_id from sessions `+parents+` where parent_id > ''
		), refers(owner, child) as materialized (
			select s.id, i.subsession_id from sessions s indexed by sqlite_autoindex_sessions_1
			cross join session_items i indexed by idx_session_items_session_type
			where i.session_id = s.id and i.item_type = 'subsession' and i.subsession_id > ''
		), links(a, b) as materialized (select * from parents union all select * from refers union all select parent, id from parents union all select child, owner from refers
		), linked(id) as (values (?) union select b from linked cross join links on a = id)
		select count({scan}(id)) from linked`, first[0])
}

// doubt is what tells that there is more of the tree than was read.
func (st *agentStore) doubt() error {
	for _, s := range st.filled(st.trees[0]).Sessions {
		if s.Parent != "" && st.find(s.Parent) == nil {
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
