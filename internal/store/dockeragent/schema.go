// Package dockeragent reads the session databases of docker agent (formerly
// cagent), every schema generation from the first to migration 030 and later ones as far as
// they are known, and repairs those from migration 014 on. The facts
// about the format are from the notes named docker-agent.md in the design; a
// number like 2.1 in a comment is a section of them.
package dockeragent

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// schema is what a database has, and the generation that it is of: that of its last known
// migration on record, or of its newest known column if that came later.
type schema struct {
	columns    map[string][]string
	rowid      map[string]string // what SQL calls the rowids of a table
	recorded   map[int64]string  // the migrations that the database has on record, with their names
	ran        map[int64]bool    // the known ones of them, by number
	later      []string          // the others
	generation int64             // 0 for the bootstrap schema
	triggers   []session.Trigger
	doubts     []string // what a repair would have to understand of the tables that it writes, and does not
	ties       []tie    // what a repair of single rows has to leave alone
}

func (s *schema) has(table, column string) bool { return slices.Contains(s.columns[table], column) }

// pickColumns keeps the columns that the table has, in the order asked for.
func (s *schema) pickColumns(table string, wanted ...string) []string {
	return slices.DeleteFunc(slices.Clone(wanted), func(c string) bool { return !s.has(table, c) })
}

func (s *schema) hasItems() bool          { return s.has("session_items", "message_json") }
func (s *schema) hasMessagesColumn() bool { return s.has("sessions", "messages") }

// name is that of the schema generation: "018", or the number of a later migration.
func (s *schema) name() string {
	return generationName(slices.Max(append(slices.Collect(maps.Keys(s.recorded)), s.generation)))
}

func generationName(g int64) string { return fmt.Sprintf("%03d", g) }

// oldest is the first generation that a repair can write: the one that brought
// the item table.
const oldest = 14

// explainReadOnly says why a database of this schema is never written, "" if it is.
func (s *schema) explainReadOnly() string {
	switch missing := s.findMissingColumns(); {
	case s.generation < oldest:
		return "it is from docker agent before v1.20.0, which kept each session in one column: open it once with a newer docker agent, " +
			"which upgrades it, and repair it then"
	case len(missing) > 0:
		return "its schema is incomplete: " + sentenceList(missing) + " missing"
	case len(s.doubts) > 0:
		return "its tables have something that sessctl does not know, so a repair could do harm: " + strings.Join(s.doubts, "; ")
	}
	return ""
}

// readSchema reads columns and migrations, and reports where they disagree.
func readSchema(ctx context.Context, db *sqlite.DB) (schema, []session.Fault, error) {
	columns, err := db.Columns(ctx)
	if err != nil {
		return schema{}, nil, err
	}
	s := schema{columns: columns}
	s.rowid = map[string]string{}
	for _, table := range []string{tableSessions, tableItems} {
		if len(columns[table]) == 0 {
			continue
		}
		if s.rowid[table], err = db.RowID(ctx, table); err != nil {
			return schema{}, nil, err
		}
	}
	faults, err := s.readMigrations(ctx, db)
	if err == nil {
		s.triggers, err = db.Triggers(ctx)
	}
	if err == nil {
		err = s.examineTables(ctx, db)
	}
	if err != nil {
		return schema{}, nil, err
	}
	return s, append(faults, s.reportDisagreements(len(faults) == 0)...), nil
}

// readMigrations reads what is on record. It returns a fault for each part of
// the table that cannot be read.
func (s *schema) readMigrations(ctx context.Context, db *sqlite.DB) ([]session.Fault, error) {
	var faults []session.Fault
	s.recorded, s.ran = map[int64]string{}, map[int64]bool{}
	for _, m := range migrations {
		if s.hasColumnsOf(m) {
			s.generation = max(s.generation, generationOf(m.number))
		}
	}
	if s.has("migrations", "id") {
		lost, err := db.ScanTable(ctx, "migrations", s.pickColumns("migrations", "id", "name"), func(_ int64, values []driver.Value) error {
			if id, ok := values[0].(int64); ok && id > 0 {
				s.noteMigration(id, strings.Clone(column.Text(append(values, nil)[1])))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, l := range lost {
			faults = append(faults, l.Fault("migrations"))
		}
	}
	return faults, nil
}

// reportDisagreements are the faults of the schema; whole says that every record of
// a migration could be read.
func (s *schema) reportDisagreements(whole bool) []session.Fault {
	var faults []session.Fault
	fault := func(format string, args ...any) {
		faults = append(faults, session.Fault{
			Kind: session.SchemaUnknown, Item: -1, Ref: session.Ref{Table: "migrations", Key: s.name()},
			Detail: fmt.Sprintf(format, args...),
		})
	}
	if why := s.explainReadOnly(); len(s.later) > 0 && why == "" {
		fault("%s. %s A repair is safe: it changes only what sessctl knows", s.describeUnknown(), s.describeUnread())
		faults[0].Harmless = true
	} else if len(s.later)+len(s.doubts) > 0 {
		fault("%s. %s You can check, view and export it. It is not repaired: %s", s.describeUnknown(), s.describeUnread(), why)
	}
	if missing := s.findMissingColumns(); len(missing) > 0 {
		fault("the schema is that of migration %s, but %s missing: the runtime fails as soon as it needs what is missing",
			generationName(s.generation), sentenceList(missing))
	}
	if gaps := s.findUnrecorded(); whole && len(gaps) > 0 {
		fault("%s not recorded, although later migrations were made: the runtime runs them again when it starts, "+
			"and renames the whole file to .bak if that fails", migrationList(gaps))
	}
	return faults
}

type migration struct {
	number  int64
	name    string // without the number
	columns []string
	until   int64 // the migration that dropped the columns, 0 while they are there
}

// migrations are those that this adapter knows (docs/stores/docker-agent.md#what-is-read), with the columns that each brought:
// "table.column TYPE". docker agent tells them by their names, and so does sessctl: the
// number 029 stood for two before they were released.
var migrations = []migration{
	{0, "", []string{"sessions.id TEXT", "sessions.created_at TEXT"}, 0},
	{0, "", []string{"sessions.messages TEXT"}, 20},
	{1, "add_tools_approved_column", []string{"sessions.tools_approved BOOLEAN"}, 0},
	{2, "add_usage_column", []string{"sessions.input_tokens INTEGER"}, 0},
	{3, "add_output_tokens_column", []string{"sessions.output_tokens INTEGER"}, 0},
	{4, "add_title_column", []string{"sessions.title TEXT"}, 0},
	{5, "add_cost_column", []string{"sessions.cost REAL"}, 0},
	{6, "add_send_user_message_column", []string{"sessions.send_user_message BOOLEAN"}, 0},
	{7, "add_max_iterations_column", []string{"sessions.max_iterations INTEGER"}, 0},
	{8, "add_working_dir_column", []string{"sessions.working_dir TEXT"}, 0},
	{9, "add_starred_column", []string{"sessions.starred BOOLEAN"}, 0},
	{10, "add_permissions_column", []string{"sessions.permissions TEXT"}, 0},
	{11, "add_agent_model_overrides_column", []string{"sessions.agent_model_overrides TEXT"}, 0},
	{12, "add_custom_models_used_column", []string{"sessions.custom_models_used TEXT"}, 0},
	{13, "add_thinking_column", []string{"sessions.thinking BOOLEAN"}, 0},
	{14, "normalize_session_items", []string{
		"sessions.parent_id TEXT", "session_items.id INTEGER", "session_items.session_id TEXT", "session_items.position INTEGER",
		"session_items.item_type TEXT", "session_items.agent_name TEXT", "session_items.message_json TEXT", "session_items.implicit BOOLEAN",
		"session_items.subsession_id TEXT", "session_items.summary_text TEXT",
	}, 0},
	{15, "migrate_messages_to_session_items", nil, 0},
	{16, "add_branching_columns", []string{
		"sessions.branch_parent_session_id TEXT", "sessions.branch_parent_position INTEGER", "sessions.branch_created_at TEXT",
	}, 19},
	{17, "add_split_diff_view_column", []string{"sessions.split_diff_view BOOLEAN"}, 19},
	{18, "add_session_items_type_index", nil, 0},
	{19, "drop_branch_and_split_diff_columns", nil, 0},
	{20, "drop_messages_column", nil, 0},
	{21, "add_first_kept_entry_column", []string{"session_items.first_kept_entry INTEGER"}, 0},
	{22, "add_instruction_context_column", []string{"sessions.instruction_context TEXT"}, 0},
	{23, "add_cost_to_session_items", []string{"session_items.cost REAL"}, 0},
	{24, "add_safety_policy_column", []string{"sessions.safety_policy TEXT"}, 0},
	{25, "add_model_usage_to_session_items", []string{"session_items.model TEXT", "session_items.usage_json TEXT"}, 0},
	{26, "add_session_attributes_column", []string{"sessions.attributes TEXT"}, 0},
	{27, "add_session_origin_column", []string{"sessions.origin TEXT"}, 0},
	{28, "add_generated_media_manifest_table", []string{"generated_media_manifest.session_id TEXT"}, 0},
	{29, "add_generated_media_blob_table", []string{"generated_media_blobs.data BLOB"}, 0},
	{30, "add_root_kind_to_generated_media_manifest", []string{"generated_media_manifest.root_kind TEXT"}, 0},
}

// numbered is the last migration that came in the order of its number everywhere.
const numbered = 28

// generationOf is the generation that has a migration: of those that came in either order, the
// first of their numbers.
func generationOf(number int64) int64 { return min(number, numbered+1) }

// recordNumber is the number before the name of a migration on record.
var recordNumber = pattern.Lazy(`^\d+_`)

// noteMigration notes a record of the table migrations. Without a name, the number is believed.
func (s *schema) noteMigration(id int64, name string) {
	s.recorded[id] = name
	i := slices.IndexFunc(migrations, func(m migration) bool {
		return m.number > 0 && (name == "" && m.number == id || name != "" && m.name == recordNumber().ReplaceAllString(name, ""))
	})
	if i < 0 {
		s.later = append(s.later, cmp.Or(name, generationName(id)))
		return
	}
	s.ran[migrations[i].number] = true
	s.generation = max(s.generation, generationOf(migrations[i].number))
}

// hasColumnsOf reports whether the columns of a migration are there.
func (s *schema) hasColumnsOf(m migration) bool {
	return slices.ContainsFunc(m.columns, func(c string) bool { return s.has(splitColumnName(c)) })
}

// splitColumnName splits the table and the name of a column in the list of migrations.
func splitColumnName(entry string) (table, column string) {
	table, column, _ = strings.Cut(entry, ".")
	column, _, _ = strings.Cut(column, " ")
	return table, column
}

// findMissingColumns finds the columns that the database should have.
func (s *schema) findMissingColumns() []string {
	var list []string
	for _, m := range migrations {
		wanted := s.ran[m.number] || m.number <= min(s.generation, numbered)
		if !wanted || m.until > 0 && s.generation >= m.until {
			continue
		}
		for _, c := range m.columns {
			if table, column := splitColumnName(c); !s.has(table, column) {
				list = append(list, table+"."+column)
			}
		}
	}
	return list
}

// findUnrecorded finds the known migrations that are not on record, although what they or
// later ones brought is there.
func (s *schema) findUnrecorded() []int64 {
	var gaps []int64
	for _, m := range migrations {
		_, taken := s.recorded[m.number]
		there := m.number <= s.generation && !taken
		if m.number > numbered {
			there = s.hasColumnsOf(m)
		}
		if m.number > 0 && there && !s.ran[m.number] {
			gaps = append(gaps, m.number)
		}
	}
	return gaps
}

// migrationList is "migration 016 is", "migrations 001 to 004 and 026 are".
func migrationList(ids []int64) string {
	var ranges []string
	for i := 0; i < len(ids); {
		j := i
		for j+1 < len(ids) && ids[j+1] == ids[j]+1 {
			j++
		}
		text := generationName(ids[i])
		if j > i {
			text += " to " + generationName(ids[j])
		}
		ranges = append(ranges, text)
		i = j + 1
	}
	if len(ids) == 1 {
		return "migration " + ranges[0] + " is"
	}
	return "migrations " + joinWords(ranges) + " are"
}

// sentenceList is "a is", "a, b and c are".
func sentenceList(words []string) string {
	if len(words) == 1 {
		return words[0] + " is"
	}
	return joinWords(words) + " are"
}

// joinWords joins "a", "a and b", "a, b and c".
func joinWords(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// releases names the first release of each schema generation (docs/stores/docker-agent.md#what-is-read), as far as it is known;
// "after" one where only the day of the migration is known. 022 to 024 are dated by the
// history of migrations.go and by the changelog, 027 to 030 by their pull requests
// (#4000, #4026).
var releases = []struct {
	generation int64
	release    string
	after      bool
}{
	{0, "v0.5.0", false}, {6, "v1.3.0", false}, {7, "v1.3.5", false}, {8, "v1.5.13", false}, {9, "v1.18.2", false}, {10, "v1.18.8", false},
	{11, "v1.19.0", false}, {13, "v1.19.3", false}, {14, "v1.20.0", false}, {16, "v1.20.6", false}, {17, "v1.23.4", false}, {18, "v1.27.1", false},
	{19, "v1.32.4", false}, {20, "v1.36.0", false}, {21, "v1.41.0", false}, {22, "v1.110.0", false}, {24, "v1.111.0", false}, {25, "v1.111.0", true},
	{27, "v1.115.0", true},
}

// lastSeen is the newest release of which a database is known: it has migration 029 and no
// table or column of sessions that is not known here.
const lastSeen = "v1.149.0"

// describeRuntime says which versions leave this schema behind.
func (s *schema) describeRuntime() string {
	if len(s.later) > 0 {
		return "written by a newer docker agent than sessctl knows (up to " + lastSeen + ")"
	}
	text := ""
	for _, r := range releases {
		switch {
		case r.generation > s.generation && r.after:
			return text
		case r.generation > s.generation:
			return text + ", before " + r.release
		case r.after:
			text = "written by docker agent after " + r.release
		default:
			text = "written by docker agent " + r.release + " or later"
		}
	}
	return text
}

// upgradeAdvice says whether the runtime that wrote the file still leaks (0, 4.1).
func (s *schema) upgradeAdvice() []string {
	switch {
	case s.generation > 18 || len(s.later) > 0:
		return []string{"The docker agent that last wrote this file no longer leaks. The leaked messages in it are from v1.32.0 or older."}
	case s.generation == 18:
		return []string{"This file was last written by docker agent v1.27.1 to v1.32.3. Up to v1.32.0, docker agent leaks sub-agent messages into the " +
			"parent session: upgrade it, or it will damage new sessions, too."}
	case s.generation >= 14:
		return []string{"The docker agent that wrote this file (v1.20.0 to v1.32.0) leaks sub-agent messages into the parent session: " +
			"upgrade it, or it will damage new sessions, too."}
	}
	return nil
}

const (
	kindName  = "docker-agent"
	kindTitle = "docker agent"
)

// Children is what docker agent does with sub-sessions, whatever they are read from.
var Children = session.Children{ChildrenClosed: true, ChildPrologue: true}

// Runtime is what else it does, whatever its sessions are read from.
var Runtime = session.Runtime{
	Name:          kindTitle,
	NoOutput:      "(no output)",                                       // pkg/runtime/tool_dispatch.go
	OmittedOutput: "\n[...tool result truncated: middle omitted...]\n", // max_tool_result_tokens, since 2026-07-10
	BlankMessages: "docker agent drops blank messages since v1.52; before that, providers refuse them",
	// An error result goes behind every call that lacks one (docker/docker-agent#2377,
	// v1.44), and no result stays that answers no call of the message before it (#3001,
	// #3162, June 2026). Results stand directly behind their calls, and system messages
	// part nothing.
	Sanitiser: &session.Sanitiser{By: "docker agent 1.44 and later", Pairs: "anthropic", Result: "No result provided"},
}

// runtimeFacts are those of the versions that read this schema: v1.36.0 is the last release
// without the sanitiser that leaves one of its own.
func (s *schema) runtimeFacts() session.Runtime {
	facts, sanitiser := Runtime, *Runtime.Sanitiser
	sanitiser.Always = s.generation >= 22 || len(s.later) > 0
	facts.Sanitiser = &sanitiser
	return facts
}

// Kind is docker agent's row in the table of adapters.
var Kind = store.Kind{
	Name:      kindName,
	Title:     kindTitle,
	Locations: listLocations,
	Detect:    detectTables,
	Marks:     marksOf,
	Open:      openDatabase,
	Edit:      openEdit,
	Prologue:  composePrologue,
}

// listLocations lists where `docker agent run` keeps its database: the data folder, which
// DOCKER_AGENT_DATA_DIR names since v1.147.0, and the home folder, which was the only one
// before v1.101.0, so that old sessions may still be there. `serve api` has it in the
// current folder (docs/stores/docker-agent.md#what-is-read).
func listLocations(home string) []string {
	var list []string
	if data := os.Getenv("DOCKER_AGENT_DATA_DIR"); data != "" {
		list = append(list, filepath.Join(data, "session.db"))
	}
	if home != "" {
		list = append(list, filepath.Join(home, ".cagent", "session.db"))
	}
	return slices.Compact(append(list, "session.db"))
}

// detectTables goes by tables and columns: a migrations table with docker agent's
// columns beside sessions, or the bare sessions table of the first versions.
func detectTables(ctx context.Context, src *store.Source) store.Detection {
	db := sqlite.FromReader(src.DB)
	if db == nil {
		return store.Detection{}
	}
	columns, err := db.Columns(ctx)
	if err != nil {
		return store.Detection{}
	}
	s := schema{columns: columns}
	switch {
	case !s.has("sessions", "id") || !s.has("sessions", "created_at"):
		return store.Detection{}
	case s.has("migrations", "applied_at") && s.has("migrations", "description") && (s.has("session_items", "message_json") || s.has("sessions", "messages")):
		return store.Detection{Sure: store.Certain, Why: "tables sessions and migrations in docker agent's form"}
	case s.has("session_items", "message_json") && s.has("session_items", "item_type"):
		return store.Detection{Sure: store.Maybe, Why: "tables sessions and session_items, but no migrations"}
	case s.has("sessions", "messages") && !s.has("migrations", "id"):
		return store.Detection{Sure: store.Maybe, Why: "a sessions table with a messages column"}
	}
	return store.Detection{}
}
