package dockeragent

import (
	"database/sql/driver"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
)

// The columns that are not text, in either table.
var (
	wholeColumns = []string{
		"tools_approved", "input_tokens", "output_tokens", "send_user_message", "max_iterations", "starred", "thinking",
		"branch_parent_position", "split_diff_view", "position", "implicit", "first_kept_entry",
	}
	realColumns = []string{"cost"}
)

// set notes a column that gets a value of its own.
func (d *difference) set(e session.Edit, homes map[string]placed, sc *schema) error {
	table := e.Ref.Table
	if table == tableColumn {
		return onlyInColumn(e.Ref.Session)
	}
	if e.Op != session.Set || !sc.has(table, e.Field) {
		return noColumn(table, e.Field, sc)
	}
	value, err := typed(e.Field, e.Value)
	if err != nil {
		return err
	}
	rewrite := becomes(value, func(driver.Value) bool { return true })
	if table == tableSessions {
		if d.sessions[e.Ref.Key] == nil {
			d.sessions[e.Ref.Key] = rowEdit{}
		}
		d.sessions[e.Ref.Key][e.Field] = rewrite
		return nil
	}
	home, ok := homes[e.Ref.Row()]
	row, err := strconv.ParseInt(e.Ref.Key, 10, 64)
	if table != tableItems || !ok || err != nil {
		return noRecord(table, e.Ref.Key)
	}
	if d.items[row] == nil {
		d.items[row] = rowEdit{}
	}
	d.items[row][e.Field] = rewrite
	d.listed[home.session] = true
	return nil
}

// typed is a value as the column holds it; nil for NULL.
func typed(column string, text *string) (any, error) {
	if text == nil {
		return nil, nil
	}
	var value any
	var err error
	switch {
	case slices.Contains(wholeColumns, column):
		value, err = strconv.ParseInt(*text, 10, 64)
	case slices.Contains(realColumns, column):
		value, err = strconv.ParseFloat(*text, 64)
	default:
		return *text, nil
	}
	if err != nil {
		return nil, problem.New(problem.RolledBack, "", "%s cannot be set to %s: it holds numbers", column, idText(*text))
	}
	return value, nil
}
