package agenttest

import (
	"errors"
	"fmt"
)

// EmptySummary takes the text of a summary.
func EmptySummary(row int64) Damage {
	return sets("EmptySummary", "UPDATE session_items SET summary_text = '' WHERE id = ? AND item_type = 'summary'", row)
}

// BadUsage cuts the usage of a summary. It needs generation 25.
func BadUsage(row int64) Damage {
	return Damage{name: "BadUsage", apply: func(db *DB) {
		db.needs(25, "usage_json")
		db.change(`UPDATE session_items SET usage_json = '{"input_tokens":' WHERE id = ? AND item_type = 'summary'`, row)
	}}
}

// BoundaryInsidePair lets the tail that a summary keeps begin with a result
// whose call it does not keep.
func BoundaryInsidePair(row int64) Damage {
	return boundary("BoundaryInsidePair", row, func(rows []itemRow, summary int) int {
		for i := summary - 1; i > 0; i-- {
			if rows[i].role() == roleTool {
				return i
			}
		}
		return 0
	})
}

// BoundaryOutOfRange lets the tail that a summary keeps begin behind the last
// item.
func BoundaryOutOfRange(row int64) Damage {
	return boundary("BoundaryOutOfRange", row, func(rows []itemRow, _ int) int { return len(rows) + 5 })
}

// BoundaryInHistory lets the tail that a summary keeps begin before an earlier
// summary.
func BoundaryInHistory(row int64) Damage {
	return boundary("BoundaryInHistory", row, func(rows []itemRow, summary int) int {
		earlier := summary - 1
		for earlier > 0 && rows[earlier].kind != "summary" {
			earlier--
		}
		for i := earlier - 1; i > 0; i-- {
			if rows[i].role() == roleUser || rows[i].role() == roleAssistant {
				return i
			}
		}
		return 0
	})
}

// boundary sets first_kept_entry of a summary to an index of the list that the
// runtime loads; choose returns 0 when there is no such place. It needs
// generation 21.
func boundary(name string, row int64, choose func(rows []itemRow, summary int) int) Damage {
	return Damage{name: name, apply: func(db *DB) {
		db.needs(21, "first_kept_entry")
		session, _ := db.place(row)
		rows := db.itemRows(session)
		for i := range rows {
			if rows[i].id != row {
				continue
			}
			index := choose(rows, i)
			if index == 0 {
				db.fail(fmt.Errorf("the session of row %d has no place for such a boundary", row))
			}
			db.change("UPDATE session_items SET first_kept_entry = ? WHERE id = ? AND item_type = 'summary'", index, row)
			return
		}
		db.fail(errors.New("no such summary"))
	}}
}
