package dockeragent

import (
	"context"
	"database/sql/driver"
	"encoding/json"

	"github.com/sessctl/sessctl/internal/session"
)

// rebuildColumns brings the legacy column (generations 014 to 019) of the
// sessions whose items changed up to date, and of those that contain them.
// docker agent keeps the column of a session that was written to, and of a child
// whose parent was; deeper ones have none. A session that docker agent could not
// load keeps its old column, as it does there; one whose items are nowhere else
// keeps it too, and all that contain such a one; and so does one whose column
// holds more than its rows (SC005): nothing else has the rest.
func (w *writer) rebuildColumns(ctx context.Context) error {
	if !w.schema.hasColumn() {
		return nil
	}
	behind := w.behind()
	if len(behind) == 0 {
		return nil
	}
	var all idList
	kept := map[string]bool{}
	for _, s := range w.change.After.Sessions {
		all = append(all, s.ID)
		kept[s.ID] = columnOnly(s)
	}
	source, err := readColumnSource(ctx, w.edit.DB(), w.schema, all)
	if err != nil {
		return err
	}
	source.kept = kept
	rows, err := w.rowsOf(ctx, behind)
	if err != nil {
		return err
	}
	for _, id := range behind {
		row, exists := rows[id]
		list, err := source.list(id)
		if err != nil || !exists {
			continue
		}
		column, err := json.Marshal(list)
		if err != nil {
			continue
		}
		first := w.getsColumn(id)
		rewrite := func(stored driver.Value) (any, bool) {
			if stored == nil && !first {
				return nil, true
			}
			if holdsMore(stored, w.change.Before, id) {
				return stored, true
			}
			return string(column), true
		}
		if err := w.update(ctx, tableSessions, map[int64]rowEdit{row: {"messages": rewrite}}); err != nil {
			return err
		}
	}
	return nil
}

// getsColumn reports whether a session is new and a child of a root.
func (w *writer) getsColumn(id string) bool {
	if w.change.Before.Session(id) != nil {
		return false
	}
	parent := w.change.After.Session(w.change.After.Session(id).Parent)
	return parent != nil && parent.Parent == ""
}

// behind are the sessions of the new tree whose column is no longer right: the
// changed ones, and all that contain one of them, as parents or by reference.
func (w *writer) behind() idList {
	above := map[string][]string{}
	for _, s := range w.change.After.Sessions {
		above[s.ID] = append(above[s.ID], s.Parent)
		for i := range s.Items {
			if it := &s.Items[i]; it.Kind == session.SubSession {
				above[it.Child] = append(above[it.Child], s.ID)
			}
		}
	}
	found := map[string]bool{}
	var mark func(id string)
	mark = func(id string) {
		if found[id] {
			return
		}
		found[id] = true
		for _, a := range above[id] {
			mark(a)
		}
	}
	for id, changed := range w.listed {
		if changed {
			mark(id)
		}
	}
	var list idList
	for _, s := range w.change.After.Sessions {
		if found[s.ID] {
			list = append(list, s.ID)
		}
	}
	return list
}
