package agenttest

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// UndecodableMessage cuts the JSON of a message in the middle.
func UndecodableMessage(row int64) Damage {
	return onStored("UndecodableMessage", row, func(stored string) string { return stored[:len(stored)/2] })
}

// InvalidUTF8 puts bytes into the text of a message that are no UTF-8.
func InvalidUTF8(row int64) Damage {
	return onStored("InvalidUTF8", row, func(stored string) string {
		return strings.Replace(stored, `"content":"`, `"content":"`+"caf\xe9 \xff", 1)
	})
}

// DeepJSON gives a message an unknown key with arrays inside arrays. Go's
// decoder refuses more than 10,000 levels.
func DeepJSON(row int64, depth int) Damage {
	return onStored("DeepJSON", row, func(stored string) string {
		deep := strings.Repeat("[", depth) + strings.Repeat("]", depth)
		return strings.TrimSuffix(stored, "}") + `,"deep":` + deep + "}"
	})
}

func onStored(name string, row int64, change func(string) string) Damage {
	return Damage{name: name, apply: func(db *DB) {
		var stored string
		db.scan([]any{&stored}, "SELECT message_json FROM session_items WHERE id = ?", row)
		if db.err == nil {
			db.setMessage(row, change(stored))
		}
	}}
}

// UnfinishedMessage takes from an answer what the runtime adds when streaming
// ends: the row looks like one that was cut off.
func UnfinishedMessage(row int64) Damage {
	return onMessage("UnfinishedMessage", row, func(m *Message) {
		*m = Message{Role: m.Role, Content: m.Content, ReasoningContent: m.ReasoningContent}
	})
}

// BlankMessage leaves nothing but white space of a message.
func BlankMessage(row int64) Damage {
	return onMessage("BlankMessage", row, func(m *Message) {
		*m = Message{Role: m.Role, Content: " \n", CreatedAt: m.CreatedAt, Model: m.Model}
	})
}

// UnknownRole gives a message a role that no provider knows.
func UnknownRole(row int64, role string) Damage {
	return onMessage("UnknownRole", row, func(m *Message) { m.Role = role })
}

// BadArguments cuts the arguments of the message's first call.
func BadArguments(row int64) Damage {
	return onCaller("BadArguments", row, func(m *Message) { m.ToolCalls[0].Function.Arguments = `{"cmd":"ls` })
}

// EmptyCallID takes the id from the message's first call.
func EmptyCallID(row int64) Damage {
	return onCaller("EmptyCallID", row, func(m *Message) { m.ToolCalls[0].ID = "" })
}

// DuplicateCallID repeats the message's first call.
func DuplicateCallID(row int64) Damage {
	return onCaller("DuplicateCallID", row, func(m *Message) {
		m.ToolCalls = append(m.ToolCalls, m.ToolCalls[0])
		m.ToolDefinitions = Define(m.ToolCalls)
	})
}

// TimeGoesBack dates a message one hour earlier.
func TimeGoesBack(row int64) Damage {
	return Damage{name: "TimeGoesBack", apply: func(db *DB) {
		db.edit(row, func(m *Message) {
			created, err := time.Parse(time.RFC3339, m.CreatedAt)
			db.fail(err)
			m.CreatedAt = stamp(created.Add(-time.Hour))
		})
	}}
}

// BadMessageTime gives a message a creation time that need not be one.
func BadMessageTime(row int64, createdAt string) Damage {
	return onMessage("BadMessageTime", row, func(m *Message) { m.CreatedAt = createdAt })
}

func onMessage(name string, row int64, change func(*Message)) Damage {
	return Damage{name: name, apply: func(db *DB) { db.edit(row, change) }}
}

// onCaller is a damage to a message that must have calls.
func onCaller(name string, row int64, change func(*Message)) Damage {
	return Damage{name: name, apply: func(db *DB) {
		db.edit(row, func(m *Message) {
			if len(m.ToolCalls) == 0 {
				db.fail(fmt.Errorf("the message of row %d has no calls", row))
				return
			}
			change(m)
		})
	}}
}

// MisplacedSystem stores a system message behind a row.
func MisplacedSystem(row int64) Damage {
	return Damage{name: "MisplacedSystem", apply: func(db *DB) {
		_, m := db.message(row)
		db.addAfter(row, "", Message{Role: roleSystem, Content: "Be brief.", CreatedAt: m.CreatedAt})
	}}
}

// StrayPromptCopy stores the text of a message once more as if the user had
// said it.
func StrayPromptCopy(row int64) Damage {
	return Damage{name: "StrayPromptCopy", apply: func(db *DB) {
		_, m := db.message(row)
		db.addAfter(row, "", Message{Role: roleUser, Content: m.Content, CreatedAt: m.CreatedAt})
	}}
}

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
