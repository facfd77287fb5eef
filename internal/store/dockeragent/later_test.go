package dockeragent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// step is a migration that no docker agent has.
type step struct {
	name       string
	statements []string
}

// harmless are migrations that a repair need not know, with what is said not to be read.
var harmless = []struct {
	step
	unread string
}{
	{step{"add_notes", []string{"create table notes (id integer primary key, session_id text not null, note text not null check (note <> ''))",
		"insert into notes values (1, 'P', 'about P')"}},
		"Neither read nor changed by a repair: notes. What notes says about a session stays with that session"},
	{step{"add_mime_owner", []string{"create table notes (owner text not null)", "alter table notes add column colour text not null default 'red'"}}, "by a repair: notes."},
	{step{"add_colour", []string{"alter table sessions add column colour text not null default 'red'"}}, "by a repair: sessions.colour."},
	{step{"add_pending", []string{
		"alter table session_items add column pending boolean not null default false check (pending in (0, 1))",
		"alter table session_items add column turn text", "alter table session_items add column state text default waiting",
	}}, "by a repair: session_items.pending, session_items.state and session_items.turn."},
	{step{"add_length", []string{"alter table session_items add column length as (length(message_json))"}}, "Sessions and items were read."},
	{step{"add_agent_index", []string{"create index by_agent on session_items(agent_name)"}}, "Sessions and items were read."},
	{step{"add_todos", []string{"create table todos (session_id text references sessions(id) on delete cascade, todo text unique)",
		"insert into todos values ('P', 'count'), ('K', 'count again')",
		"create trigger todo_done after delete on todos begin delete from todos where todo = old.todo; end"}}, "by a repair: todos."},
	{step{"add_reports", []string{"create table reports (item integer references session_items(id) on delete cascade)",
		"insert into reports select max(id) from session_items"}}, "by a repair: reports."},
}

// writeDamaged writes sessions whose repair moves items, makes a session, adds items,
// takes one out and sets numbers that follow; and one that is whole.
func writeDamaged(db *agenttest.DB) {
	writeFailed(db)
	said := agenttest.Message{Content: "half", CreatedAt: "2026-02-14T10:00:00+01:00"}
	root := db.Root(agenttest.SessionRow{ID: "D", Title: "twice"})
	root.User("go")
	root.Assistant("root", agenttest.Message{ToolCalls: []agenttest.ToolCall{agenttest.CallTool("d1", "transfer_task", taskArgs)}})
	root.Assistant("worker", said)
	child := root.Child(agenttest.SessionRow{ID: "E", Title: "Transferred task"})
	child.Prologue("count <it>", "a number")
	child.Assistant("worker", said)
	root.SubSession(child)
	root.Result("root", "d1", "half")
	root.Assistant("root", agenttest.Message{Content: "done"})
	lost := db.Root(agenttest.SessionRow{ID: "M"})
	lost.User("go")
	lost.Assistant("root", agenttest.Message{ToolCalls: []agenttest.ToolCall{agenttest.CallTool("c1", "shell", "{}"), agenttest.CallTool("c2", "shell", "{}")}})
	lost.User("and now?")
	lost.Result("root", "c2", "two")
	lost.Assistant("root", agenttest.Message{Content: "well"})
	whole := db.Root(agenttest.SessionRow{ID: "K"})
	whole.User("hello")
	whole.Assistant("root", agenttest.Message{Content: "hello"})
}

// migrated makes a database of a generation, and runs later migrations in it.
func migrated(t *testing.T, generation int, write func(*agenttest.DB), later ...step) string {
	t.Helper()
	return built(t, generation, func(db *agenttest.DB) {
		write(db)
		for _, s := range later {
			migrate(db, s.name, s.statements...)
		}
	})
}

// migrate records one more migration behind the last, as a newer docker agent would: its
// statements in order, then its record under the next number.
func migrate(db *agenttest.DB, name string, statements ...string) {
	db.CloseStatements() // the schema changes under the prepared statements
	db.Batch(func() {
		for _, statement := range statements {
			db.Exec(statement)
		}
		db.Exec("INSERT INTO migrations SELECT MAX(id) + 1, printf('%03d_%s', MAX(id) + 1, ?), '', MAX(applied_at) FROM migrations", name)
	})
	db.CloseStatements()
}

// withDefinition are the statements that give a table another definition and keep its rows, as
// SQLite has to do it for what no ALTER TABLE can change. The columns are those that the
// rows are copied from.
func withDefinition(table, columns, definition string) []string {
	return []string{
		"CREATE TABLE rebuilt " + definition,
		"INSERT INTO rebuilt (" + columns + ") SELECT " + columns + " FROM " + table,
		"DROP TABLE " + table,
		"ALTER TABLE rebuilt RENAME TO " + table,
	}
}

// told are the findings of a check, as RULE SEVERITY: MESSAGE.
func told(t *testing.T, path string) (list []string) {
	t.Helper()
	o, err := registry.Open(t.Context(), path, "", nil, store.Options{Deep: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	result, err := check.Run(t.Context(), o.Store, check.Options{Rules: catalogue.UsualRules()})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Findings {
		list = append(list, fmt.Sprintf("%s %s: %s", f.Rule.ID, f.Severity, f.Message))
	}
	return list
}

// titles are the repairs of a plan.
func titles(p *repair.Plan) (list []string) {
	for _, tree := range p.Trees {
		for _, f := range tree.Fixes {
			list = append(list, tree.Root+": "+f.Title)
		}
	}
	return list
}

// TestLaterMigrationsThatDoNoHarm: a store that has more than sessctl knows is as healthy
// as before, and is repaired and set back like any other, in every generation.
func TestLaterMigrationsThatDoNoHarm(t *testing.T) {
	campaign.ShowsNoRace(t)
	all := step{name: "all at once"}
	for _, h := range harmless[2:] {
		all.statements = append(all.statements, h.statements...)
	}
	for generation := 18; generation <= agenttest.Latest; generation++ {
		later := []step{{}}
		switch generation {
		case agenttest.Latest:
			for _, h := range harmless {
				later = append(later, h.step)
			}
		default:
			later = append(later, all)
		}
		plain, _, err := repairtest.Plan(migrated(t, generation, writeDamaged))
		if err != nil || len(titles(plain)) < 4 {
			t.Fatalf("generation %d: %v, %q", generation, err, titles(plain))
		}
		for _, l := range later {
			t.Run(fmt.Sprintf("%03d %s", generation, l.name), func(t *testing.T) {
				var path string
				if l.name == "" {
					path = migrated(t, generation, healthy)
				} else {
					path = migrated(t, generation, healthy, l)
				}
				found := told(t, path)
				if l.name == "" && len(found) > 0 || l.name != "" && (len(found) != 1 || !strings.HasPrefix(found[0], "SC002 info: The database has migration ")) {
					t.Errorf("of a healthy store: %q", found)
				}
				if l.name == "" {
					path = migrated(t, generation, writeDamaged)
				} else {
					path = migrated(t, generation, writeDamaged, l)
				}
				before := storetest.Dump(t, path)
				plan, receipt, err := repairtest.Repair(path)
				if err != nil || receipt == nil || len(receipt.LeftOut) > 0 || len(plan.Refused) > 0 {
					t.Fatalf("repair: %v, %+v", err, plan.Refused)
				}
				if diff := cmp.Diff(titles(plain), titles(plan)); diff != "" {
					t.Errorf("other repairs than without that migration: %s", diff)
				}
				if slices.ContainsFunc(told(t, path), func(f string) bool { return strings.Contains(f, " error: ") }) {
					t.Errorf("after the repair: %q", told(t, path))
				}
				if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
					t.Errorf("after the undo: %s", diff)
				}
			})
		}
	}
}

// healthy writes sessions in which nothing is wrong.
func healthy(db *agenttest.DB) {
	db.Root(agenttest.SessionRow{ID: "K"}).User("hello")
	writeDelegation(db)
}

func TestSC002SaysWhatWasNotRead(t *testing.T) {
	for _, h := range harmless {
		found := told(t, migrated(t, agenttest.Latest, healthy, h.step))
		if len(found) != 1 || !strings.Contains(found[0], "031_"+h.name) || !strings.Contains(found[0], h.unread) {
			t.Errorf("%s: %q, want %q", h.name, found, h.unread)
		}
	}
	var many []string
	for i := range 40 {
		many = append(many, fmt.Sprintf("create table t%02d(x)", i))
	}
	found := told(t, migrated(t, agenttest.Latest, healthy, step{strings.Repeat("x", 400), append(many, `create table "a `+"\x1b"+`" (x)`)}))
	if len(found) != 1 || len(found[0]) > 500 || !strings.Contains(found[0], `"a \x1b", t00, t01, t02, t03, t04 and 35 more.`) {
		t.Errorf("of many tables: %q", found)
	}
}

const (
	itemsOf29 = `(id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, position INTEGER NOT NULL, item_type TEXT NOT NULL,
		agent_name TEXT, message_json TEXT, implicit BOOLEAN DEFAULT 0, subsession_id TEXT, summary_text TEXT, first_kept_entry INTEGER DEFAULT 0,
		cost REAL NOT NULL DEFAULT 0, model TEXT NOT NULL DEFAULT '', usage_json TEXT NOT NULL DEFAULT ''`
	itemColumns = "id, session_id, position, item_type, agent_name, message_json, implicit, subsession_id, summary_text, first_kept_entry, cost, model, usage_json"
)

// rebuilt changes the definition of session_items: a text of it becomes another, and
// columns or constraints come behind the others.
func rebuilt(was, is, more string) []string {
	if more != "" {
		more = ", " + more
	}
	return withDefinition("session_items", itemColumns, strings.Replace(itemsOf29, was, is, 1)+more+")")
}

// TestLaterMigrationsThatMayDoHarm: what a repair would have to understand, and does not,
// keeps it from writing; the reason is named, and everything is read as before.
func TestLaterMigrationsThatMayDoHarm(t *testing.T) {
	for _, tt := range []struct {
		statements []string
		why        string
		before     string
	}{
		{withDefinition("session_items", itemColumns+", turn", strings.Replace(itemsOf29, "usage_json", "turn TEXT NOT NULL, usage_json", 1)+")"),
			"column turn of session_items needs a value that sessctl does not know",
			"alter table session_items add column turn text; update session_items set turn = 't'"},
		{rebuilt("agent_name TEXT", "agent_name TEXT NOT NULL", ""), "column agent_name of session_items needs a value",
			"update session_items set agent_name = '' where agent_name is null"},
		{[]string{"alter table sessions add column state text not null default 'x'", "create unique index one on sessions(working_dir, title)"},
			"index one allows no two rows of sessions with the same values of working_dir and title", ""},
		{[]string{"create unique index once on session_items(session_id, position) where position >= 0"},
			"index once allows no two rows of session_items with the same values of session_id and position", ""},
		{[]string{"create unique index odd on session_items(abs(id))"}, "the same values of \"an expression\"", ""},
		{rebuilt("position INTEGER NOT NULL", "position INTEGER NOT NULL", "UNIQUE (session_id, position)"), "the same values of session_id and position", ""},
		{[]string{"create trigger counts after insert on session_items begin update sessions set cost = cost where id = new.session_id; end"},
			"trigger counts acts on changes of session_items", ""},
		{[]string{"create trigger sees before update of title on sessions begin select 1; end"}, "trigger sees acts on changes of sessions", ""},
		{[]string{"create table turns(id text primary key)", "alter table session_items add column turn text references turns(id)"},
			"column turn of session_items refers to table turns", ""},
		{[]string{"alter table session_items add column above integer references session_items(id)"}, "column above of session_items refers to table session_items", ""},
		{rebuilt("position INTEGER NOT NULL", "position INTEGER NOT NULL CHECK (position between (0) and 99)", ""), "a CHECK of session_items tests column position", ""},
		{rebuilt("position INTEGER", "position TEXT", ""), "column position of session_items holds TEXT, not INTEGER", ""},
		{rebuilt("id INTEGER PRIMARY KEY AUTOINCREMENT", "id INTEGER", "PRIMARY KEY (session_id, id)"), "the key of session_items is not its column id", ""},
		{[]string{"alter table session_items drop column summary_text"}, "session_items.summary_text is missing", ""},
	} {
		t.Run(tt.why, func(t *testing.T) {
			write := func(db *agenttest.DB) {
				writeFailed(db)
				if _, err := db.SQL.Exec(tt.before); err != nil {
					t.Fatal(err)
				}
			}
			path := migrated(t, agenttest.Latest, write, step{"change_much", tt.statements})
			found := told(t, path)
			if !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, "SC002 warning: ") && strings.Contains(f, tt.why) }) {
				t.Errorf("told %q", found)
			}
			if !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, "SC703 error: ") }) {
				t.Errorf("nothing else is told any more: %q", found)
			}
			o, err := registry.Open(t.Context(), path, "", nil, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if why := o.Facts().ReadOnly; !strings.Contains(why, tt.why) {
				t.Errorf("read only %q", why)
			}
			if err := o.Close(); err != nil {
				t.Fatal(err)
			}
			was, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = repairtest.Repair(path)
			if err == nil || !strings.Contains(err.Error(), tt.why) || problem.ClassOf(err) != problem.Unreadable {
				t.Errorf("repair: %v", err)
			}
			if is, err := os.ReadFile(path); err != nil || string(was) != string(is) {
				t.Errorf("the file changed (%v)", err)
			}
		})
	}
}

// An old store does not become one that can be repaired by what is new in it.
func TestLaterMigrationOfAnOldStore(t *testing.T) {
	found := told(t, migrated(t, 13, writeDelegation, step{"add_notes", []string{"create table notes(x)"}}))
	if len(found) == 0 || !strings.HasPrefix(found[0], "SC002 warning: The database has migration 014_add_notes") ||
		!strings.Contains(found[0], "is not repaired: it is from docker agent before v1.20.0") {
		t.Errorf("told %q", found)
	}
}

// asynchronous are the steps of a fork of docker agent for sub-agents that run beside their
// caller (news of the formats, part 3), in the order of their numbers from 031 on.
var asynchronous = []step{
	{"add_actor_pending", []string{"alter table session_items add column actor_pending boolean not null default 0", "alter table session_items add column actor_accepted boolean not null default 0"}},
	{"add_actor_turn", []string{"alter table session_items add column actor_turn_id text not null default ''", "alter table session_items add column actor_input_mode text not null default ''"}},
	{"add_subagent_trees", []string{"create table subagent_trees (root_session_id text primary key, tree text not null)", "create table session_todos (session_id text primary key, todos text not null)"}},
	{"add_child_reports", []string{"create table child_records (child_session_id text primary key, session_id text not null)", "create table child_reports (child_session_id text, session_id text, message_id integer)"}},
	{"add_input_batches", []string{"create table session_input_batches (session_id text, item_ids text)", "alter table sessions add column execution_settings text not null default ''"}},
	{"add_senders", []string{"alter table session_items add column sender_id text not null default ''", "alter table session_items add column report_outcome text not null default ''"}},
	{"add_write_id", []string{"alter table session_items add column write_id text not null default ''", "alter table session_items add column write_hash text not null default ''",
		"create unique index idx_write on session_items(session_id, write_id) where write_id <> ''"}},
}

func TestAsynchronousSubAgents(t *testing.T) {
	path := migrated(t, agenttest.Latest, writeDamaged, asynchronous[:6]...)
	if _, receipt, err := repairtest.Repair(path); err != nil || receipt == nil || len(receipt.LeftOut) > 0 {
		t.Errorf("without the index: %v", err)
	}
	path = migrated(t, agenttest.Latest, writeDamaged, asynchronous...)
	_, _, err := repairtest.Repair(path)
	if err == nil || !strings.Contains(err.Error(), "index idx_write allows no two rows of session_items with the same values of session_id and write_id") {
		t.Errorf("with the index: %v", err)
	}
	found := told(t, path)
	if !strings.Contains(found[len(found)-1]+found[0], "031_add_actor_pending, 032_add_actor_turn, 033_add_subagent_trees, 034_add_child_reports, 035_add_input_batches, 036_add_senders and 1 more") {
		t.Errorf("told %q", found)
	}
}

// TestDefaultsOfUnknownColumns: a row whose columns have their defaults, however these are
// written, says nothing that keeps it in its session.
func TestDefaultsOfUnknownColumns(t *testing.T) {
	for _, tt := range []struct {
		column string
		tied   bool // no value is known to be the default
	}{
		{"text", false}, {"text default null", false}, {"text not null default ''", false}, {"text default 'it''s'", false}, {`text default "in quotes"`, false},
		{"text default waiting", false}, {"text default session_id", false}, {"integer default -1", false}, {"real default +2.5e3", false},
		{"text default 7", false}, {"integer default '7'", false}, {"blob default x'00ff'", false}, {"boolean not null default TRUE", false},
		{"integer default (1 + 1)", false}, {"text default (lower('A') || 'b')", false}, {"text default current_timestamp", true},
		{"text default (hex(randomblob(4)))", true},
	} {
		path := built(t, agenttest.Latest, func(db *agenttest.DB) {
			migrate(db, "add_one", `alter table session_items add column "is ""odd" `+tt.column)
			writeDamaged(db)
		})
		plan, receipt, err := repairtest.Repair(path)
		if err != nil || receipt == nil || len(receipt.LeftOut) > 0 {
			t.Fatalf("%s: %v", tt.column, err)
		}
		if tt.tied != (len(plan.Refused) == 1) || tt.tied && !strings.Contains(plan.Refused[0].Why, `column "is \"odd", and sessctl does not`) {
			t.Errorf("%s: %+v", tt.column, plan.Refused)
		}
	}
}

// TestTiedItems: an item that says something to a newer docker agent stays in its session,
// and only the repairs that would move it or take it out are left.
func TestTiedItems(t *testing.T) {
	const leaked, copied = "select id from session_items where session_id = 'P' and agent_name = 'worker'", "select min(id) from session_items where session_id = 'D' and agent_name = 'worker'"
	for _, tt := range []struct {
		name, sql   string
		left, other string // the roots of a tree that is left out and of one that is not
		why         string
	}{
		{"a value in an item that would move", "alter table session_items add column turn text not null default 'none'; update session_items set turn = 't1' where id = (" + leaked + ")",
			"P", "D", "row 3 of session_items has a value in column turn, and sessctl does not know"},
		{"NULL where that is not the default", "alter table session_items add column turn text default ''; update session_items set turn = null where id = (" + leaked + ")",
			"P", "D", "row 3 of session_items has a value in column turn"},
		{"a row that refers to an item that would move", "create table reports(item integer references session_items(id)); insert into reports " + leaked,
			"P", "D", "row 3 of session_items has a row of table reports that refers to it"},
		{"a row that refers to one that would leave", "create table reports(item integer references session_items on delete set null); insert into reports " + copied,
			"D", "P", "has a row of table reports that refers to it"},
		{"a value in one that would leave", "alter table session_items add column turn text; update session_items set turn = 't1' where id = (" + copied + ")",
			"", "D", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := migrated(t, agenttest.Latest, writeDamaged, step{"add_things", strings.Split(tt.sql, "; ")})
			before := storetest.Dump(t, path)
			plan, receipt, err := repairtest.Repair(path)
			if err != nil || receipt == nil || len(receipt.LeftOut) > 0 {
				t.Fatalf("repair: %v, %+v", err, receipt)
			}
			if (tt.left == "") != (len(plan.Refused) == 0) || tt.left != "" && (plan.Refused[0].Root != tt.left || !strings.Contains(plan.Refused[0].Why, tt.why)) {
				t.Errorf("left out: %+v", plan.Refused)
			}
			if !slices.ContainsFunc(titles(plan), func(title string) bool { return strings.HasPrefix(title, tt.other) }) {
				t.Errorf("repairs: %q", titles(plan))
			}
			if tt.left == "" && plan.Trees[1].Fixes[0].Edits[0].Op != session.Quarantine {
				t.Errorf("a duplicate with a value of its own is taken for the same: %+v", plan.Trees[1].Fixes[0].Edits)
			}
			if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
				t.Errorf("after the undo: %s", diff)
			}
		})
	}
}

// TestRecordsOfNewerReleases: messages with an id, failures of agents and results that
// were cut are no findings, and a repair goes on beside them.
func TestRecordsOfNewerReleases(t *testing.T) {
	newer := func(write func(*agenttest.DB)) string {
		return migrated(t, agenttest.Latest, write, step{"nothing", []string{
			"update session_items set message_json = json_set(message_json, '$.message_id', 'm' || id) where item_type = 'message'",
			`update session_items set message_json = json_set(message_json, '$.content', 'a' || char(10) || '[...tool result truncated: middle omitted...]' || char(10) || 'b')
				where message_json ->> 'role' = 'tool'`,
			`insert into session_items(session_id, position, item_type, message_json) values
				('K', 90, 'error', '{"message":"no model","code":"model_error","agent_name":"root","created_at":"2026-09-01T09:00:00Z"}'),
				('K', 91, 'termination', '{"reason":"budget_exceeded"}')`,
		}})
	}
	sound := newer(healthy)
	for _, f := range told(t, sound) {
		if !strings.HasPrefix(f, "SC002 info") {
			t.Errorf("of a healthy store: %s", f)
		}
	}
	path := newer(writeDamaged)
	before := storetest.Dump(t, path)
	plan, receipt, err := repairtest.Repair(path)
	if err != nil || receipt == nil || len(receipt.LeftOut) > 0 || len(titles(plan)) < 4 {
		t.Fatalf("repair: %v, %q", err, titles(plan))
	}
	if got := lines(t, openSQL(t, path), "select session_id from session_items where message_json ->> 'message_id' = 'm3'"); len(got) != 1 || got[0] == "P" {
		t.Errorf("message m3 is in %q", got)
	}
	if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
		t.Errorf("after the undo: %s", diff)
	}
}

// casesDir holds reproductions of wrong answers, next to the module.
const casesDir = "../../../../shared/cases"

// TestCase029 holds databases of the runtime at migration 029, the one that brought blobs.
func TestCase029(t *testing.T) {
	from := filepath.Join(casesDir, "docker-agent-029")
	if _, err := os.Stat(from); err != nil {
		t.Skip("the folder of reproductions is not next to the module")
	}
	whole := storetest.Copy(t, filepath.Join(from, "healthy.db"), t.TempDir())
	for _, f := range told(t, whole) {
		if !strings.Contains(f, " info: ") {
			t.Errorf("of the healthy one: %s", f)
		}
	}
	damaged := storetest.Copy(t, filepath.Join(from, "damaged.db"), t.TempDir())
	if err := os.Chmod(damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	before := storetest.Dump(t, damaged)
	_, receipt, err := repairtest.Repair(damaged)
	if err != nil || receipt == nil {
		t.Fatal(err)
	}
	for _, f := range told(t, damaged) {
		if !strings.Contains(f, " info: ") {
			t.Errorf("after the repair: %s", f)
		}
	}
	if _, err := repairtest.Undo(damaged, receipt.Path()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, storetest.Dump(t, damaged)); diff != "" {
		t.Errorf("after the undo: %s", diff)
	}
}
