package dockeragent

import (
	"database/sql/driver"
	"maps"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
)

// item compares what may change of an item that stays, and says whether
// anything does.
func (d *difference) item(from, to placed, sc *schema) (bool, error) {
	was, now := from.item, to.item
	inSession := func(v driver.Value) bool { return textOf(v) == from.session }
	atPosition := func(v driver.Value) bool { return sortKey(v) == was.Position }
	edits := rowEdit{}
	if from.session != to.session {
		edits["session_id"] = becomes(to.session, inSession)
	}
	if now.Position != was.Position || from.odd && !to.odd {
		edits["position"] = becomes(now.Position, atPosition)
	}
	if now.Agent != was.Agent {
		edits["agent_name"] = becomes(now.Agent, func(v driver.Value) bool { return textOf(v) == was.Agent })
	}
	if now.KeptFrom != was.KeptFrom {
		if !sc.has(tableItems, "first_kept_entry") {
			return false, noColumn(tableItems, "first_kept_entry", sc)
		}
		edits["first_kept_entry"] = becomes(now.KeptFrom, func(v driver.Value) bool { n, _ := v.(int64); return n == was.KeptFrom })
	}
	said, err := rewordings(was, now)
	if err != nil {
		return false, err
	}
	if len(said) > 0 {
		edits["message_json"] = reword(said, len(was.Calls))
	}
	if len(edits) == 0 {
		return false, nil
	}
	row, err := rowOf(from)
	if err != nil {
		return false, err
	}
	all := rowEdit{"session_id": stays(inSession), "position": stays(atPosition)}
	maps.Copy(all, d.items[row]) // values of their own
	maps.Copy(all, edits)
	if from.session != to.session {
		d.moved = append(d.moved, row)
	}
	d.items[row] = all
	return true, nil
}

// rowOf is the row of a stored item.
func rowOf(p placed) (int64, error) {
	if p.item.Table == tableColumn {
		return 0, onlyInColumn(p.session)
	}
	row, err := strconv.ParseInt(p.item.Key, 10, 64)
	if err != nil {
		return 0, noRecord(p.item.Table, p.item.Key)
	}
	return row, nil
}

// inRows makes sure that all items of a session are rows: one row would hide
// what only the old column holds (2.4).
func inRows(lists ...*session.Session) error {
	for _, s := range lists {
		if s == nil {
			continue
		}
		if columnOnly(s) {
			return onlyInColumn(s.ID)
		}
	}
	return nil
}

// columnOnly reports whether a session has something in the old column and no
// rows: the column is read for no other session.
func columnOnly(s *session.Session) bool {
	return slices.ContainsFunc(s.Items, func(it session.Item) bool { return it.Table == tableColumn }) ||
		slices.ContainsFunc(s.Faults, func(f session.Fault) bool { return f.Field == columnField && f.Item < 0 })
}

func onlyInColumn(session string) error {
	return problem.New(problem.RolledBack, "start the docker agent that wrote the store once: it moves them into the item table when it can",
		"session %s cannot be repaired: its items exist only in the old messages column", session)
}

func noColumn(table, column string, sc *schema) error {
	return problem.New(problem.RolledBack, "", "%s cannot be set: table %s of schema generation %s has no such column", column, table, sc.name())
}

func noRecord(table, key string) error {
	return problem.New(problem.RolledBack, "", "record %s of %s cannot be changed: it is not in the store under that key", idText(key), table)
}
