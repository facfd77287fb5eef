package agenttest

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/store/builder"
)

// WriteFixed records a program as v1.32.4 did: the root's session holds its own
// messages only. A child is stored when it is complete; of one that fails or is
// killed nothing is kept, unless the program says so (KeepsFailed).
func WriteFixed(db *DB, p Program) (Written, error) { return playProgram(db, &p, true) }

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

	home *Item // that message, nil when it was never finished
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
		if needsNewer(p.Turns[i].Steps) {
			return Written{}, fmt.Errorf("%q runs a skill or several calls at the same time: no version that leaked could do that", p.Title)
		}
	}
	return playProgram(db, &p, false)
}

// needsNewer reports whether steps need a version that leaks no more.
func needsNewer(steps []Step) bool {
	for i := range steps {
		for _, call := range steps[i].Calls {
			if task := call.Task; task != nil && (task.Skill != "" || needsNewer(task.Steps)) {
				return true
			}
		}
		if steps[i].Parallel {
			return true
		}
	}
	return false
}

// markLagging notes that the messages column of a session is behind its items. The
// runtime writes the column after every item; once at the end is the same.
func (s *Session) markLagging() {
	if s.db.Generation < withoutLegacy && s.stored && !s.lags {
		s.lags = true
		s.db.behind = append(s.db.behind, s)
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
				db.setLegacy(s.ID, s.items)
			} else {
				db.reloadLegacy(s.ID)
			}
		}
	})
}

func (db *DB) setLegacy(id string, items []*Item) {
	db.Exec("UPDATE sessions SET messages = ? WHERE id = ?", asGo.Text(db.legacyItems(items)), id)
}

// reloadLegacy writes the column of a session from its items. When they cannot
// be loaded the column stays as it is: the runtime only warns.
func (db *DB) reloadLegacy(id string) {
	if items, err := db.loadItems(id, nil); err == nil {
		db.setLegacy(id, items)
	}
}

// legacyItems is a list of items as the messages column has it.
func (db *DB) legacyItems(items []*Item) builder.List {
	list := builder.List{}
	for _, item := range items {
		switch {
		case item.child != nil:
			list = append(list, builder.Object{{"sub_session", db.subSession(item.child)}})
		case item.message != nil:
			m := builder.Object{{"agentName", &item.agent}, {"message", item.message}, {"implicit", builder.OrNil(item.implicit)}}
			list = append(list, builder.Object{{"message", m.WithoutEmpty()}})
		default:
			list = append(list, builder.Object{{"summary", item.summary.Text}}.WithoutEmpty())
		}
	}
	return list
}

// subSession is a session with everything below it, inside the messages column of its
// parent.
func (db *DB) subSession(s *Session) builder.Object {
	since := func(generation int) any {
		if db.Generation < generation {
			return nil
		}
		return false
	}
	return builder.Object{
		{"id", s.ID}, {"title", &s.row.Title}, {"messages", db.legacyItems(s.items)}, {"created_at", formatTime(s.row.CreatedAt)},
		{"tools_approved", s.row.ToolsApproved}, {"thinking", since(13)}, {"hide_tool_results", false}, {"working_dir", s.row.WorkingDir},
		{"SendUserMessage", s.row.SendUserMessage}, {"max_iterations", 0}, {"starred", since(9)},
		{"input_tokens", s.row.InputTokens}, {"output_tokens", s.row.OutputTokens}, {"cost", s.row.Cost},
	}.WithoutEmpty()
}

// loadItems lists the items of a session as the runtime loads them from the tables:
// references that lead nowhere and unknown kinds are skipped, and one message
// that does not decode fails the whole. above are the sessions around this one.
func (db *DB) loadItems(id string, above []string) ([]*Item, error) {
	if slices.Contains(above, id) {
		return nil, fmt.Errorf("session %s contains itself", id)
	}
	var items []*Item
	type row struct {
		kind                           string
		agent, message, child, summary sql.NullString
		implicit                       bool
	}
	for _, r := range builder.QueryRows(db.DB, func(r *row) []any {
		return []any{&r.kind, &r.agent, &r.message, &r.implicit, &r.child, &r.summary}
	}, `SELECT item_type, agent_name, message_json, implicit, subsession_id, summary_text
		FROM session_items WHERE session_id = ? ORDER BY position, id`, id) {
		item, err := &Item{agent: r.agent.String, implicit: r.implicit}, error(nil)
		switch r.kind {
		case "message":
			item.message, err = reloadMessage([]byte(r.message.String))
		case "subsession":
			item.child, err = db.loadSession(r.child.String, append(above, id))
		case "summary":
			item.summary = &Summary{Text: r.summary.String}
		default:
			continue
		}
		switch {
		case err == nil:
			items = append(items, item)
		case !errors.Is(err, sql.ErrNoRows):
			return nil, err
		}
	}
	return items, nil
}

// loadSession reads a session with all its items; sql.ErrNoRows when it is
// missing.
func (db *DB) loadSession(id string, above []string) (*Session, error) {
	var created string
	s := &Session{ID: id}
	err := db.SQL.QueryRow(`SELECT title, created_at, tools_approved, working_dir, send_user_message, input_tokens, output_tokens, cost
		FROM sessions WHERE id = ?`, id).Scan(&s.row.Title, &created, &s.row.ToolsApproved, &s.row.WorkingDir, &s.row.SendUserMessage,
		&s.row.InputTokens, &s.row.OutputTokens, &s.row.Cost)
	if err != nil {
		return nil, err
	}
	if s.row.CreatedAt, err = time.Parse(time.RFC3339, created); err != nil {
		return nil, err
	}
	s.items, err = db.loadItems(id, above)
	return s, err
}

// Rows lists the rows of session_items for which a condition holds, by row id.
func (db *DB) Rows(where string) []int64 {
	return builder.QueryRows(db.DB, func(id *int64) []any { return []any{id} }, "SELECT id FROM session_items WHERE "+where+" ORDER BY id")
}

// Summary is a compaction: the prompt of the next request starts behind it.
type Summary struct {
	Text      string
	FirstKept int64   // index in the loaded list of the first item that stays in the prompt; generation 21
	Cost      float64 // dollars; generation 23
	Model     string  // generation 25
	Usage     *Usage  // generation 25
}

// Summary adds a compaction.
func (s *Session) Summary(summary Summary) *Item {
	return s.appendItem(&Item{summary: &summary})
}

func (summary *Summary) summaryRow(db *DB) builder.Object {
	usage := ""
	if summary.Usage != nil {
		usage = string(encodeJSON(summary.Usage))
	}
	return db.appendSince(builder.Object{{"summary_text", summary.Text}}, []column{
		{withKept, "first_kept_entry", summary.FirstKept}, {23, "cost", summary.Cost}, {25, "model", summary.Model}, {25, "usage_json", usage},
	})
}

// column is one that came with a generation.
type column struct {
	since int
	name  string
	value any
}

// appendSince adds the columns that the generation has.
func (db *DB) appendSince(row builder.Object, columns []column) builder.Object {
	for _, c := range columns {
		if db.Generation >= c.since {
			row = append(row, builder.Member{c.name, c.value})
		}
	}
	return row
}

// SessionRow is a row of the sessions table. Columns that the generation does
// not have are left out when it is written; those without a field get their defaults.
type SessionRow struct {
	ID        string    // drawn from the seed when empty
	CreatedAt time.Time // the time of the next item when zero
	Title     string

	ToolsApproved             bool
	InputTokens, OutputTokens int64
	Cost                      float64 // dollars
	SendUserMessage           bool    // Root sets it: only children go without
	WorkingDir                string
	Parent                    string // Child sets it
	BranchParent              string // generations 16 to 18
	BranchPosition            int64  // with BranchParent
	InstructionContext        string // JSON
	Attributes                string // JSON, "" for {}
	Origin                    string // "" for run
}

// insertSession writes a session's own row.
func (db *DB) insertSession(r *SessionRow) {
	row := db.appendSince(builder.Object{{"id", r.ID}, {"created_at", formatTime(r.CreatedAt)}}, []column{
		{1, "tools_approved", r.ToolsApproved}, {2, "input_tokens", r.InputTokens}, {3, "output_tokens", r.OutputTokens}, {4, "title", r.Title},
		{5, "cost", r.Cost}, {6, "send_user_message", r.SendUserMessage}, {8, "working_dir", r.WorkingDir}, {13, "thinking", false},
		{withItems, "parent_id", builder.OrNil(r.Parent)}, {22, "instruction_context", r.InstructionContext},
		{26, "attributes", cmp.Or(r.Attributes, "{}")}, {27, "origin", cmp.Or(r.Origin, "run")},
	})
	if r.BranchParent != "" && db.Generation >= 16 && db.Generation <= 18 {
		row = append(row, builder.Object{
			{"branch_parent_session_id", r.BranchParent}, {"branch_parent_position", r.BranchPosition}, {"branch_created_at", formatTime(r.CreatedAt)},
		}...)
	}
	db.Insert("sessions", row)
}
