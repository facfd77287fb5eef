package agenttest

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// WriteFixed records a program as v1.32.4 did: the root's session holds its own
// messages only. A child is stored when it is complete; of one that fails or is
// killed nothing is kept, unless the program says so (KeepsFailed).
func WriteFixed(db *DB, p Program) (Written, error) {
	r := write(db, &p, true)
	return Written{Root: r.record.stored[r.root], events: r.stream.events}, db.Err()
}

// Written is what a writer knows of the session that it wrote.
type Written struct {
	Root *Session
	// Leaks are the rows of the root's session that hold messages of children.
	Leaks []Leak
	// Taken are the results of delegations whose row the child had begun to
	// stream (docs/stores/docker-agent.md#which-versions-leak): the row carries the child's agent name
	// and stands before the reference to the child.
	Taken []Taken

	events []event // what the runtime emitted meanwhile
}

// Leak is the truth about one leaked row.
type Leak struct {
	Row int64
	// Calls are the delegations that were open, outermost first. The row
	// belongs to the child of the last one.
	Calls []OpenCall
	Child string // the id of that child, whether it was stored or not
	Twin  int64  // the row of the child that holds the same message, 0 when there is none
}

// OpenCall is a delegation, seen from the root's session.
type OpenCall struct {
	Row int64 // the row of the root's session with the call, 0 when that message did not leak
	ID  string
}

// Taken is the truth about a result whose row was begun by a child.
type Taken struct {
	Row   int64
	Agent string // the caller, whose result it is
}

// WriteLeaky records a program as v1.20.0 to v1.32.0 did: every message of a
// child, at any depth, that streams text or reasoning also gets a row in the
// root's session, while it happens; messages of a child that stream nothing do
// not. The child is stored when it is complete. One that fails or is killed
// leaves nothing but the leaked rows.
//
// It needs a generation with session_items, and a program without skills and
// parallel calls, which came later.
func WriteLeaky(db *DB, p Program) (Written, error) {
	if db.Generation < withItems {
		return Written{}, fmt.Errorf("generation %d has no item rows that could leak: create the database with generation %d or later", db.Generation, withItems)
	}
	for i := range p.Turns {
		if newer(p.Turns[i].Steps) {
			return Written{}, fmt.Errorf("%q runs a skill or several calls at the same time: no version that leaked could do that", p.Title)
		}
	}
	r := write(db, &p, false)
	written := Written{Root: r.record.stored[r.root], events: r.stream.events}
	for _, l := range r.record.leaks {
		written.Leaks = append(written.Leaks, l.truth())
	}
	for _, t := range r.record.taken {
		written.Taken = append(written.Taken, Taken{t.item.Row, t.entry.agent})
	}
	return written, db.Err()
}

// write plays a program into the database.
func write(db *DB, p *Program, scoped bool) *run {
	root := &conversation{row: SessionRow{Title: p.Title, ToolsApproved: true}}
	r := &run{
		db: db, program: p, root: root,
		record: newRecorder(db, root, scoped), stream: &stream{db: db, models: p.Models},
	}
	db.Batch(r.play)
	return r
}

// newer reports whether steps need a version that leaks no more.
func newer(steps []Step) bool {
	for i := range steps {
		for _, call := range steps[i].Calls {
			if task := call.Task; task != nil && (task.Skill != "" || newer(task.Steps)) {
				return true
			}
		}
		if steps[i].Parallel {
			return true
		}
	}
	return false
}

func (l *leak) truth() Leak {
	known := Leak{Row: l.item.Row, Child: l.child.row.ID}
	for c := l.child; c.caller != nil; c = c.caller {
		call := OpenCall{ID: c.callID}
		if c.opener.inRoot != nil {
			call.Row = c.opener.inRoot.Row
		}
		known.Calls = append([]OpenCall{call}, known.Calls...)
	}
	if l.entry != nil && l.entry.stored != nil {
		known.Twin = l.entry.stored.Row
	}
	return known
}

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
	db.Exec("UPDATE sessions SET messages = ? WHERE id = ?", string(encode(list)), id)
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
		WorkingDir: row.WorkingDir, SendUserMessage: row.SendUserMessage,
		InputTokens: row.InputTokens, OutputTokens: row.OutputTokens, Cost: row.Cost,
	}
	if db.Generation >= 9 {
		sub.Starred = new(bool)
	}
	if db.Generation >= 13 {
		sub.Thinking = new(bool)
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
