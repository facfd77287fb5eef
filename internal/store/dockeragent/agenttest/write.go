package agenttest

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/store/builder"
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
	return r.stored[c] != nil || slices.ContainsFunc(c.entries, func(e *entry) bool { return e.child != nil && r.anyStored(e.child) })
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
