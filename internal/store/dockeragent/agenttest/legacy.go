package agenttest

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// legacyItem is one element of the messages column.
type legacyItem struct {
	Message    *legacyMessage `json:"message,omitempty"`
	SubSession *legacySession `json:"sub_session,omitempty"`
	Summary    string         `json:"summary,omitempty"`
}

type legacyMessage struct {
	AgentName string          `json:"agentName"`
	Message   json.RawMessage `json:"message"`
	Implicit  bool            `json:"implicit,omitempty"`
}

// legacySession is a sub-session inside the messages column of its parent. The
// pointers are keys that came with a later generation.
type legacySession struct {
	ID              string       `json:"id"`
	Title           string       `json:"title"`
	Messages        []legacyItem `json:"messages"`
	CreatedAt       string       `json:"created_at"`
	ToolsApproved   bool         `json:"tools_approved"`
	Thinking        *bool        `json:"thinking,omitempty"` // generation 13
	HideToolResults bool         `json:"hide_tool_results"`
	WorkingDir      string       `json:"working_dir,omitempty"`
	SendUserMessage bool
	MaxIterations   int     `json:"max_iterations"`
	Starred         *bool   `json:"starred,omitempty"` // generation 9
	InputTokens     int64   `json:"input_tokens"`
	OutputTokens    int64   `json:"output_tokens"`
	Cost            float64 `json:"cost"`
}

// lag notes that the messages column of a session is behind its items. The
// runtime writes the column after every item; once at the end is the same.
func (db *DB) lag(s *Session) {
	if db.Generation < withoutLegacy && !s.lags {
		s.lags = true
		db.behind = append(db.behind, s)
	}
}

// Sync brings the messages column of all changed sessions up to date. Like the
// runtime, it writes the column of a session that was written to itself, and
// of a child whose parent was; a grandchild never gets one.
func (db *DB) Sync() {
	behind := db.behind
	db.behind = nil
	if len(behind) == 0 {
		return
	}
	db.Batch(func() {
		for _, s := range behind {
			s.lags = false
			if db.Generation < withItems {
				db.setLegacy(s.ID, db.legacyFromMemory(s.items))
			} else {
				db.reloadLegacy(s.ID)
			}
		}
	})
}

func (db *DB) setLegacy(id string, list []legacyItem) {
	db.exec("UPDATE sessions SET messages = ? WHERE id = ?", string(encode(list)), id)
}

// reloadLegacy writes the column of a session from its items. When they cannot
// be loaded the column stays as it is: the runtime only warns.
func (db *DB) reloadLegacy(id string) {
	list, err := db.legacyFromItems(id, nil)
	if err == nil {
		db.setLegacy(id, list)
	}
}

// legacyFromMemory lists the items as the runtime had them in memory.
func (db *DB) legacyFromMemory(items []*Item) []legacyItem {
	list := []legacyItem{}
	for _, item := range items {
		switch {
		case item.child != nil:
			sub := db.legacySession(&item.child.row)
			sub.Messages = db.legacyFromMemory(item.child.items)
			list = append(list, legacyItem{SubSession: sub})
		case item.message != nil:
			list = append(list, legacyItem{Message: &legacyMessage{item.agent, item.message, item.implicit}})
		default:
			list = append(list, legacyItem{Summary: item.summary.Text})
		}
	}
	return list
}

func (db *DB) legacySession(row *SessionRow) *legacySession {
	sub := &legacySession{
		ID: row.ID, Title: row.Title, CreatedAt: stamp(row.CreatedAt), ToolsApproved: row.ToolsApproved,
		WorkingDir: row.WorkingDir, SendUserMessage: row.SendUserMessage, MaxIterations: row.MaxIterations,
		InputTokens: row.InputTokens, OutputTokens: row.OutputTokens, Cost: row.Cost,
	}
	if db.Generation >= 9 {
		sub.Starred = &row.Starred
	}
	if db.Generation >= 13 {
		sub.Thinking = &row.Thinking
	}
	return sub
}

// legacyFromItems lists the items as the runtime loads them from the tables:
// references that lead nowhere and unknown kinds are skipped, and one message
// that does not decode fails the whole. above are the sessions around this one.
func (db *DB) legacyFromItems(id string, above []string) ([]legacyItem, error) {
	if slices.Contains(above, id) {
		return nil, fmt.Errorf("session %s contains itself", id)
	}
	list := []legacyItem{}
	for _, row := range db.itemRows(id) {
		switch row.kind {
		case "message":
			message, err := reloaded([]byte(row.message.String))
			if err != nil {
				return nil, err
			}
			list = append(list, legacyItem{Message: &legacyMessage{row.agent.String, message, row.implicit}})
		case "subsession":
			sub, err := db.loadSubSession(row.child.String, append(above, id))
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return nil, err
			}
			list = append(list, legacyItem{SubSession: sub})
		case "summary":
			list = append(list, legacyItem{Summary: row.summary.String})
		}
	}
	return list, nil
}

// loadSubSession reads a session with all its items; sql.ErrNoRows when it is
// missing.
func (db *DB) loadSubSession(id string, above []string) (*legacySession, error) {
	sub := &legacySession{ID: id, Thinking: new(bool), Starred: new(bool)}
	err := db.SQL.QueryRow(`SELECT title, created_at, tools_approved, thinking, working_dir, send_user_message,
		max_iterations, starred, input_tokens, output_tokens, cost FROM sessions WHERE id = ?`, id).Scan(
		&sub.Title, &sub.CreatedAt, &sub.ToolsApproved, sub.Thinking, &sub.WorkingDir, &sub.SendUserMessage,
		&sub.MaxIterations, sub.Starred, &sub.InputTokens, &sub.OutputTokens, &sub.Cost)
	if err != nil {
		return nil, err
	}
	sub.Messages, err = db.legacyFromItems(id, above)
	return sub, err
}
