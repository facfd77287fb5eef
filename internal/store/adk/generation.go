package adk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// generation is one of the seven forms of the table of events (docs/stores/adk.md#what-is-read).
type generation string

const (
	p0 generation = "P0" // adk-python's DatabaseSessionService: a column for each part of an event, the actions pickled
	p1 generation = "P1" // the same service since 1.22.0: the event is one JSON document
	ps generation = "PS" // adk-python's SqliteSessionService: a document, too, with the time as a number
	g1 generation = "G1" // adk-go v0 and v1: columns, the actions as JSON
	g2 generation = "G2" // adk-go v2: the same with the columns of workflows
	j1 generation = "J1" // adk-js's DatabaseSessionService: documents as those of P1, with times in milliseconds
	k1 generation = "K1" // adk-kotlin's RoomSessionService: the same in camel case, tables and columns, too
)

const (
	tableSessions = "sessions"
	tableEvents   = "events"
	tableMetadata = "adk_internal_metadata"
	tableRoom     = "room_master_table"
)

// kotlinTables are the tables of adk-kotlin by their names elsewhere (StorageEntities.kt,
// v0.8.0). Its columns are those names in camel case.
var kotlinTables = map[string]string{
	tableSessions: "StorageSession", tableEvents: "StorageEvent", "app_states": "StorageAppState", "user_states": "StorageUserState",
}

// table is how the generation calls a table.
func (g generation) table(name string) string {
	if g == k1 {
		return kotlinTables[name]
	}
	return name
}

// columns are how the generation calls columns.
func (g generation) columns(names ...string) []string {
	if g == k1 {
		for i, name := range names {
			names[i] = inCamel(name)
		}
	}
	return names
}

// rowOf gives the columns of a row by their usual names.
func (g generation) rowOf(row eventlog.Row) columns {
	if g != k1 {
		return row.Value
	}
	return func(name string) any { return row.Value(inCamel(name)) }
}

func (g generation) isPython() bool { return g == p0 || g == p1 || g == ps }
func (g generation) isGo() bool     { return g == g1 || g == g2 }

// hasDocument reports whether an event is one JSON document in the column event_data.
func (g generation) hasDocument() bool { return g == p1 || g == ps || g == j1 || g == k1 }

// inMilliseconds reports whether times are whole milliseconds, in columns and documents.
func (g generation) inMilliseconds() bool { return g == j1 || g == k1 }

// takesBack reports whether the reader knows rewinds.
func (g generation) takesBack() bool { return g.isPython() || g == k1 }

// traits are what is known of a generation besides its columns.
type traits struct {
	writer  string
	runtime string // the releases that write it; "" where the columns tell more
	// prefixReaders are those that compared labels as texts (docs/stores/adk.md#what-an-agent-sees).
	prefixReaders string
	// sends is the runtime that sends a call without a result as it is stored.
	sends string
	tick  time.Duration // what one place in the order is
	// What readers do otherwise: see session.Store.
	openScopes, prefixUntold bool
	retells                  session.Retelling
}

const pythonPrefixReaders = "adk-python up to 1.4, and later releases until the fix of google/adk-python#2948 of autumn 2025"

var traitsOf = map[generation]traits{
	p0: {writer: "adk-python's DatabaseSessionService, schema v0", prefixReaders: pythonPrefixReaders, tick: time.Microsecond},
	p1: {
		writer: "adk-python's DatabaseSessionService, schema v1", runtime: "adk-python 1.22.0 or later (DatabaseSessionService)",
		prefixReaders: pythonPrefixReaders, tick: time.Microsecond,
	},
	ps: {
		writer: "adk-python's SqliteSessionService", runtime: "adk-python (SqliteSessionService)",
		prefixReaders: pythonPrefixReaders, tick: time.Microsecond,
	},
	g1: {writer: "adk-go v0 and v1", runtime: "adk-go v0.1 to v1.6", prefixReaders: "adk-go v0.1.0", sends: "adk-go", tick: time.Microsecond},
	g2: {writer: "adk-go v2", runtime: "adk-go v2", prefixReaders: "adk-go v0.1.0", sends: "adk-go", tick: time.Microsecond},
	j1: {
		writer: "adk-js's DatabaseSessionService", runtime: "adk-js 0.4.0 or later (DatabaseSessionService)",
		prefixReaders: "adk-js 0.4 to 1.4", sends: "adk-js", tick: time.Millisecond, openScopes: true, prefixUntold: true,
		retells: session.Retelling{
			Summary: "[Previous Context Summary]:\n", Result: "[%s] tool `%s` returned result: %s", Thoughts: true,
		},
	},
	k1: {
		writer: "adk-kotlin's RoomSessionService", runtime: "adk-kotlin 0.8.0 or later (RoomSessionService)", sends: "adk-kotlin",
		tick: time.Millisecond,
	},
}

// generationOf names the generation of an ADK database by its tables, "" for any other database.
// Only P0 and G1 need a look at rows: they have nearly the same columns.
func generationOf(ctx context.Context, db table.Reader, s table.Schema) generation {
	switch {
	case s.HasColumns(k1.table(tableSessions), k1.columns("app_name", "user_id", "id", "state")...) &&
		s.HasColumns(k1.table(tableEvents), k1.columns("id", "app_name", "user_id", "session_id", "timestamp", "event_data")...):
		return k1
	case !s.HasColumns(tableSessions, "app_name", "user_id", "id", "state"),
		!s.HasColumns(tableEvents, "id", "app_name", "user_id", "session_id", "invocation_id", "timestamp"):
		return ""
	case s.HasColumns(tableEvents, "event_data"):
		return documentGeneration(ctx, db, s)
	case !s.HasColumns(tableEvents, "author", "branch", "actions", "content"):
		return ""
	case s.HasColumns(tableEvents, "node_info_json"), s.HasColumns(tableEvents, "isolation_scope"):
		return g2
	}
	return columnGeneration(ctx, db, s)
}

// documentGeneration follows upstream, for which a database without a version of
// its schema is of the newest one (docs/stores/adk.md#what-is-read). A time of the type REAL is the mark of
// adk-python's service that makes its tables without SQLAlchemy. P1 and J1 differ in the
// times, texts or whole milliseconds, and in the type that MikroORM gives documents, in
// lower case.
func documentGeneration(ctx context.Context, db table.Reader, s table.Schema) generation {
	events := s.Tables[tableEvents]
	if !s.HasColumns(tableMetadata, "key", "value") && strings.EqualFold(events.Column("timestamp").Type, "REAL") {
		return ps
	}
	texts := 0
	err := sampleEvents(ctx, db, []string{"timestamp"}, func(row []table.Value) {
		switch row[0].(type) {
		case string:
			texts++
		case int64:
			texts--
		}
	})
	if err != nil {
		texts = 0
	}
	if texts < 0 || texts == 0 && events.Column("event_data").Type == "json" {
		return j1
	}
	return p1
}

// columnGeneration tells adk-python's columns from adk-go's (docs/stores/adk.md#what-is-read) by what speaks for the
// one and for the other, the best evidence first: the first byte of the actions, a zone
// behind the time, the index that only Python has, and the type of the key, to which
// SQLAlchemy gives a length or calls it VARCHAR at least.
func columnGeneration(ctx context.Context, db table.Reader, s table.Schema) generation {
	events := s.Tables[tableEvents]
	pickled, zoned, timed := 0, 0, 0
	err := sampleEvents(ctx, db, []string{"actions", "timestamp"}, func(row []table.Value) {
		switch actions := column.Bytes(row[0]); {
		case len(actions) == 0:
		case actions[0] == 0x80:
			pickled++
		case actions[0] == '{':
			pickled--
		}
		if row[1] != nil {
			timed++
			if zoneBehind().Match(column.Bytes(row[1])) {
				zoned++
			}
		}
	})
	if err != nil {
		pickled, zoned, timed = 0, 0, 0
	}
	index, key := 0, 0
	if slices.ContainsFunc(events.Indexes, func(x table.Index) bool { return x.Name == "idx_events_app_user_session_ts" }) {
		index = 1
	}
	if strings.Contains(strings.ToUpper(events.Column("id").Type), "CHAR") {
		key = 1
	}
	if cmp.Or(pickled, timed-2*zoned, index, key) > 0 {
		return p0
	}
	return g1
}

// sampleEvents hands columns of the first events to fn.
func sampleEvents(ctx context.Context, db table.Reader, columns []string, fn func(row []table.Value)) error {
	const most = 100
	rows := 0
	_, err := db.Scan(ctx, table.Selection{Table: tableEvents, Columns: columns, Glance: true}, func(_ table.Place, row []table.Value) error {
		if rows++; rows > most {
			return table.Enough
		}
		fn(row)
		return nil
	})
	return err
}

// zoneBehind is a zone behind a time.
var zoneBehind = pattern.Lazy(`[+-][0-9]{2}:[0-9]{2}$`)

// storeFacts is what is known of a store of this generation.
func (g generation) storeFacts(s table.Schema) session.Store {
	known := traitsOf[g]
	facts := session.Store{
		Kind: kindName, Title: kindTitle, Generation: string(g), Requests: session.Requests{Adapts: Adaptations, Model: "gemini"},
		Reader: session.Reader{
			BranchModel: "path", ForeignText: true, GathersResults: true, LastResult: true, SilentLabels: true,
			HidesToolRuns: g.isPython(), OpenScopes: known.openScopes, Retells: known.retells, TurnsTies: g != ps && g != k1,
			PrefixReaders: known.prefixReaders, PrefixUntold: known.prefixUntold,
		},
		Versions: "written by " + g.describeRuntime(s), Advice: g.runtimeAdvice(s),
	}
	if s.Tables[tableEvents].Column("content").Type == binaryJSON || s.Tables[tableEvents].Column("event_data").Type == binaryJSON {
		facts.Refuses = "jsonb refuses a result with the character U+0000 or half of a surrogate pair, and the runtime one that another request overtook"
	}
	return facts
}

// binaryJSON is the type of PostgreSQL in which ADK keeps documents.
const binaryJSON = "jsonb"

// unknownVersion says what is wrong with the version that the database gives its
// schema, "" when it is the known one (docs/stores/adk.md#what-is-read).
func (g generation) unknownVersion(ctx context.Context, db table.Reader, s table.Schema) string {
	if g == k1 {
		return unknownRoom(ctx, db)
	}
	if !s.HasColumns(tableMetadata, "key", "value") {
		return ""
	}
	version, known := "", false
	pairs := table.Selection{Table: tableMetadata, Columns: []string{"key", "value"}, Glance: true}
	lost, err := db.Scan(ctx, pairs, func(_ table.Place, row []table.Value) error {
		if column.Text(row[0]) != "schema_version" {
			return nil
		}
		version, known = column.Text(row[1]), true
		return table.Enough
	})
	switch {
	case err == nil && !known && lost == nil:
		if g == j1 { // which adds the row
			return ""
		}
		return "its table adk_internal_metadata names no schema version, and adk-python refuses to open such a database"
	case err != nil || !known:
		return "the version of its schema cannot be read"
	case version != "1":
		return fmt.Sprintf("its schema has version %q, and sessctl knows versions 0 and 1", version)
	}
	return ""
}

// roomIdentity is the hash by which Room knows version 1 of the schema of adk-kotlin
// (core/schemas/…AdkSessionsDatabase/1.json, v0.8.0).
const roomIdentity = "89e2e9e562254c731d96428451c85d4b"

// unknownRoom says that Room's hash of the schema is another one, "" where it is not.
func unknownRoom(ctx context.Context, db table.Reader) (wrong string) {
	_, err := table.Glance(ctx, db, tableRoom, []string{"identity_hash"}, func(row []table.Value) {
		if hash := column.Text(row[0]); hash != roomIdentity {
			wrong = fmt.Sprintf("its schema has the identity hash %q, and sessctl knows %s, of adk-kotlin 0.8.0", hash, roomIdentity)
		}
	})
	if err != nil {
		return "the identity hash of its schema cannot be read"
	}
	return wrong
}

// columnReleases are the releases of adk-python that brought columns of P0 (docs/stores/adk.md#what-is-read).
// Older tables never get them, so that they tell when a table was made.
var columnReleases = []struct{ column, release string }{
	{"input_transcription", "1.19"},
	{"usage_metadata", "1.17"},
	{"custom_metadata", "1.14"},
	{"long_running_tool_ids_json", "0.3.0"},
}

func (g generation) describeRuntime(s table.Schema) string {
	if known := traitsOf[g].runtime; known != "" {
		return known
	}
	before := ""
	for _, c := range columnReleases {
		if s.HasColumns(tableEvents, c.column) {
			return "adk-python (DatabaseSessionService); its tables were created by " + c.release + " or later" + before
		}
		before = ", before " + c.release
	}
	return "adk-python (DatabaseSessionService); its tables were created by 0.1 or 0.2"
}

// runtimeAdvice is about what a runtime makes of the store that people should know.
func (g generation) runtimeAdvice(s table.Schema) []string {
	switch {
	case g == p0 && !s.HasColumns(tableEvents, "input_transcription"):
		return []string{"The table events lacks columns that newer releases of adk-python need and do not add. They fail with " +
			"\"column events.… does not exist\". `adk migrate session` writes a database with the newest schema."}
	case traitsOf[g].sends != "":
		return []string{traitsOf[g].sends + " sends a call without a result to the model as it is stored, and some models refuse such a request."}
	}
	return nil
}

// knownTables are the columns that the services make (1.1 to 1.4), and those that single
// versions of adk-python make besides.
func (g generation) knownTables() []eventlog.Known {
	further := slices.Concat(
		[]string{"event_data", "author", "branch", "isolation_scope", "content", "actions", "partial", "turn_complete", "interrupted", "error_code", "error_message"},
		[]string{"long_running_tool_ids_json", "node_info_json", "input_transcription", "output_transcription"}, metadataColumns,
	)
	return []eventlog.Known{
		{
			Table: g.table(tableSessions), Needed: g.columns("app_name", "user_id", "id", "state"),
			Further: g.columns("create_time", "update_time", "title", "event_sequence"),
		},
		{
			Table: g.table(tableEvents), Needed: g.columns("id", "app_name", "user_id", "session_id", "invocation_id", "timestamp"),
			Further: g.columns(further...),
		},
	}
}

// Adaptations are what ADK sees to when it builds a request, in every release of a
// family that can read such a store, by the rule that would report it (3.5; adk-python
// 0.1.0 to 1.4.2 contents.py, adk-go v0.1.0 to v2.2.0 contents_processor.go). That each
// result goes behind its call is a fact of its own: session.Store.GathersResults. Not
// among them: calls without a result, which adk-go sends, and results without a call,
// which fail as the last event.
var Adaptations = map[string]string{
	"SC109": "sends the results of one turn in one message",
	// base_llm.py and google_llm.py of adk-python since 0.1.0, model/gemini of adk-go
	// since v0.1.0.
	"SC306 next":   "sends the user's text as a message of its own",
	"SC303 gemini": "adds a message of the user to a request that would end with an answer",
}
