// Package kagent reads and repairs the databases of kagent (kagent-dev/kagent) as
// SQLite files: with the columns that its controller gave them up to 0.8.0-beta7,
// and with those that its PostgreSQL tables have now. The facts about the format
// are from the notes named kagent.md in the design: a letter or a number like K8 in
// a comment is a section or a case of them.
//
// A session is one conversation with one agent. An agent that asks another one
// calls a tool; the worker's session is a row like any other, and the call's result
// names it. Agents on ADK store its events, which package adk decodes.
package kagent

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/adk"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// The tables, as GORM and the migrations name them (a2, a3).
const (
	tableSessions = "session"
	tableEvents   = "event"
	tableTasks    = "task"

	tableMigrations = "schema_migrations" // since PostgreSQL
)

// schema is what a database has.
type schema struct{ table.Schema }

// known are the columns of the tables: those of every release that is read, and
// those that later ones brought.
var known = []eventlog.Known{
	{Table: tableSessions, Needed: []string{"id", "name", "user_id", "created_at", "updated_at", "deleted_at", "agent_id"}, Further: []string{"source"}},
	{Table: tableEvents, Needed: []string{"id", "session_id", "user_id", "created_at", "updated_at", "deleted_at", "data"}},
	{Table: tableTasks, Needed: []string{"id", "created_at", "updated_at", "deleted_at", "data", "session_id"}, Further: []string{"protocol_version", "user_id"}},
}

// generations are the forms of the tables by the column that came last, the newest
// first, with the release that brought it.
var generations = []struct{ table, column, release, runtime string }{
	{tableTasks, "user_id", "0.10.0", "kagent 0.10.0-beta11 or later"},
	{tableTasks, "protocol_version", "0.9.7", "kagent 0.9.7 to 0.10.0-beta10"},
	{tableSessions, "source", "0.8.0", "kagent 0.8.0-beta9 to 0.9.6"},
	{tableSessions, "id", "0.5.0", "kagent 0.5.0 to 0.8.0-beta8"},
}

// tableHistory is the mark of the baseline with which kagent begins anew for 1.0, headed
// "development databases must be recreated": conversations are in tables of histories,
// tasks and their events, in Protobuf, and branches of a conversation share their start.
const tableHistory = "agent_history"

// isBaseline reports whether the tables are those of 1.0, also beside older ones.
func (s schema) isBaseline() bool {
	return s.HasColumns(tableHistory, "id", "context_id", "parent_history_id")
}

func (s schema) generationName() string { release, _ := s.findRelease(); return release }

// findRelease finds the first release that made such tables, and those that did.
func (s schema) findRelease() (first, all string) {
	for _, g := range generations {
		if s.HasColumns(g.table, g.column) {
			return g.release, g.runtime
		}
	}
	return "", ""
}

// storeFacts is what is known of a store before its sessions are read. What reads its
// events is ADK, in Python or Go, for nearly all agents. An open task is no sign of a
// writer: it stays open where a client went away (K2).
func (r *reader) storeFacts() session.Store {
	release, all := r.findRelease()
	return session.Store{
		Kind: kindName, Title: kindTitle, Generation: release, Versions: "with the tables of " + all,
		Requests: session.Requests{Adapts: adk.Adaptations},
		Reader:   session.Reader{BranchModel: "path", ForeignText: true, GathersResults: true, LastResult: true, SilentLabels: true},
		Children: session.Children{
			Agents: r.agents, ReusesChildren: true,
			SharedChildren: sharedChildren, // the documented default (docs/stores/kagent.md#one-session-for-several-calls)
		},
		Condition: session.Condition{Faults: slices.Concat(r.lost, r.reportStrayTasks(), r.reportForeignTasks(), r.reportUnowned())},
	}
}

// sharedChildren is what keeps calls apart, and from when on (c1: kagent-dev/kagent
// PR #2153, and commit c9d6f88 for Python).
const sharedChildren = "`isolateSessions: true` on the tool gives each call a session of its own (Go runtime from v0.10.0-rc2 on; " +
	"Python on main since 2026-08-21 only, earlier releases take the setting and ignore it)"

// reportStrayTasks are the tasks of sessions that do not exist (K8): one fault for each of
// these.
func (r *reader) reportStrayTasks() (faults []session.Fault) {
	for _, id := range sortedKeys(r.tasks) {
		if !r.counted || r.users[id] != nil {
			continue
		}
		list := r.tasks[id]
		of := fmt.Sprintf("of session %.60q, which does not exist", id)
		if id == "" {
			of = "of no session"
		}
		faults = append(faults, orphanTasks(id, list, of))
	}
	return faults
}

// orphanTasks is the fault of tasks without a session, in words that follow "tasks has 2 rows".
func orphanTasks(id string, list []task, of string) session.Fault {
	return session.Fault{
		Kind: session.OrphanRecord, Item: -1, Ref: session.Ref{Session: id, Table: tableTasks, Key: list[0].run.ID}, Count: len(list),
		Detail: fmt.Sprintf("%s has %s, from task %.60q on, %s", tableTasks, formatCount(len(list), "row"), list[0].run.ID, of),
	}
}

// reportForeignTasks are the tasks of a user who has no session with their id, though others
// have one (K4): one fault for each user and id.
func (r *reader) reportForeignTasks() (faults []session.Fault) {
	for _, id := range sortedKeys(r.tasks) {
		others := map[string][]task{}
		for _, t := range r.tasks[id] {
			if t.owner != "" && r.counted && r.users[id] != nil && !slices.Contains(r.users[id], t.owner) {
				others[t.owner] = append(others[t.owner], t)
			}
		}
		for _, user := range sortedKeys(others) {
			faults = append(faults, orphanTasks(user+"/"+id, others[user], fmt.Sprintf("of user %.60q, who has no session %.60q", user, id)))
		}
	}
	return faults
}

// reportUnowned tells of tasks that nobody is shown: those without a user, where tasks have
// one (K7), and those in A2A's older shape, where the newer is written already (K11).
func (r *reader) reportUnowned() []session.Fault {
	var nobodys, older, newer []string
	for _, id := range sortedKeys(r.tasks) {
		for i := range r.tasks[id] {
			t := &r.tasks[id][i]
			switch {
			case t.deleted:
			case t.version == "":
				older = append(older, t.run.ID)
			default:
				newer = append(newer, t.run.ID)
			}
			if !t.deleted && t.owner == "" {
				nobodys = append(nobodys, t.run.ID)
			}
		}
	}
	var faults []session.Fault
	if r.HasColumns(tableTasks, "user_id") && len(nobodys) > 0 {
		faults = append(faults, session.Fault{
			Kind: session.OrphanRecord, Item: -1, Ref: session.Ref{Table: tableTasks, Key: nobodys[0]}, Field: "user_id", Count: len(nobodys),
			Detail: fmt.Sprintf("%s, the first of them %.60q, have no user: kagent shows them to nobody since 0.10", formatCount(len(nobodys), "task"), nobodys[0]),
		})
	}
	if len(older) > 0 && len(newer) > 0 {
		faults = append(faults, session.Fault{
			Kind: session.MixedDialects, Item: -1, Ref: session.Ref{Table: tableTasks, Key: older[0]}, Field: "protocol_version", Count: len(older),
			Detail: fmt.Sprintf("%d of %d tasks are in the shape that A2A had before 1.0; the program that wrote the others cannot read these",
				len(older), len(older)+len(newer)),
		})
	}
	return faults
}

const (
	kindName  = "kagent"
	kindTitle = "kagent"
)

// Kind is kagent's row in the table of adapters. Its database was in a volume of a
// pod, so there is no place to look for it.
var Kind = eventlog.Kind(store.Kind{Name: kindName, Title: kindTitle, Open: openDatabase, Prologue: composePrologue}, detectTables, buildEditLayout)

func detectTables(_ context.Context, _ table.Reader, stored table.Schema) store.Detection {
	s := schema{stored}
	switch {
	case s.isBaseline():
		return store.Detection{Sure: store.Certain, Generation: "1.0", Why: "table " + tableHistory}
	case !s.HasColumns(tableSessions, "id", "user_id", "agent_id") || !s.HasColumns(tableEvents, "id", "user_id", "session_id", "data"):
		return store.Detection{}
	case s.HasColumns(tableTasks, "id", "session_id", "data"):
		return store.Detection{Sure: store.Certain, Generation: s.generationName(), Why: "tables session, event and task"}
	}
	return store.Detection{Sure: store.Maybe, Generation: s.generationName(), Why: "tables session and event, but no table task"}
}

// openDatabase reads everything but texts. What it reads is shown to people, so that the
// headers of requests are taken out of records.
func openDatabase(ctx context.Context, src *store.Source, opts store.Options) (store.Store, error) {
	return eventlog.OpenBy(ctx, src, opts, func(ctx context.Context, db table.Reader, stored table.Schema) (session.Store, *eventlog.Layout, error) {
		r := &reader{schema: schema{stored}, redacts: true}
		facts, layout, err := r.examine(ctx, db)
		layout.Prepare = nil // it was, just now
		return facts, layout, err
	})
}

// composePrologue composes the name that a session gets from its first request: the first 20
// characters (docs/stores/kagent.md#what-is-read). It starts with what the worker itself stores.
func composePrologue(call *session.Call) (title string, _ []session.Item) {
	const longest = 20
	title = requestOf([]byte(call.Args))
	if characters := []rune(title); len(characters) > longest {
		title = string(characters[:longest]) + "..."
	}
	return title, nil
}

// reader is what is known of a database while its sessions are read.
type reader struct {
	schema
	redacts     bool // people see what it gives: see redact.go
	otherTables      // what other tables say of sessions
	documents   adk.Documents
	notes       notes
}

// examine looks at a database, and says what is known of the store before its
// sessions are.
func (r *reader) examine(ctx context.Context, db table.Reader) (session.Store, *eventlog.Layout, error) {
	if r.isBaseline() {
		return session.Store{}, r.buildLayout(), problem.New(problem.Unreadable,
			"sessctl reads the tables of kagent 0.5 to 0.10. The file was not changed. Please ask for support of kagent 1.0, and name the release that created this database.",
			"%s has the tables of kagent 1.0 (%s), which store conversations in another form: neither they nor older tables beside them were read", db.About().Name, tableHistory)
	}
	err := r.requireMigrated(ctx, db)
	if err == nil {
		err = r.prepareTables(ctx, db, nil)
	}
	return r.storeFacts(), r.buildLayout(), err
}

// requireMigrated refuses a database whose migration has not ended: golang-migrate, which kagent
// takes on PostgreSQL, notes that before it begins and clears it at the end.
func (s schema) requireMigrated(ctx context.Context, db table.Reader) error {
	var dirty error
	_, err := table.Glance(ctx, db, tableMigrations, []string{"version", "dirty"}, func(row []table.Value) {
		if half, _ := column.Bool(row[1]); half {
			dirty = problem.New(problem.Unreadable, "If kagent is starting, try again when it runs. Else its log says why the migration failed: mend that first.",
				"the migration of %s to version %s of kagent's tables ended half way, or still runs", db.About().Name, column.View(row[0]))
		}
	})
	return cmp.Or(err, dirty)
}

// buildLayout builds how such a database is read and written.
func (r *reader) buildLayout() *eventlog.Layout {
	return &eventlog.Layout{
		Sessions: eventlog.Table{Name: tableSessions, Columns: r.Columns(tableSessions), Key: []string{"user_id", "id"}},
		Events:   eventlog.Table{Name: tableEvents, Columns: r.Columns(tableEvents), Key: []string{"user_id", "session_id"}, ID: "id"},
		Known:    known, Odd: session.Ref{Table: tableSessions, Key: "*"},
		Place: []string{"created_at"}, Order: eventOrder, Timed: true,
		Session: func(row eventlog.Row) *session.Session { return r.makeSession(row.Value) },
		Item: func(row eventlog.Row, it *session.Item, body bool) []session.Fault {
			return r.decodeItem(row.Value, it, body)
		},
		Finish: r.finishSession, Relate: r.relateItems,
		Said: []string{"data"}, Content: withoutTime, Verbatim: eventlog.AtMost(1, "thought", "reasoning"),
		Links: func(row eventlog.Row) []string { return r.listLinks(row.Value) }, LinkColumns: []string{"data"}, OneID: true,
		Prepare: r.prepareTables, OtherTables: r.digestTasks,
		Write: writes,
	}
}

// eventOrder is where an event stands: by created_at, to the microsecond, which is what
// kagent asks for (docs/stores/kagent.md#what-is-read). Of events of one time SQLite gives the one that was written
// first; what the notes advise instead (K12) is for finish, which sees all of them.
func eventOrder(_ table.Place, place eventlog.Row) (at, tie int64) {
	return placeOf(place.Value("created_at"))
}

// withoutTime is what an event says, without the time of which created_at is the
// store's own copy.
func withoutTime(_ string, value any) any {
	doc, _ := unwrapDocument(column.Bytes(value))
	return string(adk.WithoutTime(doc))
}

// buildEditLayout makes the layout of a database that is open for writing. Its records are
// for receipts, which keep them as they were.
func buildEditLayout(ctx context.Context, db table.Reader, stored table.Schema) (session.Store, *eventlog.Layout, error) {
	return (&reader{schema: schema{stored}}).examine(ctx, db)
}

// dialect is the form of an event's document (docs/stores/kagent.md#what-is-read).
type dialect uint8

const (
	unknown   dialect = iota
	snake             // kagent's Python runtime: an event of adk-python
	pascal            // its Go runtime with adk-go before 2.2
	camel             // its Go runtime with adk-go 2.2 or later
	responses         // its package for the OpenAI Agents SDK: a list of Responses API items
	message           // a message of A2A
)

// words say of a number of events what they are.
var words = map[dialect]string{
	unknown:   "in no known form",
	snake:     "in the form of kagent's Python runtime (invocation_id)",
	pascal:    "in the form of kagent's Go runtime with adk-go before 2.2 (InvocationID)",
	camel:     "in the form of kagent's Go runtime with adk-go 2.2 or later (invocationId)",
	responses: "in the form of kagent's package for the OpenAI Agents SDK",
	message:   "messages of A2A",
}

type mark struct {
	name string
	is   dialect
}

// marks are the names of members that only one dialect has. Those that tell best
// come first: an event of ADK has an invocation in every dialect.
var marks = []mark{
	{"invocation_id", snake}, {"InvocationID", pascal}, {"invocationId", camel},
	{"items", responses}, {"messageId", message}, {"message_id", message},
	{"LongRunningToolIDs", pascal}, {"Author", pascal}, {"long_running_tool_ids", snake}, {"longRunningToolIds", camel},
	{"author", snake}, {"content", snake}, {"Content", pascal}, {"parts", message},
}

// dialectOf tells by the members of the document.
func dialectOf(doc []byte) dialect {
	best := len(marks)
	see := func(name string) {
		if i := slices.IndexFunc(marks[:best], func(m mark) bool { return m.name == name }); i >= 0 {
			best = i
		}
	}
	if s := jsonscan.NewScanner(doc); !s.VisitMembers(func(name []byte) bool {
		if see(string(name)); best == 0 {
			return false // whatever stands behind
		}
		_, ok := s.ReadValue()
		return ok
	}) && best > 0 {
		best = len(marks)
		dec := jsontext.NewDecoder(bytes.NewReader(doc), lenient)
		if begin, err := dec.ReadToken(); err != nil || begin.Kind() != jsontext.KindBeginObject {
			return unknown
		}
		for dec.PeekKind() == jsontext.KindString {
			name, err := dec.ReadValue()
			if err != nil {
				break
			}
			see(stringOf(name))
			if dec.SkipValue() != nil {
				break
			}
		}
	}
	if best == len(marks) {
		return unknown
	}
	return marks[best].is
}
