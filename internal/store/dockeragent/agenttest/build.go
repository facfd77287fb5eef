// Package agenttest builds docker agent databases the way docker agent itself
// would have written them: for tests, for the demo and for the benchmark.
//
// There are four ways to get a database. Create with the methods of Session
// writes single items. A Program describes what agents do, and WriteLeaky and
// WriteFixed record the same program as two generations of the runtime would
// have; what they wrote tells the events that the runtime emitted meanwhile.
// Damage breaks one thing in a database that is whole. Big writes the
// database that the benchmark measures.
//
// Nothing here reads the clock or the system's randomness: the same calls give
// the same database.
package agenttest

import (
	"cmp"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/store/builder"
)

// Session writes the items of one session, in the order of the calls. In a run it is
// what the runtime has in memory, where it is always right: what of it is stored, and
// when, depends on the version.
type Session struct {
	ID string

	db     *DB
	row    SessionRow
	stored bool    // it has a row, and so have its items
	lags   bool    // the messages column is behind the items
	items  []*Item // in a run, and before generation 14, where the messages column is the only copy

	// Of a run.
	agent  string   // who answers next
	pinned bool     // the runtime's current agent is not its own, so that it switches none
	caller *Session // nil for the root
	opener *Item    // the caller's message with the call that started this
	callID string
}

// Item is a stored item of a session, or one that the runtime has in memory.
type Item struct {
	Row int64 // session_items.id; 0 before generation 14, and where it is not stored

	session  *Session
	agent    string
	implicit bool
	message  *Message
	child    *Session
	summary  *Summary

	// Of a run.
	streamer *Session // who began the row, of the root's session
	inRoot   int64    // the row in the root's session: the same for the root, a leaked one for a child
}

// Root creates a session that a user started.
func (db *DB) Root(row SessionRow) *Session {
	row.SendUserMessage = true
	return db.newSession(row).storeRow()
}

// Child creates a sub-session. The runtime writes it when it is complete, so
// its items come next, and SubSession adds the reference to it at last.
func (s *Session) Child(row SessionRow) *Session {
	row.Parent = s.ID
	return s.db.newSession(row).storeRow()
}

// newSession is one that has no row yet.
func (db *DB) newSession(row SessionRow) *Session {
	if row.ID == "" {
		row.ID = db.newID()
	}
	if row.CreatedAt.IsZero() {
		row.CreatedAt = db.now
	}
	return &Session{ID: row.ID, db: db, row: row}
}

// storeRow writes the row of a session.
func (s *Session) storeRow() *Session {
	s.stored = true
	if s.row.Parent == "" || s.db.Generation >= withItems { // a child had no row of its own before
		s.db.insertSession(&s.row)
	}
	return s
}

// saveTree stores a session with everything below it.
func (s *Session) saveTree() {
	s.storeRow()
	for _, item := range s.items {
		if item.child != nil {
			item.child.saveTree()
		}
		s.writeItem(item)
	}
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
	m.Model = cmp.Or(m.Model, modelDefault)
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
	return s.appendItem(&Item{agent: agent, message: &m})
}

// Message adds any message; it gets the next time unless it has one.
func (s *Session) Message(agent string, m Message, implicit bool) *Item {
	m.CreatedAt = cmp.Or(m.CreatedAt, s.db.nextTime())
	return s.appendItem(&Item{agent: agent, message: &m, implicit: implicit})
}

// Tokens sets the counters of the session, as the runtime does after an answer.
func (s *Session) Tokens(u *Usage) {
	if s.db.Generation < 3 || s.row.Parent != "" && s.db.Generation < withItems {
		return // no columns, or no row
	}
	s.db.ChangeRow("UPDATE sessions SET input_tokens = ?, output_tokens = ? WHERE id = ?", u.promptSize(), u.OutputTokens, s.ID)
}

// SubSession adds the reference to a child.
func (s *Session) SubSession(child *Session) *Item {
	child.markLagging()
	return s.appendItem(&Item{child: child})
}

// appendItem puts an item behind the last one.
func (s *Session) appendItem(item *Item) *Item {
	item.session = s
	if s.agent != "" || s.db.Generation < withItems {
		s.items = append(s.items, item)
	}
	if s.stored {
		s.markLagging()
		s.writeItem(item)
	}
	return item
}

// writeItem writes the row of an item, at the next position.
func (s *Session) writeItem(item *Item) {
	if s.db.Generation < withItems {
		return
	}
	kind, row := "message", builder.Object{{"agent_name", item.agent}, {"implicit", item.implicit}}
	switch {
	case item.child != nil:
		kind, row = "subsession", builder.Object{{"subsession_id", item.child.ID}}
	case item.summary != nil:
		kind, row = "summary", item.summary.summaryRow(s.db)
	default:
		row = append(row, builder.Member{"message_json", string(encodeJSON(item.message))})
	}
	columns, values := "session_id, position, item_type", []any{s.ID, s.ID, kind}
	for _, m := range row {
		columns, values = columns+", "+m[0].(string), append(values, m[1])
	}
	item.Row = s.db.Exec("INSERT INTO session_items ("+columns+
		") VALUES (?, (SELECT COALESCE(MAX(position), -1) + 1 FROM session_items WHERE session_id = ?), ?"+strings.Repeat(", ?", len(row))+")", values...)
}

// replaceMessage gives a message row its final content. The agent_name column keeps
// the name of the agent that streamed, as upstream's does.
func (item *Item) replaceMessage(m *Message) {
	item.message = m
	item.session.markLagging()
	if item.session.db.Generation >= withItems {
		item.session.db.ChangeRow("UPDATE session_items SET message_json = ? WHERE id = ?", string(encodeJSON(m)), item.Row)
	}
}

// nextTime is the time of the next item.
func (db *DB) nextTime() string {
	now := db.now
	db.now = db.now.Add(db.step)
	return formatTime(now)
}

// Wait lets time pass before the next item.
func (db *DB) Wait(d time.Duration) { db.now = db.now.Add(d) }

// newID draws the id of a session.
func (db *DB) newID() string { return builder.UUID(db.rng) }

// Program is what a user and a team of agents do in one session.
type Program struct {
	Title  string
	Agent  string            // the agent that answers first, "" for root
	Models map[string]string // the model of an agent, where it is not test/mock
	Turns  []Turn

	// Unstored is how many messages the runtime's list in memory has in front that it
	// does not store (v1.41 to v1.52: the context of a session_start hook): so much
	// higher is what a summary that keeps nothing records.
	Unstored int

	// KeepsFailed: a child that failed is told and stored like any other, as
	// since 2026-06-16 (docker-agent.md 3.3, #3152). Before, nothing was kept.
	KeepsFailed bool
}

// Turn is what the user says and how the agents answer.
type Turn struct {
	User string
	// Resumed: the process was started again, so the program's first agent
	// answers even if the conversation had been handed off. A turn after a
	// kill is always resumed.
	Resumed bool
	Steps   []Step
	// Compact is the summary of a /compact behind the turn, "" for none; Keep is how
	// many messages it keeps, as a step's.
	Compact string
	Keep    int
}

// Step is one answer of a model, and what came of its calls. An answer with
// neither text nor calls ends the run of its session; the runtime records no
// message for it.
type Step struct {
	Text      string
	Reasoning string
	Calls     []Call
	Usage     *Usage
	End       End
	Error     string // with Failed: what the model said
	Summary   string // the session is compacted after the results of this step
	Keep      int    // with Summary: at least so many of the last messages stay in the prompt, 0 for none

	// Parallel: the calls run at the same time, as newer versions do it
	// (docker-agent.md 3.2). Nothing in them hands off or is killed.
	Parallel bool
}

// End is what stops a step while the model answers.
type End uint8

// The ends of a step. Text and reasoning were streamed before it.
const (
	Whole  End = iota // the answer is complete
	Failed            // the model fails
	Killed            // the process dies
)

// Call is one call of a step: an ordinary tool, a delegation (Task) or a
// handoff (To).
type Call struct {
	ID      string
	Tool    string
	Args    string // JSON
	Output  string // "" becomes (no output)
	IsError bool

	Task   *Task
	To     string // the agent that goes on
	Killed bool   // the process dies while the tool runs; a task dies in one of its steps
}

// Task is a delegation and what the child does.
type Task struct {
	Agent          string
	Text           string
	ExpectedOutput string
	Steps          []Step

	// Skill is the name of the skill that the caller's own agent runs in the
	// child (run_skill, v1.32.5); Agent is not used.
	Skill string
	// Background: the child runs beside the session and nobody waits for it.
	// Its tokens are all that the stream and the store hear of it
	// (docker-agent.md 4.1, #3173), so its steps do not matter.
	Background bool
}

// toolCall is the call as the model wrote it.
func (c *Call) toolCall() ToolCall {
	switch {
	case c.Task != nil && c.Task.Skill != "":
		return RunSkill(c.ID, c.Task.Skill, c.Task.Text)
	case c.Task != nil && c.Task.Background:
		return RunBackground(c.ID, c.Task.Agent, c.Task.Text, c.Task.ExpectedOutput)
	case c.Task != nil:
		return Transfer(c.ID, c.Task.Agent, c.Task.Text, c.Task.ExpectedOutput)
	case c.To != "":
		return HandOff(c.ID, c.To)
	}
	return CallTool(c.ID, c.Tool, c.Args)
}

//go:embed shape.sql
var shapeSQL string

// Shape describes what all sessions of a database say and in which order,
// without ids of sessions, times, costs and models: one line for each item,
// with the items of a sub-session indented below its reference. Databases that
// hold the same conversations have the same shape. Sessions that nothing
// refers to come in the order in which they were written.
func Shape(db *sql.DB) (shape string, err error) {
	err = db.QueryRow(shapeSQL).Scan(&shape)
	return shape, err
}

//go:embed schema.sql
var schemaSQL string

// schema is what the runtime creates before any migration runs, and its migrations:
// each has its number as its place.
var schema = builder.ParseSections(schemaSQL)

// The generations at which the shape of the data changes.
const (
	withItems     = 14 // session_items exists; before it the messages column is the only copy
	withoutLegacy = 20 // the messages column is gone
	withKept      = 21 // a summary says which items it keeps

	// Latest is the last generation that this package knows.
	Latest = 30
)

// DB is a docker agent database under construction.
type DB struct {
	*builder.DB
	Path       string
	Generation int

	journal string
	rng     *rand.Rand
	now     time.Time
	step    time.Duration
	behind  []*Session // that lag
}

// Option changes how Create makes a database.
type Option func(*DB)

// StartAt sets the time of the migrations and of the first item; the offset of
// its zone is what the database shows. The default is 2026-02-14 09:00 +01:00,
// when the runtime still had the leak.
func StartAt(t time.Time) Option { return func(db *DB) { db.now = t } }

// StepBy sets the time between two items; the default is one second. Stored
// times have a resolution of one second.
func StepBy(d time.Duration) Option { return func(db *DB) { db.step = d } }

// Seed changes the ids that are drawn.
func Seed(seed uint64) Option {
	return func(db *DB) { db.rng = rand.New(rand.NewPCG(seed, seed)) }
}

// RollbackJournal leaves the database without a write-ahead log, as versions
// before v1.18.0 did.
func RollbackJournal() Option { return func(db *DB) { db.journal = "DELETE" } }

// Create makes a database file with the schema that the bootstrap and the
// migrations up to generation (0 to Latest) leave behind. The file must not
// exist yet.
func Create(path string, generation int, options ...Option) (*DB, error) {
	if generation < 0 || generation > Latest {
		return nil, fmt.Errorf("generation %d of the docker agent schema is not known: it must be between 0 and %d", generation, Latest)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s exists already: choose another path", path)
	}
	db := &DB{
		Path:       path,
		Generation: generation,
		journal:    "WAL",
		now:        time.Date(2026, 2, 14, 9, 0, 0, 0, time.FixedZone("", 3600)),
		step:       time.Second,
	}
	Seed(1)(db)
	for _, option := range options {
		option(db)
	}
	var err error
	if db.DB, err = builder.Open(path, "journal_mode("+db.journal+")", "foreign_keys(1)"); err != nil {
		return nil, err
	}
	db.Batch(db.createTables)
	if db.Err() != nil {
		return nil, db.DB.Close()
	}
	return db, nil
}

// createTables creates the tables in the order in which the runtime does.
func (db *DB) createTables() {
	for i, m := range schema[:db.Generation+1] {
		for _, statement := range m.Statements {
			db.Exec(statement)
		}
		if i > 0 {
			db.Exec("INSERT INTO migrations (id, name, description, applied_at) VALUES (?, ?, ?, ?)", i, m.Name, m.About, formatTime(db.now))
		}
	}
	db.CloseStatements() // the schema changed under the prepared statements
}

// Close brings the messages column up to date, closes the database, which
// checkpoints its write-ahead log, and returns the first error.
func (db *DB) Close() error {
	db.Sync()
	return db.DB.Close()
}

// formatTime formats the form of every time in the database.
func formatTime(t time.Time) string { return t.Format(time.RFC3339) }

//go:embed damages.sql
var damagesSQL string

var damages = builder.ParseSections(damagesSQL)

// Damage makes the damage of this name in a database of generation 14 or later;
// damages.sql has them all, with the arguments that each takes. The messages column
// follows the damaged items, as it does in the runtime when it next writes to the
// session. A damage that does not fit the database changes nothing, and is the error.
// It must not be part of a Batch.
func (db *DB) Damage(name string, args ...any) error {
	db.Sync()
	if db.Err() != nil {
		return db.Err()
	}
	at := slices.IndexFunc(damages, func(d builder.Section) bool { return d.Name == name })
	if at < 0 {
		return fmt.Errorf("no damage is called %s", name)
	}
	d := damages[at]
	if !strings.HasSuffix(d.About, " keys") {
		db.Exec("PRAGMA foreign_keys = OFF")
	}
	db.Batch(func() {
		for _, statement := range d.Statements {
			db.ChangeRow(statement, args...)
		}
		if strings.HasSuffix(d.About, " dense") {
			db.Exec(`UPDATE session_items AS i SET position = dense.position FROM (SELECT id, session_id,
				ROW_NUMBER() OVER (PARTITION BY session_id ORDER BY position, id) - 1 AS position FROM session_items) AS dense
				WHERE dense.id = i.id AND dense.position != i.position`)
		}
		if !strings.HasSuffix(d.About, " older") {
			db.reloadAllLegacy()
		}
	})
	err := db.Recover()
	db.Exec("PRAGMA foreign_keys = ON")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// reloadAllLegacy writes the messages column of all sessions that have one.
func (db *DB) reloadAllLegacy() {
	if db.Generation >= withoutLegacy {
		return
	}
	for _, id := range builder.QueryRows(db.DB, func(id *string) []any { return []any{id} }, "SELECT id FROM sessions WHERE messages IS NOT NULL ORDER BY rowid") {
		db.reloadLegacy(id)
	}
}
