package agenttest

import "fmt"

// DropResult loses the result of a call, as a cancelled run does. Its row names
// the result.
func DropResult(row int64) Damage {
	return onResult("DropResult", row, func(db *DB, _ string, _ Message) { db.remove(row) })
}

// DuplicateResult stores a result twice in a row.
func DuplicateResult(row int64) Damage {
	return onResult("DuplicateResult", row, func(db *DB, agent string, m Message) { db.addAfter(row, agent, m) })
}

// ConflictingResult stores a second result of the same call that says something
// else.
func ConflictingResult(row int64, text string) Damage {
	return onResult("ConflictingResult", row, func(db *DB, agent string, m Message) {
		m.Content = text
		db.addAfter(row, agent, m)
	})
}

// DelayResult moves a result behind the next k items.
func DelayResult(row, k int64) Damage {
	return onResult("DelayResult", row, func(db *DB, _ string, _ Message) {
		_, position := db.place(row)
		db.move(row, position+k)
	})
}

// EarlyResult moves a result before the message with its call.
func EarlyResult(row int64) Damage {
	return onResult("EarlyResult", row, func(db *DB, _ string, m Message) {
		session, position := db.place(row)
		var caller int64
		db.scan([]any{&caller}, `SELECT position FROM session_items, json_each(message_json, '$.tool_calls') AS call
			WHERE session_id = ? AND position < ? AND call.value->>'id' = ? ORDER BY position DESC LIMIT 1`,
			session, position, m.ToolCallID)
		db.move(row, caller)
	})
}

// OrphanResult stores, behind a row, the result of a call that nobody made.
func OrphanResult(row int64, callID string) Damage {
	return Damage{name: "OrphanResult", apply: func(db *DB) {
		agent, m := db.message(row)
		db.addAfter(row, agent, Message{Role: roleTool, Content: "found nothing", ToolCallID: callID, CreatedAt: m.CreatedAt})
	}}
}

// LoseCall removes the calls of an assistant message, so that their results
// answer nothing.
func LoseCall(row int64) Damage {
	return onCaller("LoseCall", row, func(m *Message) { m.ToolCalls, m.ToolDefinitions = nil, nil })
}

// ResultAgentMismatch puts another agent's name on a result.
func ResultAgentMismatch(row int64, agent string) Damage {
	return onResult("ResultAgentMismatch", row, func(db *DB, _ string, _ Message) {
		db.change("UPDATE session_items SET agent_name = ? WHERE id = ?", agent, row)
	})
}

// ConcurrentUser stores a user message before a result, as a second terminal on
// the same session does.
func ConcurrentUser(row int64, text string) Damage {
	return onResult("ConcurrentUser", row, func(db *DB, _ string, m Message) {
		session, position := db.place(row)
		db.insertMessage(session, position, "", encode(Message{Role: roleUser, Content: text, CreatedAt: m.CreatedAt}))
	})
}

// onResult is a damage to a row that must hold a result.
func onResult(name string, row int64, apply func(db *DB, agent string, m Message)) Damage {
	return Damage{name: name, apply: func(db *DB) {
		agent, m := db.message(row)
		if db.err == nil && m.Role != roleTool {
			db.fail(fmt.Errorf("row %d is no result but a message of role %s", row, m.Role))
		}
		apply(db, agent, m)
	}}
}

func (db *DB) addAfter(row int64, agent string, m Message) {
	session, position := db.place(row)
	db.insertMessage(session, position+1, agent, encode(m))
}
