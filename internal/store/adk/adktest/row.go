package adktest

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// field is a column with its value.
type field struct {
	column string
	value  any
}

type fields []field

func insert(tx *sql.Tx, table string, row fields) error {
	columns, values := make([]string, len(row)), make([]any, len(row))
	for i, f := range row {
		columns[i], values[i] = f.column, f.value
	}
	_, err := tx.Exec(fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)",
		table, strings.Join(columns, ", "), strings.Repeat(", ?", len(row)-1)), values...)
	return err
}

// row is an event as the generation stores it; columns that are not named are NULL.
func (g Generation) row(s Session, e *Event) (fields, error) {
	row := fields{
		{"id", e.ID}, {"app_name", s.App}, {"user_id", s.User}, {"session_id", s.ID},
		{"invocation_id", e.Invocation}, {"timestamp", g.stamp(e.Time)},
	}
	if g.inJSON() {
		data := e.data()
		if g == J1 {
			data = e.dataJS()
		}
		return append(row, field{"event_data", document(data, false)}), nil
	}
	actions, err := g.actions(e.Actions)
	row = append(row, field{"author", e.Author}, field{"branch", orNil(e.Branch)}, field{"content", g.content(e)}, field{"actions", actions})
	if g != P0First {
		row = append(row, field{"long_running_tool_ids_json", waits(e)})
	}
	if g.isGo() {
		row = append(row, field{"partial", 0}, field{"turn_complete", turnComplete(e)}, field{"interrupted", 0})
	}
	if g == G2 {
		row = append(row, field{"isolation_scope", orNil(e.Scope)}, field{"node_info_json", nodeInfo(e)})
	}
	return row, err
}

func (g Generation) content(e *Event) any {
	if len(e.Parts) == 0 {
		return nil
	}
	return document(e.content(), g.isGo())
}

func (g Generation) actions(a Actions) ([]byte, error) {
	switch g {
	case G1:
		return []byte(document(a.pascal(), false)), nil
	case G2:
		return []byte(document(a.golang(), true)), nil
	}
	return a.pickled()
}

func waits(e *Event) any {
	if len(e.Waits) == 0 {
		return nil
	}
	text, _ := json.Marshal(e.Waits) // texts always have a form
	return string(text)
}

func nodeInfo(e *Event) any {
	if e.Node == "" {
		return nil
	}
	return document(object{{"path", e.Node}}, true)
}

// turnComplete is true of what a model said, calls included.
func turnComplete(e *Event) int {
	if e.role() == "model" {
		return 1
	}
	return 0
}

// stamp is a time as the generation stores it in a column.
func (g Generation) stamp(t time.Time) any {
	switch {
	case g == PS:
		return seconds(t)
	case g == J1:
		return t.UnixMilli()
	case g.isGo():
		return t.Format("2006-01-02 15:04:05.999999-07:00")
	}
	return t.Format("2006-01-02 15:04:05.000000") // of the zone in which the service runs
}
