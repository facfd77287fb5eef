package agenttest

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/sessctl/sessctl/internal/store/builder"
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
	if db.Err() != nil {
		return nil
	}
	rows, err := db.SQL.Query(`SELECT id, position, item_type, agent_name, message_json, implicit, subsession_id, summary_text
		FROM session_items WHERE session_id = ? ORDER BY position, id`, session)
	if err != nil {
		db.Fail(err)
		return nil
	}
	var list []itemRow
	for rows.Next() {
		var r itemRow
		db.Fail(rows.Scan(&r.id, &r.position, &r.kind, &r.agent, &r.message, &r.implicit, &r.child, &r.summary))
		list = append(list, r)
	}
	db.Fail(errors.Join(rows.Err(), rows.Close()))
	return list
}

// Rows lists the rows of session_items for which a condition holds, by row id.
func (db *DB) Rows(where string) []int64 {
	return list[int64](db, "SELECT id FROM session_items WHERE "+where+" ORDER BY id")
}

// list reads the first column of a query.
func list[T any](db *DB, query string, args ...any) []T {
	if db.Err() != nil {
		return nil
	}
	rows, err := db.SQL.Query(query, args...)
	if err != nil {
		db.Fail(err)
		return nil
	}
	var values []T
	for rows.Next() {
		var v T
		db.Fail(rows.Scan(&v))
		values = append(values, v)
	}
	db.Fail(errors.Join(rows.Err(), rows.Close()))
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

// recorder writes the events of a run to the store, as the runtime's persistent
// layer does. It sees the events of all conversations of the run.
type recorder struct {
	db     *DB
	root   *conversation
	scoped bool // v1.32.1 and later: streamed and finished messages of other sessions are dropped
	stored map[*conversation]*Session

	streaming *Item         // the row of the message that is streaming, in the root's session
	streamer  *conversation // who streams
	leaks     []leak
	taken     []taken
}

// leak is a row of the root's session that holds a message of a child.
type leak struct {
	item  *Item
	child *conversation
	entry *entry // nil when the message was never finished
}

// taken is a row of the root's session that a child began to stream and that a
// result of the root then took over: its agent_name is still the child's.
type taken struct {
	item  *Item
	entry *entry
}

func newRecorder(db *DB, root *conversation, scoped bool) *recorder {
	session := db.Root(root.row)
	root.row = session.row
	return &recorder{db: db, root: root, scoped: scoped, stored: map[*conversation]*Session{root: session}}
}

// user records what the user said.
func (r *recorder) user(e *entry) {
	e.stored = r.stored[r.root].add(e.item())
	e.inRoot = e.stored
}

// stop is the end of a run: what was streaming stays as it is.
func (r *recorder) stop() {
	if r.streaming != nil && r.streamer != r.root {
		r.leaks = append(r.leaks, leak{r.streaming, r.streamer, nil})
	}
	r.streaming = nil
}

// streamed records the text and reasoning of an answer before it is finished.
// Without scoping they go into the root's session, whoever speaks.
func (r *recorder) streamed(c *conversation, agent, text, reasoning string) {
	if r.scoped && c != r.root {
		return
	}
	r.streaming, r.streamer = r.stored[r.root].Placeholder(agent, text, reasoning), c
}

// added records a finished message. It takes the row of what was streaming,
// whoever streamed it; else it gets a row of its own, if the session has one:
// a child's has none before it is complete.
func (r *recorder) added(c *conversation, e *entry) {
	if r.scoped && c != r.root {
		return
	}
	item := r.streaming
	switch {
	case item != nil:
		item.replace(encode(e.message), e.implicit)
		e.inRoot = item
		r.attribute(c, e, item)
		r.streaming = nil
	case r.stored[c] != nil:
		item = r.stored[c].add(e.item())
	}
	if c == r.root {
		e.stored, e.inRoot = item, item
	}
}

// attribute keeps the truth about a row of the root's session that was streamed.
func (r *recorder) attribute(c *conversation, e *entry, item *Item) {
	switch {
	case c != r.root:
		r.leaks = append(r.leaks, leak{item, c, e})
	case r.streamer != r.root:
		r.taken = append(r.taken, taken{item, e})
	}
}

// completed stores a child with everything below it. It fails, and the runtime
// only warns, when the caller has no row yet (it stores the child later, with
// itself) or when a compaction stored the child's row already.
func (r *recorder) completed(caller, child *conversation) {
	parent := r.stored[caller]
	if parent == nil || r.anyStored(child) {
		return
	}
	session := r.store(parent, child)
	r.db.lag(parent)
	r.db.lag(session)
	parent.insert(&Item{child: session})
}

func (r *recorder) anyStored(c *conversation) bool {
	if r.stored[c] != nil {
		return true
	}
	for _, e := range c.entries {
		if e.child != nil && r.anyStored(e.child) {
			return true
		}
	}
	return false
}

func (r *recorder) store(parent *Session, c *conversation) *Session {
	session := parent.Child(c.row)
	r.stored[c] = session
	for _, e := range c.entries {
		if e.child != nil {
			session.insert(&Item{child: r.store(session, e.child)})
			continue
		}
		e.stored = session.insert(e.item())
	}
	return session
}

// item is the entry as the store takes it.
func (e *entry) item() *Item {
	if e.summary != nil {
		return &Item{summary: e.summary}
	}
	return &Item{agent: e.agent, message: encode(e.message), implicit: e.implicit}
}

// compacting stores the row of a session that is about to be compacted, unless
// its caller has none.
func (r *recorder) compacting(c *conversation) {
	if r.stored[c] == nil && r.stored[c.caller] != nil {
		r.stored[c] = r.stored[c.caller].Child(c.row)
	}
}

// summarized records a compaction, which no version drops.
func (r *recorder) summarized(c *conversation, e *entry) {
	if session := r.stored[c]; session != nil {
		e.stored = session.add(e.item())
	}
}

// tokens updates the counters of the root, the only ones that are stored while
// a run goes on.
func (r *recorder) tokens(c *conversation, u *Usage) {
	if c == r.root {
		r.stored[c].Tokens(u)
	}
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
	return s.add(&Item{summary: &summary})
}

// columns are the columns that a summary fills, and their values.
func (summary *Summary) columns(generation int) (string, []any) {
	names, values := "summary_text", []any{summary.Text}
	if generation >= 21 {
		names, values = names+", first_kept_entry", append(values, summary.FirstKept)
	}
	if generation >= 23 {
		names, values = names+", cost", append(values, summary.Cost)
	}
	if generation >= 25 {
		usage := ""
		if summary.Usage != nil {
			usage = string(encode(summary.Usage))
		}
		names, values = names+", model, usage_json", append(values, summary.Model, usage)
	}
	return names, values
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
	row := builder.Object{{"id", r.ID}, {"created_at", stamp(r.CreatedAt)}}
	for _, c := range []struct {
		since int
		name  string
		value any
	}{
		{1, "tools_approved", r.ToolsApproved}, {2, "input_tokens", r.InputTokens}, {3, "output_tokens", r.OutputTokens}, {4, "title", r.Title},
		{5, "cost", r.Cost}, {6, "send_user_message", r.SendUserMessage}, {8, "working_dir", r.WorkingDir}, {13, "thinking", false},
		{withItems, "parent_id", builder.OrNil(r.Parent)}, {22, "instruction_context", r.InstructionContext},
		{26, "attributes", cmp.Or(r.Attributes, "{}")}, {27, "origin", cmp.Or(r.Origin, "run")},
	} {
		if db.Generation >= c.since {
			row = append(row, builder.Member{c.name, c.value})
		}
	}
	if r.BranchParent != "" && db.Generation >= 16 && db.Generation <= 18 {
		row = append(row, builder.Object{
			{"branch_parent_session_id", r.BranchParent}, {"branch_parent_position", r.BranchPosition}, {"branch_created_at", stamp(r.CreatedAt)},
		}...)
	}
	db.Insert("sessions", row)
}
