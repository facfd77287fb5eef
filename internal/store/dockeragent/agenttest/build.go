package agenttest

import (
	"fmt"
	"time"
)

// Session writes the items of one session, in the order of the calls.
type Session struct {
	ID string

	db    *DB
	row   SessionRow
	lags  bool    // the messages column is behind the items
	items []*Item // before generation 14 only: the messages column is the only copy
}

// Item is a stored item of a session.
type Item struct {
	Row int64 // session_items.id; 0 before generation 14

	session  *Session
	agent    string
	implicit bool
	message  []byte
	child    *Session
	summary  *Summary
}

// Root creates a session that a user started.
func (db *DB) Root(row SessionRow) *Session {
	row.SendUserMessage = true
	return db.newSession(row)
}

// Child creates a sub-session. The runtime writes it when it is complete, so
// its items come next, and SubSession adds the reference to it at last.
func (s *Session) Child(row SessionRow) *Session {
	row.Parent = s.ID
	return s.db.newSession(row)
}

func (db *DB) newSession(row SessionRow) *Session {
	if row.ID == "" {
		row.ID = db.newID()
	}
	if row.CreatedAt.IsZero() {
		row.CreatedAt = db.now
	}
	s := &Session{ID: row.ID, db: db, row: row}
	if row.Parent == "" || db.Generation >= withItems { // a child had no row of its own before
		db.insertSession(&row)
	}
	return s
}

// User adds what the user said.
func (s *Session) User(text string) *Item {
	return s.Message("", Message{Role: roleUser, Content: text}, false)
}

// ImplicitUser adds a user message that people do not see, as the one that
// starts a child.
func (s *Session) ImplicitUser(text string) *Item {
	return s.Message("", Message{Role: roleUser, Content: text}, true)
}

// System adds a system message.
func (s *Session) System(text string) *Item {
	return s.Message("", Message{Role: roleSystem, Content: text}, false)
}

// Prologue adds the two messages that every child starts with.
func (s *Session) Prologue(task, expectedOutput string) {
	s.System(taskText(task, expectedOutput))
	s.ImplicitUser(childStart)
}

// Assistant adds an answer of a model. Role is set, and Model and
// ToolDefinitions where they are missing.
func (s *Session) Assistant(agent string, m Message) *Item {
	m.Role = roleAssistant
	m.Model = or(m.Model, modelDefault)
	if m.ToolDefinitions == nil {
		m.ToolDefinitions = Define(m.ToolCalls)
	}
	return s.Message(agent, m, false)
}

// Result adds the result of a call; agent is the one that called.
func (s *Session) Result(agent, callID, text string) *Item {
	return s.Message(agent, Message{Role: roleTool, Content: text, ToolCallID: callID}, false)
}

// FailedResult adds the result of a call that failed.
func (s *Session) FailedResult(agent, callID, text string) *Item {
	return s.Message(agent, Message{Role: roleTool, Content: text, ToolCallID: callID, IsError: true}, false)
}

// Placeholder adds the row of an answer that is still streaming: it has no
// creation time, model or usage.
func (s *Session) Placeholder(agent, text, reasoning string) *Item {
	m := Message{Role: roleAssistant, Content: text, ReasoningContent: reasoning}
	return s.add(&Item{agent: agent, message: encode(m)})
}

// Message adds any message; it gets the next time unless it has one.
func (s *Session) Message(agent string, m Message, implicit bool) *Item {
	m.CreatedAt = or(m.CreatedAt, s.db.tick())
	return s.add(&Item{agent: agent, message: encode(m), implicit: implicit})
}

// Tokens sets the counters of the session, as the runtime does after an answer.
func (s *Session) Tokens(u *Usage) {
	if s.db.Generation < 3 || s.row.Parent != "" && s.db.Generation < withItems {
		return // no columns, or no row
	}
	s.db.change("UPDATE sessions SET input_tokens = ?, output_tokens = ? WHERE id = ?", u.prompt(), u.OutputTokens, s.ID)
}

// SubSession adds the reference to a child.
func (s *Session) SubSession(child *Session) *Item {
	s.db.lag(child)
	return s.add(&Item{child: child})
}

func (s *Session) add(item *Item) *Item {
	s.db.lag(s)
	return s.insert(item)
}

// insert writes an item behind the last one.
func (s *Session) insert(item *Item) *Item {
	item.session = s
	switch {
	case s.db.Generation < withItems:
		s.items = append(s.items, item)
	case item.child != nil:
		item.Row = s.insertRow("subsession", "subsession_id", item.child.ID)
	case item.summary != nil:
		columns, values := item.summary.columns(s.db.Generation)
		item.Row = s.insertRow("summary", columns, values...)
	default:
		item.Row = s.insertRow("message", "agent_name, message_json, implicit", item.agent, string(item.message), item.implicit)
	}
	return item
}

// insertRow writes a row of session_items at the next position.
func (s *Session) insertRow(kind, columns string, values ...any) int64 {
	marks := ""
	for range values {
		marks += ", ?"
	}
	return s.db.exec("INSERT INTO session_items (session_id, position, item_type, "+columns+
		") VALUES (?, (SELECT COALESCE(MAX(position), -1) + 1 FROM session_items WHERE session_id = ?), ?"+marks+")",
		append([]any{s.ID, s.ID, kind}, values...)...)
}

// replace gives a message row its final content. The agent_name column keeps
// the name of the agent that streamed, as upstream's does.
func (item *Item) replace(message []byte, implicit bool) {
	item.message, item.implicit = message, implicit
	db := item.session.db
	db.lag(item.session)
	if db.Generation >= withItems {
		db.change("UPDATE session_items SET message_json = ?, implicit = ? WHERE id = ?", string(message), implicit, item.Row)
	}
}

// tick is the time of the next item.
func (db *DB) tick() string {
	now := db.now
	db.now = db.now.Add(db.step)
	return stamp(now)
}

// Wait lets time pass before the next item.
func (db *DB) Wait(d time.Duration) { db.now = db.now.Add(d) }

// newID draws a random UUID (version 4), the form of every session id.
func (db *DB) newID() string {
	high, low := db.rng.Uint64(), db.rng.Uint64()
	high = high&^0xf000 | 0x4000
	low = low&^(0xc<<60) | 0x8<<60
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", high>>32, high>>16&0xffff, high&0xffff, low>>48, low&0xffffffffffff)
}
