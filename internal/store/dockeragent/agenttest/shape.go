package agenttest

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Shape describes what all sessions of a database say and in which order,
// without ids of sessions, times, costs and models: one line for each item,
// with the items of a sub-session indented below its reference. Databases that
// hold the same conversations have the same shape. Sessions that nothing
// refers to come in the order in which they were written.
func Shape(db *sql.DB) (string, error) {
	rows, err := readShapeRows(db)
	if err != nil {
		return "", err
	}
	byID := map[string][]shapeRow{}
	referred := map[string]bool{}
	for _, r := range rows {
		byID[r.session] = append(byID[r.session], r)
		referred[r.child.String] = true
	}
	sessions, err := sessionIDs(db)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, s := range sessions {
		if referred[s.id] {
			continue
		}
		fmt.Fprintf(&b, "session %q child=%t\n", s.title, s.child)
		if err := writeShape(&b, byID, s.id, 1); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

type shapeRow struct {
	id                             int64
	session, kind                  string
	agent, message, child, summary sql.NullString
	implicit                       bool
}

// readShapeRows reads all items in the order that a reader sees.
func readShapeRows(db *sql.DB) ([]shapeRow, error) {
	rows, err := db.Query(`SELECT id, session_id, item_type, agent_name, message_json, subsession_id, summary_text, implicit
		FROM session_items ORDER BY session_id, position, id`)
	if err != nil {
		return nil, err
	}
	var list []shapeRow
	for rows.Next() {
		var r shapeRow
		if err := rows.Scan(&r.id, &r.session, &r.kind, &r.agent, &r.message, &r.child, &r.summary, &r.implicit); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		list = append(list, r)
	}
	return list, errors.Join(rows.Err(), rows.Close())
}

type shapeSession struct {
	id, title string
	child     bool
}

func sessionIDs(db *sql.DB) ([]shapeSession, error) {
	rows, err := db.Query("SELECT id, COALESCE(title, ''), COALESCE(parent_id, '') != '' FROM sessions ORDER BY rowid")
	if err != nil {
		return nil, err
	}
	var list []shapeSession
	for rows.Next() {
		var s shapeSession
		if err := rows.Scan(&s.id, &s.title, &s.child); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		list = append(list, s)
	}
	return list, errors.Join(rows.Err(), rows.Close())
}

func writeShape(b *strings.Builder, byID map[string][]shapeRow, id string, depth int) error {
	if depth > 100 {
		return fmt.Errorf("session %s: sub-sessions nest deeper than 100, or in a circle", id)
	}
	for _, r := range byID[id] {
		fmt.Fprintf(b, "%s%s", strings.Repeat("  ", depth), r.kind)
		switch {
		case r.child.Valid:
			b.WriteByte('\n')
			if err := writeShape(b, byID, r.child.String, depth+1); err != nil {
				return err
			}
			continue
		case r.kind == "message":
			if err := writeMessageShape(b, &r); err != nil {
				return fmt.Errorf("session_items row %d: %w", r.id, err)
			}
		case r.summary.Valid:
			fmt.Fprintf(b, " %q", r.summary.String)
		}
		b.WriteByte('\n')
	}
	return nil
}

func writeMessageShape(b *strings.Builder, r *shapeRow) error {
	var m Message
	if err := json.Unmarshal([]byte(r.message.String), &m); err != nil {
		return err
	}
	fmt.Fprintf(b, " agent=%q %s %q", r.agent.String, m.Role, m.Content)
	if m.ReasoningContent != "" {
		fmt.Fprintf(b, " reasoning=%q", m.ReasoningContent)
	}
	for _, call := range m.ToolCalls {
		fmt.Fprintf(b, " call[%s %s %s]", call.ID, call.Function.Name, sortedKeys(call.Function.Arguments))
	}
	if m.ToolCallID != "" {
		fmt.Fprintf(b, " result[%s error=%t]", m.ToolCallID, m.IsError)
	}
	if r.implicit {
		b.WriteString(" implicit")
	}
	return nil
}

// sortedKeys is the JSON text with sorted keys, or the text itself when it does
// not parse.
func sortedKeys(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return string(encode(v))
}
