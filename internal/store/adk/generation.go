package adk

import (
	"context"
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// generation is one of the six forms of the table events (1.0).
type generation string

const (
	p0 generation = "P0" // adk-python's DatabaseSessionService: a column for each part of an event, the actions pickled
	p1 generation = "P1" // the same service since 1.22.0: the event is one JSON document
	ps generation = "PS" // adk-python's SqliteSessionService: a document, too, with the time as a number
	g1 generation = "G1" // adk-go v0 and v1: columns, the actions as JSON
	g2 generation = "G2" // adk-go v2: the same with the columns of workflows
	j1 generation = "J1" // adk-js's DatabaseSessionService: documents as those of P1, with times in milliseconds
)

const (
	tableSessions = "sessions"
	tableEvents   = "events"
	tableMetadata = "adk_internal_metadata"
)

func (g generation) python() bool { return g == p0 || g == p1 || g == ps }
func (g generation) golang() bool { return g == g1 || g == g2 }

// document reports whether an event is one JSON document in the column event_data.
func (g generation) document() bool { return g == p1 || g == ps || g == j1 }

// traits are what is known of a generation besides its columns.
type traits struct {
	writer  string
	runtime string // the releases that write it; "" where the columns tell more
	// prefixReaders are those that compared labels as texts (3.2).
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
}

// schema are the tables with their columns.
type schema map[string][]string

func (s schema) has(table string, columns ...string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(s[table], c) })
}

// generationOf tells what a database is by its tables, "" when it is none of ADK's.
// Only P0 and G1 need a look at rows: they have nearly the same columns.
func generationOf(ctx context.Context, db *sqlite.DB, s schema) generation {
	switch {
	case !s.has(tableSessions, "app_name", "user_id", "id", "state"),
		!s.has(tableEvents, "id", "app_name", "user_id", "session_id", "invocation_id", "timestamp"):
		return ""
	case s.has(tableEvents, "event_data"):
		return documentGeneration(ctx, db, s)
	case !s.has(tableEvents, "author", "branch", "actions", "content"):
		return ""
	case s.has(tableEvents, "node_info_json"), s.has(tableEvents, "isolation_scope"):
		return g2
	}
	if weigh(ctx, db, columnEvidence) > 0 {
		return p0
	}
	return g1
}

// documentGeneration follows upstream, for which a database without a version of
// its schema is of the newest one (1.0). A time of the type REAL is the mark of
// adk-python's service that makes its tables without SQLAlchemy.
func documentGeneration(ctx context.Context, db *sqlite.DB, s schema) generation {
	if !s.has(tableMetadata, "key", "value") {
		var isReal bool
		err := db.QueryRow(ctx, `select upper(type) = 'REAL' from pragma_table_info('events') where name = 'timestamp'`).Scan(&isReal)
		if err == nil && isReal {
			return ps
		}
	}
	if weigh(ctx, db, documentEvidence) < 0 {
		return j1
	}
	return p1
}

// weigh asks queries that count what speaks for one generation and for another, until
// they are not equal: above 0 it is the first.
func weigh(ctx context.Context, db *sqlite.DB, evidence []string) int {
	for _, query := range evidence {
		var first, second int
		if err := db.QueryRow(ctx, query).Scan(&first, &second); err == nil && first != second {
			return first - second
		}
	}
	return 0
}

// documentEvidence tells P1 from J1: times that are texts from whole milliseconds, and
// the type that MikroORM gives documents, in lower case.
var documentEvidence = []string{
	`select count(case typeof(timestamp) when 'text' then 1 end), count(case typeof(timestamp) when 'integer' then 1 end)
		from (select timestamp from events limit 100)`,
	`select 0, count(*) from pragma_table_info('events') where name = 'event_data' and type = 'json'`,
}

// columnEvidence are queries that tell adk-python's columns from adk-go's (1.0), the
// best one first. Each counts what speaks for the one and for the other: the first
// byte of the actions, a zone behind the time, the index that only Python has, and
// the type of the key, which SQLAlchemy gives a length or calls VARCHAR at least.
var columnEvidence = []string{
	`select count(case hex(substr(actions, 1, 1)) when '80' then 1 end), count(case hex(substr(actions, 1, 1)) when '7B' then 1 end)
		from (select actions from events limit 100)`,
	`select count(case when timestamp not glob '*[+-][0-9][0-9]:[0-9][0-9]' then 1 end), count(case when timestamp glob '*[+-][0-9][0-9]:[0-9][0-9]' then 1 end)
		from (select timestamp from events limit 100)`,
	`select count(*), 0 from pragma_index_list('events') where name = 'idx_events_app_user_session_ts'`,
	`select upper(type) like '%CHAR%', upper(type) = 'TEXT' from pragma_table_info('events') where name = 'id'`,
}
