// Package openaiagents reads and repairs the databases in which the OpenAI Agents SDK for Python
// (openai/openai-agents-python) keeps sessions: those of SQLiteSession, AdvancedSQLiteSession and
// SQLAlchemySession. docs/stores/openai-agents.md has the facts about the format.
package openaiagents

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// tableStructure says which messages are on which branch. Its name is fixed, and one pair of tables in
// a file can have it: the one that its foreign keys lead to.
const tableStructure = "message_structure"

// The columns that are known.
var (
	sessionColumns   = []string{fieldSession, "created_at", "updated_at"}
	messageColumns   = []string{"id", fieldSession, fieldData, "created_at"}
	structureColumns = []string{"id", fieldSession, "message_id", "branch_id", "message_type", "sequence_number", "user_turn_number", "branch_turn_number", "tool_name", "created_at"}
)

const (
	fieldSession = "session_id"
	fieldData    = "message_data"

	kindName  = "openai-agents"
	kindTitle = "OpenAI Agents SDK"
)

// Kind is the SDK's row in the table of adapters. It has no usual place for its files.
var Kind = eventlog.KindThrough(store.Kind{Name: kindName, Title: kindTitle, Locations: func(string) []string { return nil }}, detectTables, examineDatabase,
	func(db table.Reader) table.Reader { return newJoined(db) },
	func(e table.Editor) table.Editor {
		j := newJoined(e.Reader())
		return &editor{eventlog.Through{Editor: e, View: j}, j}
	})

// pair are two tables of sessions and of their messages, which users name.
type pair struct {
	number             int
	sessions, messages string
	columns            []string        // of the messages
	branched           bool            // message_structure is of it
	timed              bool            // SQLAlchemySession: it orders messages by created_at, then by id
	ranks              map[int64]int64 // and their places, by id
}

// findPairs finds the pairs of a database by their columns, and by the foreign key that connects them.
// A copy may have lost that.
func findPairs(stored table.Schema) (pairs []pair) {
	branches := stored.Tables[tableStructure].Parents
	for _, name := range stored.Names() {
		t := stored.Tables[name]
		if !stored.HasColumns(name, messageColumns...) {
			continue
		}
		at := slices.IndexFunc(t.Parents, func(to string) bool { return stored.HasColumns(to, sessionColumns...) })
		p := pair{number: len(pairs), sessions: "agent_sessions", messages: name, columns: stored.Columns(name)}
		if at >= 0 {
			p.sessions = t.Parents[at]
		} else if len(t.Parents) > 0 || !stored.HasColumns(p.sessions, sessionColumns...) {
			continue
		}
		p.timed = slices.ContainsFunc(t.Indexes, func(x table.Index) bool { return slices.Equal(x.Columns, []string{fieldSession, "created_at"}) })
		p.branched = stored.HasColumns(tableStructure, structureColumns[:6]...) && (slices.Contains(branches, name) || len(branches) == 0 && name == "agent_messages")
		pairs = append(pairs, p)
	}
	return pairs
}

func detectTables(_ context.Context, _ table.Reader, stored table.Schema) store.Detection {
	pairs := findPairs(stored)
	if len(pairs) == 0 {
		return store.Detection{}
	}
	return store.Detection{Sure: store.Certain, Why: "tables " + pairs[0].sessions + " and " + pairs[0].messages}
}

// examineDatabase looks at a database, and says what is known of the store before its sessions are.
func examineDatabase(_ context.Context, db table.Reader, stored table.Schema) (session.Store, *eventlog.Layout, error) {
	j := db.(*joined)
	j.joinPairs(findPairs(stored))
	facts := session.Store{
		Kind: kindName, Title: kindTitle, Runtime: runtime, Generation: "sessions",
		Requests: session.Requests{Profile: "openai-responses", Loses: losses},
		Keys:     session.Keys{Renumbers: true, CountsRows: true},
	}
	layout := j.buildLayout(stored)
	if slices.ContainsFunc(j.pairs, func(p pair) bool { return p.branched }) {
		facts.Generation, facts.BranchModel, facts.MainBranch = "branches", "names", "main"
	}
	return facts, layout, nil
}

// runtime is what the runner makes of the history of a session before each request
// (prepare_input_with_session and drop_orphan_function_calls of 0.22.0).
var runtime = session.Runtime{
	Name:      kindTitle,
	Sanitiser: &session.Sanitiser{By: "OpenAI Agents SDK releases since 0.8", Always: true, KeepsResults: true, Latest: true},
}

// losses is what it leaves out, or sends in another way: the model does not learn of that.
var losses = map[string]string{
	"SC101": "leaves the call out of requests, and the reasoning directly before it",
	"SC106": "sends the last of them only",
	"SC107": "sends the last of them only",
	"SC201": "sends one call of an id, with what the last one says",
	"SC202": "sends one call of an id, with what the last one says, and the last result",
}

// buildLayout builds how such a database is read and written.
func (j *joined) buildLayout(stored table.Schema) *eventlog.Layout {
	l := &eventlog.Layout{
		Later:    store.Later{Read: "Sessions and messages"},
		Sessions: eventlog.Table{Name: j.Sessions, Columns: append(slices.Clone(sessionColumns), fieldPair, fieldLoose), Key: []string{fieldSession}},
		Events:   eventlog.Table{Name: j.Events, Key: []string{fieldSession}, ID: "id"},
		Place:    []string{fieldPlace},
		Order: func(_ table.Place, row eventlog.Row) (position, tie int64) {
			position, _ = column.Int(row.Value(fieldPlace))
			tie, _ = column.Int(row.Value("id"))
			return position, tie
		},
		Session: j.sessionOf, Item: j.decodeRow, Finish: tellEncrypted,
		Said: []string{fieldData, fieldBranch}, Verbatim: eventlog.AtMost(0, "refusal"),
		Prepare: j.prepareTables, OtherTables: j.structureSum,
		Write: eventlog.Write{
			Insert: j.insertResult, Update: j.updateItem, Renumber: []string{"id"}, OtherTables: j.arrangeBranches,
			Tied: func(a, b int64) bool { return a>>rankBits == b>>rankBits || a|b < timedPlace },
		},
	}
	for _, p := range j.pairs {
		l.Events.Columns = table.UniteNames(l.Events.Columns, p.columns)
		l.Known = append(l.Known, eventlog.Known{Table: p.sessions, Needed: sessionColumns}, eventlog.Known{Table: p.messages, Needed: messageColumns})
		l.Write.OtherNames = append(l.Write.OtherNames, p.sessions, p.messages)
		if p.branched {
			l.Known = append(l.Known, eventlog.Known{Table: tableStructure, Needed: structureColumns})
			l.Write.OtherNames = append(l.Write.OtherNames, tableStructure)
		}
		for _, name := range stored.Names() {
			if len(j.pairs) > 1 && name != tableStructure && slices.Contains(stored.Tables[name].Parents, p.messages) {
				l.Later.Doubts = append(l.Later.Doubts, fmt.Sprintf("table %.60q refers to rows of %s", name, p.messages))
			}
		}
	}
	l.Events.Columns = append(l.Events.Columns, fieldPair, fieldPlace, fieldBranch)
	if len(j.pairs) > 1 { // a session is told by its id, and by its table where that is not enough
		l.Sessions.Key, l.Events.Key = []string{fieldPair, fieldSession}, []string{fieldPair, fieldSession}
	}
	return l
}

// times are UTC: of SQLite to the second, of PostgreSQL to the microsecond, and those of MySQL have a zone.
var times = column.Times{
	Forms: []column.Form{{Layout: "2006-01-02 15:04:05", Fraction: ".000000"}, {Layout: "2006-01-02 15:04:05Z07:00", Fraction: ".000000"}}, T: true, UTC: true, Years: [2]int{2000, 2200},
	Formless: "it is not in the form 2026-02-03 09:56:40", Outside: "its year is %d",
}

// sessionOf is the session of a row, without items.
func (j *joined) sessionOf(row eventlog.Row) *session.Session {
	s := &session.Session{ID: column.Text(row.Value(fieldSession))}
	s.Created, s.Updated = times.Read(row.Value("created_at")).Time, times.Read(row.Value("updated_at")).Time
	p := j.pairOf(column.View(row.Value(fieldPair)))
	if from, _ := j.SourceOf(row.Place); from.Table == "" {
		first := cmp.Or(column.Text(row.Value("created_at")), "2000-01-01 00:00:00")
		f := session.Fault{
			Kind: session.OrphanRecord, Field: "created_at", Default: &first,
			Detail: fmt.Sprintf("%s has messages of session %.60q, which has no row of its own. A run that names the session sends them", p.messages, s.ID),
		}
		if j.Reader.About().Remote { // its foreign key would keep an undo from taking the row away
			f.Default = nil
		}
		s.Faults = append(s.Faults, f)
	}
	if b := j.branchesOf(p, s.ID); b != nil {
		b.tellBranches(s)
	}
	return s
}
