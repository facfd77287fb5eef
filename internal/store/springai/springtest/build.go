// Package springtest builds databases as Spring AI Session writes them, in SQLite
// files that were made from the columns of its scripts: for tests.
//
// Append and Compact do what the library's repository does, in the order in which
// it does it. A Script is a list of such steps with a name; Random draws one.
// Nothing here reads the clock or the system's randomness.
package springtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/store/builder"
)

// Form is how a file has the tables. The zero Form is the usual one: since 0.6.0,
// with SQLite giving out seq.
type Form struct {
	ByTime  bool // before 0.6.0: no seq, no archived
	Plain   bool // seq is a column like others, and id the primary key
	Reused  bool // seq is given out, and numbers that are free at the end are again
	Upper   bool // names in upper case, as H2 has them
	Words   bool // booleans are texts
	ISO     bool // times are texts with T and Z
	Millis  bool // times are numbers, as the SQLite driver of Java writes them
	Loose   bool // nothing is NOT NULL, and there is no foreign key
	Unnamed bool // seq is unique, but nothing gives it out
	Copied  bool // as a copy by way of CSV: everything is a text, and NULL an empty one
}

// Forms are the forms of files to test with, by name.
var Forms = map[string]Form{
	"seq given out":    {},
	"plain seq":        {Plain: true},
	"reused numbers":   {Reused: true},
	"upper case":       {Upper: true, Words: true},
	"ISO times":        {ISO: true},
	"numbers as times": {Millis: true},
	"loose":            {Loose: true, Plain: true},
	"copied":           {Loose: true, Plain: true, Copied: true},
	"before 0.6.0":     {ByTime: true},
	"before, numbers":  {ByTime: true, Millis: true, Upper: true},
}

// DB is a database under construction.
type DB struct {
	*builder.DB
	Form Form

	now  time.Time
	last int
	seq  int64
}

// Create makes a file with the tables.
func Create(path string, form Form) (*DB, error) {
	plain, err := builder.Open(path)
	if err != nil {
		return nil, err
	}
	db := &DB{DB: plain, Form: form, now: time.Date(2026, 5, 4, 9, 0, 0, 250_000_000, time.UTC)}
	for _, statement := range form.schemaStatements() {
		db.Exec(statement)
	}
	if db.Err() != nil {
		return nil, db.Close()
	}
	return db, nil
}

func (f Form) schemaStatements() []string {
	order := "seq INTEGER PRIMARY KEY AUTOINCREMENT, id VARCHAR(255) NOT NULL UNIQUE"
	archived := "archived BOOLEAN NOT NULL DEFAULT FALSE,"
	switch {
	case f.ByTime:
		order, archived = "id VARCHAR(255) NOT NULL PRIMARY KEY", ""
	case f.Reused:
		order = "seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE"
	case f.Unnamed:
		order = "seq BIGINT NOT NULL UNIQUE, id VARCHAR(255) NOT NULL PRIMARY KEY"
	case f.Plain:
		order = "seq BIGINT NOT NULL, id TEXT PRIMARY KEY"
	}
	if f.Words {
		archived = strings.Replace(archived, "BOOLEAN", "TEXT", 1)
	}
	list := []string{
		`CREATE TABLE ai_session (id VARCHAR(255) NOT NULL PRIMARY KEY, user_id VARCHAR(255) NOT NULL, created_at TIMESTAMP NOT NULL,
			expires_at TIMESTAMP, metadata TEXT, event_version BIGINT NOT NULL DEFAULT 0)`,
		`CREATE TABLE ai_session_event (` + order + `, session_id VARCHAR(255) NOT NULL REFERENCES ai_session (id) ON DELETE CASCADE,
			"timestamp" TIMESTAMP NOT NULL, message_type VARCHAR(20) NOT NULL, message_content TEXT, message_data TEXT,
			synthetic BOOLEAN NOT NULL DEFAULT FALSE, ` + archived + ` branch VARCHAR(500), metadata TEXT)`,
		`CREATE INDEX idx_ai_session_event_session ON ai_session_event (session_id)`,
	}
	for i, statement := range list {
		if f.Loose {
			statement = strings.ReplaceAll(statement, " NOT NULL", "")
			statement = strings.ReplaceAll(statement, " REFERENCES ai_session (id) ON DELETE CASCADE", "")
		}
		if f.Copied {
			statement = texts.Replace(statement)
		}
		if f.Upper {
			statement = strings.ToUpper(statement)
		}
		list[i] = statement
	}
	return list
}

// texts makes every column one of texts.
var texts = strings.NewReplacer("TIMESTAMP", "TEXT DEFAULT ''", "BOOLEAN", "TEXT", "BIGINT", "TEXT")

// Session adds a session.
func (db *DB) Session(id string) {
	db.Exec("INSERT INTO ai_session (id, user_id, created_at, metadata) VALUES (?, 'default-user', ?, '{}')", id, db.formatTime(db.now))
}

// Append writes events as the library does, one after the other: the row, then
// the number that counts them.
func (db *DB) Append(session string, events ...Event) {
	for _, e := range events {
		db.writeEvent(session, db.completeEvent(e))
		db.Exec("UPDATE ai_session SET event_version = event_version + 1 WHERE id = ?", session)
	}
}

// completeEvent gives an event its id and time.
func (db *DB) completeEvent(e Event) Event {
	db.last++
	e.ID = cmp.Or(e.ID, fmt.Sprintf("00000000-0000-4000-8000-%012d", db.last))
	if e.Time.IsZero() {
		db.now = db.now.Add(1003 * time.Millisecond)
		e.Time = db.now
	}
	return e
}

func (db *DB) writeEvent(session string, e Event) {
	var text any = e.Text
	if e.NoText {
		text = nil
	}
	row := builder.Object{
		{"id", e.ID}, {"session_id", session}, {`"timestamp"`, db.formatTime(e.Time)}, {"message_type", e.Type}, {"message_content", text},
		{"message_data", e.messageData()}, {"synthetic", db.boolColumn(e.Synthetic)}, {"branch", builder.OrNil(e.Branch)}, {"metadata", cmp.Or(e.Metadata, "{}")},
	}
	if !db.Form.ByTime {
		row = append(row, builder.Member{"archived", db.boolColumn(e.Archived)})
	}
	if db.Form.Plain || db.Form.Unnamed {
		db.seq++
		row = append(row, builder.Member{"seq", db.seq})
	}
	for i := range row {
		if db.Form.Copied && row[i][1] == nil {
			row[i][1] = ""
		}
	}
	db.Insert("ai_session_event", row)
}

// formatTime formats a time as the file has it.
func (db *DB) formatTime(t time.Time) any {
	switch {
	case db.Form.Millis:
		return t.UnixMilli()
	case db.Form.ISO:
		return t.Format("2006-01-02T15:04:05.000000Z07:00")
	}
	return t.Format("2006-01-02 15:04:05.000000")
}

func (db *DB) boolColumn(is bool) any {
	if db.Form.Copied { // as PostgreSQL writes them
		return strconv.FormatBool(is)[:1]
	}
	if db.Form.Words {
		return strings.ToUpper(strconv.FormatBool(is))
	}
	return is
}

// Compact is what the library's compaction does: events are archived by id, all
// that are still active are deleted, and those that are kept are written anew, the
// summary first (docs/stores/spring-ai-session.md#what-the-library-corrects-itself). Before 0.6.0 what is archived is deleted as well.
func (db *DB) Compact(session string, archived []string, summary []Event, kept []Event) {
	db.Exec("UPDATE ai_session SET event_version = event_version + 1 WHERE id = ?", session)
	if db.Form.ByTime {
		db.Exec("DELETE FROM ai_session_event WHERE session_id = ?", session)
	} else {
		for _, id := range archived {
			db.Exec("UPDATE ai_session_event SET archived = ? WHERE id = ?", db.boolColumn(true), id)
		}
		db.Exec("DELETE FROM ai_session_event WHERE session_id = ? AND archived = ?", session, db.boolColumn(false))
	}
	for _, e := range slices.Concat(summary, kept) {
		db.writeEvent(session, db.completeEvent(e))
	}
}

// log is what a program has said in a session, so that it can be compacted.
type log struct {
	db      *DB
	session string
	active  []Event
}

func (l *log) appendEvents(events ...Event) {
	for _, e := range events {
		e = l.db.completeEvent(e)
		l.active = append(l.active, e)
		l.db.Append(l.session, e)
	}
}

// compactBefore archives what stands before the event with an index in the active window, and
// puts a summary in its place. Summaries before are deleted; the strategies that write
// none let those before stay.
func (l *log) compactBefore(cut int, summary ...Event) {
	var ids []string
	var before []Event
	for i := range summary {
		summary[i] = l.db.completeEvent(summary[i])
	}
	for _, e := range l.active[:cut] {
		if e.Synthetic {
			before = append(before, e)
		} else {
			ids = append(ids, e.ID)
		}
	}
	if summary == nil {
		summary = before
		if ids == nil {
			return // nothing is written
		}
	}
	kept := slices.Clone(l.active[cut:])
	l.db.Compact(l.session, ids, summary, kept)
	l.active = append(summary, kept...)
}

// Event is a row before it is written.
type Event struct {
	ID        string // "" for the next one
	Type      string // USER, ASSISTANT, SYSTEM, TOOL
	Text      string
	NoText    bool // NULL in place of a text
	Calls     []Call
	Responses []Response
	Data      string // message_data as it is stored, in place of calls and responses
	Branch    string
	Archived  bool
	Synthetic bool
	Metadata  string    // JSON, "" for what the library writes
	Time      time.Time // zero for the next one
}

// Call is a call of an ASSISTANT.
type Call struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Response is the response to a call, of a TOOL.
type Response struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Data string `json:"responseData"`
}

// User is what a person says, or what a sub-agent is asked.
func User(text string) Event { return Event{Type: "USER", Text: text} }

// Assistant is an answer.
func Assistant(text string) Event { return Event{Type: "ASSISTANT", Text: text} }

// Calling is an answer with calls of a tool, by their ids. It has no text.
func Calling(ids ...string) Event {
	e := Event{Type: "ASSISTANT", NoText: true}
	for _, id := range ids {
		e.Calls = append(e.Calls, Call{ID: id, Type: "function", Name: "get_weather", Arguments: `{"location":"Paris"}`})
	}
	return e
}

// Responding is a TOOL message with the responses to calls.
func Responding(ids ...string) Event {
	e := Event{Type: "TOOL"}
	for _, id := range ids {
		e.Responses = append(e.Responses, Response{ID: id, Name: "get_weather", Data: `{"temp":"22C","call":"` + id + `"}`})
	}
	return e
}

// Summary is the pair of messages that a compaction makes.
func Summary(text string) []Event {
	pair := []Event{User("Summarize the conversation we had so far."), Assistant(text)}
	for i := range pair {
		pair[i].Synthetic = true
		pair[i].Metadata = `{"synthetic":true,"compactionSource":"recursive-summarization"}`
	}
	return pair
}

// On is the event on a branch.
func (e Event) On(branch string) Event {
	e.Branch = branch
	return e
}

// messageData is message_data.
func (e Event) messageData() any {
	var list any
	switch {
	case e.Data != "":
		return e.Data
	case e.Calls != nil:
		list = e.Calls
	case e.Type == "TOOL":
		list = append([]Response{}, e.Responses...)
	default:
		return nil
	}
	text, _ := json.Marshal(list) // never fails on strings
	return string(text)
}
