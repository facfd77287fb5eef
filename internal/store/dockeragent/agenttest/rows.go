package agenttest

import (
	"database/sql"
	"encoding/json"
	"errors"
)

// itemRow is a row of session_items.
type itemRow struct {
	id, position                   int64
	kind                           string
	agent, message, child, summary sql.NullString
	implicit                       bool
}

// itemRows reads the rows of a session in stored order.
func (db *DB) itemRows(session string) []itemRow {
	if db.err != nil {
		return nil
	}
	rows, err := db.SQL.Query(`SELECT id, position, item_type, agent_name, message_json, implicit, subsession_id, summary_text
		FROM session_items WHERE session_id = ? ORDER BY position, id`, session)
	if err != nil {
		db.fail(err)
		return nil
	}
	var list []itemRow
	for rows.Next() {
		var r itemRow
		db.fail(rows.Scan(&r.id, &r.position, &r.kind, &r.agent, &r.message, &r.implicit, &r.child, &r.summary))
		list = append(list, r)
	}
	db.fail(errors.Join(rows.Err(), rows.Close()))
	return list
}

// Kind selects rows of session_items.
type Kind string

// The kinds of rows that damages apply to.
const (
	Messages   Kind = "item_type = 'message'"
	Users      Kind = "message_json->>'role' = 'user' AND NOT implicit"
	Assistants Kind = "message_json->>'role' = 'assistant'"
	Callers    Kind = "json_array_length(message_json, '$.tool_calls') > 0"
	Results    Kind = "message_json->>'role' = 'tool'"
	References Kind = "item_type = 'subsession'"
	Summaries  Kind = "item_type = 'summary'"
)

// Rows lists the rows of a kind, by row id. All messages must be valid JSON.
func (db *DB) Rows(kind Kind) []int64 {
	return list[int64](db, "SELECT id FROM session_items WHERE "+string(kind)+" ORDER BY id")
}

// list reads the first column of a query.
func list[T any](db *DB, query string, args ...any) []T {
	if db.err != nil {
		return nil
	}
	rows, err := db.SQL.Query(query, args...)
	if err != nil {
		db.fail(err)
		return nil
	}
	var values []T
	for rows.Next() {
		var v T
		db.fail(rows.Scan(&v))
		values = append(values, v)
	}
	db.fail(errors.Join(rows.Err(), rows.Close()))
	return values
}

// role is the role of a message row, "" for other rows.
func (r *itemRow) role() string {
	var m Message
	if r.kind != "message" || json.Unmarshal([]byte(r.message.String), &m) != nil {
		return ""
	}
	return m.Role
}
