// Package crush reads and repairs the databases of Crush (charmbracelet/crush), one for each
// project. docs/stores/crush.md has the facts about the format.
package crush

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// The tables. Others are never written: files holds whole texts of the user's files.
const (
	tableSessions   = "sessions"
	tableMessages   = "messages"
	tableMigrations = "goose_db_version"
)

// known are the columns of every release, and those that migrations added.
var known = []eventlog.Known{
	{Table: tableSessions, Needed: []string{
		"id", "parent_session_id", "title", "message_count", "prompt_tokens", "completion_tokens", "cost", "updated_at", "created_at",
	}, Further: []string{"summary_message_id", "todos"}},
	{Table: tableMessages, Needed: []string{"id", "session_id", "role", "parts", "model", "created_at", "updated_at", "finished_at"},
		Further: []string{"provider", "is_summary_message"}},
}

// migrations are the schema's generations. Until August 2026 no release added one.
var migrations = []int64{20250424200609, 20250515105448, 20250624000000, 20250627000000, 20250810000000, 20250812000000, 20260127000000}

// triggers are those that Crush makes in the tables that are read.
var triggers = []string{
	"update_sessions_updated_at", "update_messages_updated_at", "update_files_updated_at",
	"update_session_message_count_on_insert", "update_session_message_count_on_delete",
}

const (
	kindName  = "crush"
	kindTitle = "Crush"
)

// Kind is Crush's row in the table of adapters.
var Kind = eventlog.Kind(store.Kind{Name: kindName, Title: kindTitle, Locations: listLocations, Open: openDatabase, Edit: openEdit}, detectTables, examineDatabase)

// listLocations lists the database of the project that the current folder belongs to: in the
// nearest folder .crush, from there upwards and below the home folder.
func listLocations(home string) []string {
	folder, err := os.Getwd()
	for up := "."; err == nil && folder != home; up = filepath.Join(up, "..") {
		path := filepath.Join(up, ".crush", "crush.db")
		if _, missing := os.Stat(path); missing == nil {
			return []string{path}
		}
		above := filepath.Dir(folder)
		if above == folder {
			break
		}
		folder = above
	}
	return []string{filepath.Join(".crush", "crush.db")}
}

func detectTables(_ context.Context, _ table.Reader, stored table.Schema) store.Detection {
	switch {
	case !stored.HasColumns(tableSessions, "parent_session_id", "message_count", "prompt_tokens") ||
		!stored.HasColumns(tableMessages, "session_id", "parts", "finished_at"):
		return store.Detection{}
	case stored.HasColumns(tableMigrations, "version_id"):
		return store.Detection{Sure: store.Certain, Why: "tables sessions, messages and " + tableMigrations}
	}
	return store.Detection{Sure: store.Maybe, Why: "tables sessions and messages, but no " + tableMigrations}
}

// lockPath is the file that Crush v0.74.0 and later hold a lock on while they run, beside the
// database. What is written in it is for people, and can be of a process that was killed.
func lockPath(src *store.Source) string { return filepath.Join(filepath.Dir(src.Path), "crush.lock") }

// openDatabase reads everything but texts.
func openDatabase(ctx context.Context, src *store.Source, opts store.Options) (store.Store, error) {
	st, err := eventlog.OpenBy(ctx, src, opts, examineDatabase)
	if err != nil {
		return nil, err
	}
	release, taken := atomicfile.HoldLock(lockPath(src))
	if release(); taken && st.Facts().Writer != session.WriterLive {
		st.Facts().Writer, st.Facts().WriterName = session.WriterLive, kindTitle
	}
	return st, nil
}

// openEdit opens a database for repair or undo. Until it is closed, no Crush that locks the
// folder can start.
func openEdit(ctx context.Context, src *store.Source) (store.Editor, error) {
	release, taken := atomicfile.HoldLock(lockPath(src))
	if taken {
		return nil, problem.New(problem.Busy, "close Crush and try again; nothing was changed", "%s is in use by Crush, which has locked %s", src.Path, lockPath(src))
	}
	held := *src
	held.Edit = func(ctx context.Context) (table.Editor, error) {
		e, err := src.Edit(ctx)
		return holder{e, release}, err
	}
	e, err := eventlog.Edit(ctx, &held, examineDatabase)
	if err != nil {
		release()
	}
	return e, err
}

// holder holds the lock as long as the database is open.
type holder struct {
	table.Editor
	release func()
}

func (h holder) Close() error {
	defer h.release()
	return h.Editor.Close()
}

// reader is what is known of a database while its sessions are read.
type reader struct {
	table.Schema
	heads    map[string]head     // by the session's id
	children map[string][]string // the sessions that a message's calls started, by its id
}

// head is what a session's own row says of its messages.
type head struct {
	summary string // the message from which on they are sent
	count   int64
}

// examineDatabase looks at a database, and says what is known of the store before its sessions
// are.
func examineDatabase(ctx context.Context, db table.Reader, stored table.Schema) (session.Store, *eventlog.Layout, error) {
	later := store.Later{Read: "Sessions and messages"}
	newest, generation := int64(0), ""
	_, err := table.Glance(ctx, db, tableMigrations, []string{"version_id"}, func(row []table.Value) {
		id, _ := column.Int(row[0])
		newest = max(newest, id)
		if id > migrations[len(migrations)-1] {
			later.Doubt("it has migrations that sessctl does not know", fmt.Sprint("nobody knows here what migration ", id, " changed"))
		}
	})
	if generation = strconv.FormatInt(newest, 10); !stored.HasColumns(tableMigrations, "version_id") {
		generation = ""
		later.Doubt("it has no table "+tableMigrations, "nothing tells which release of Crush wrote it")
	}
	facts := session.Store{
		Kind: kindName, Title: kindTitle, Generation: generation, Runtime: runtimeOf(newest),
		Versions: "written by Crush, or by the archived Go program opencode, whose first tables are the same",
		Reader:   session.Reader{Retells: session.Retelling{Bare: true}},
		Keys:     session.Keys{Renumbers: true, Closes: true, Omits: true},
	}
	facts.Loses = map[string]string{"SC606": "sends U+FFFD in its place"} // as encoding/json does
	if facts.Sanitiser.Always {
		maps.Copy(facts.Loses, losses)
	}
	layout := (&reader{Schema: stored}).buildLayout()
	layout.Known, layout.Later = known, later
	return facts, layout, err
}

// runtimeOf is what the releases that read a generation make of the pairs of a request
// (preparePrompt in internal/agent/agent.go): v0.57.0 and later drop results without a
// call, v0.59.0 and later answer calls without a result; both go by ids alone, wherever and
// how often. The newest tables came with v0.37.0; they are taken for those of such a release.
func runtimeOf(generation int64) session.Runtime {
	return session.Runtime{
		Name:          kindTitle,
		BlankMessages: "Crush leaves answers without text, reasoning and calls out of the request",
		Sanitiser: &session.Sanitiser{
			By: "Crush 0.59 and later", Always: generation >= migrations[len(migrations)-1],
			Result: "tool call was interrupted and did not produce a result, you may retry this call if the result is still needed",
		},
	}
}

// losses is what such a release does about what has no other half.
var losses = map[string]string{
	"SC101": "sends an error result in its place (v0.59.0 and later)",
	"SC103": "leaves the result out of requests (v0.57.0 and later)",
}

// buildLayout builds how such a database is read and written.
func (r *reader) buildLayout() *eventlog.Layout {
	return &eventlog.Layout{
		Sessions: eventlog.Table{
			Name: tableSessions, Columns: r.Columns(tableSessions), Key: []string{"id"}, Parent: "parent_session_id",
			Derived: []string{"message_count", "updated_at"}, Count: "message_count",
		},
		Events: eventlog.Table{
			Name: tableMessages, Columns: r.Columns(tableMessages), Key: []string{"session_id"}, ID: "id", Derived: []string{"updated_at"},
		},
		Place: []string{"created_at"}, Order: messageOrder,
		Session: func(row eventlog.Row) *session.Session { return sessionOf(row) },
		Item:    r.decodeItem, Finish: r.finishSession, Gather: r.findStrays,
		Relate: r.relate,
		Said:   []string{"role", "parts", "is_summary_message"}, Verbatim: eventlog.AtMost(0, typeShell),
		Links: func(row eventlog.Row) []string { return r.children[column.View(row.Value("id"))] }, OneID: true,
		Triggers: triggers, Prepare: r.prepareTables,
		Write: eventlog.Write{
			Insert: insert, Part: partRow, Update: updateMessage, Typed: typed,
			Renumber: []string{table.RowPlace},
			Tied:     eventlog.SameSecond,
		},
	}
}

// messageOrder: messages of one second stand in the order of their rows, which is how SQLite gives
// what is sorted by created_at alone.
func messageOrder(at table.Place, place eventlog.Row) (position, tie int64) {
	return eventlog.BySecond(at, place.Value("created_at"))
}

// between parts the id of a child: that of the message whose call started it, and the
// call's, which may hold the mark, too.
const between = "$$"

// prepareTables reads what sessions say of messages.
func (r *reader) prepareTables(ctx context.Context, db table.Reader, _ [][]table.Value) error {
	r.heads, r.children = map[string]head{}, map[string][]string{}
	_, err := table.Glance(ctx, db, tableSessions, []string{"id", "message_count", "summary_message_id"}, func(row []table.Value) {
		id, h := column.Text(row[0]), head{column.Text(row[2]), -1}
		if n, ok := column.Int(row[1]); ok {
			h.count = n
		}
		r.heads[id] = h
		if message, _, found := strings.Cut(id, between); found {
			r.children[message] = append(r.children[message], id)
		}
	})
	return err
}

// sessionOf is the session of a row, without items. Its times are seconds, although comments
// in the schema say milliseconds.
func sessionOf(row eventlog.Row) *session.Session {
	s := &session.Session{ID: column.Text(row.Value("id")), Title: column.Text(row.Value("title")), Tick: time.Second, TickBits: eventlog.SecondBits}
	s.Delegated = strings.Contains(s.ID, between)
	s.Created, s.Updated = eventlog.Seconds.Read(row.Value("created_at")).Time, eventlog.Seconds.Read(row.Value("updated_at")).Time
	s.Faults = append(eventlog.BadTimes(row.Value, &eventlog.Seconds, "created_at", "updated_at"), eventlog.BadUnicode(row, "title")...)
	return s
}

// finishSession says what only the session's row tells of its messages: from which one on they
// are sent. Before that column, or where it is empty, all are.
func (r *reader) finishSession(s *session.Session) {
	head, known := r.heads[s.ID]
	last, found, lost := "", false, "that the session does not have"
	for i := range s.Items {
		it := &s.Items[i]
		if it.Kind == session.Summary {
			last, it.Kind = it.Key, session.Message
		}
		switch {
		case head.summary == "" || it.Key != head.summary:
		case it.Kind == session.Other: // a repair takes it out
			lost = "that cannot be read"
		default:
			it.Kind, found = session.Summary, true
		}
	}
	r.nameLost(s)
	s.Faults = slices.Clone(s.Faults) // the session may be yielded again
	fault := func(kind session.FaultKind, field, detail string, value *string) {
		s.Faults = append(s.Faults, session.Fault{Kind: kind, Ref: s.Ref(), Item: -1, Field: field, Detail: detail, Default: value})
	}
	if head.summary != "" && !found {
		fault(session.BadSummary, session.FieldSummary,
			"summary_message_id names a message "+lost+", so the whole conversation is sent again", &last)
	}
	if n := int64(len(s.Items)); known && head.count != n {
		value := strconv.FormatInt(n, 10)
		fault(session.Housekeeping, "message_count", fmt.Sprintf("message_count is %d, and the session has %d messages", head.count, n), &value)
	}
	if s.Delegated && len(s.Items) > 0 && s.Items[0].Role == session.User {
		s.Task = s.Items[0].Text
	}
}

// nameLost names the sub-sessions of calls that were answered and whose session is gone: Crush
// makes that before it asks a model (internal/agent/agent_tool.go), and an error alone may come
// without it. Programs before Crush named it like the call.
func (r *reader) nameLost(s *session.Session) {
	stored := func(id string) bool { _, is := r.heads[id]; return is }
	open := map[string]func(){}
	for i := range s.Items {
		it := &s.Items[i]
		for n := range it.Calls {
			if d := it.Calls[n].Delegation; d != nil && it.Calls[n].Name == "agent" && !stored(d.Child) {
				it.Calls = slices.Clone(it.Calls)
				c, lost := &it.Calls[n], *d
				lost.Child = ""
				c.Delegation, open[c.ID] = &lost, func() { lost.Child = it.Key + between + c.ID }
			}
		}
		for n := range it.Results {
			res := &it.Results[n]
			if name := open[res.CallID]; name != nil && !res.IsError && !res.Synthetic && !stored(res.CallID) {
				name()
			}
			delete(open, res.CallID)
		}
	}
}

// relate sets anew what other messages tell of one, and what the session as a whole has faults of:
// where a repair adds or takes messages, it sets their number right.
func (r *reader) relate(s *session.Session) {
	eventlog.DropTimeFaults(s, "created_at")
	r.nameLost(s)
	s.Faults = slices.DeleteFunc(s.Faults, func(f session.Fault) bool {
		return f.Kind == session.Housekeeping && *f.Default != strconv.Itoa(len(s.Items))
	})
}
