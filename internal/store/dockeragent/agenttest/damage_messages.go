package agenttest

import (
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
