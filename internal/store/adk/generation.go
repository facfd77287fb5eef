package adk

import (
	"context"
	"slices"

	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// generation is one of the five forms of the table events (1.0).
type generation string

const (
	p0 generation = "P0" // adk-python's DatabaseSessionService: a column for each part of an event, the actions pickled
	p1 generation = "P1" // the same service since 1.22.0: the event is one JSON document
	ps generation = "PS" // adk-python's SqliteSessionService: a document, too, with the time as a number
	g1 generation = "G1" // adk-go v0 and v1: columns, the actions as JSON
	g2 generation = "G2" // adk-go v2: the same with the columns of workflows
)

const (
	tableSessions = "sessions"
	tableEvents   = "events"
	tableMetadata = "adk_internal_metadata"
)

func (g generation) python() bool { return g == p0 || g == p1 || g == ps }

// document reports whether an event is one JSON document in the column event_data.
func (g generation) document() bool { return g == p1 || g == ps }

func (g generation) writer() string {
	return map[generation]string{
		p0: "adk-python's DatabaseSessionService, schema v0", p1: "adk-python's DatabaseSessionService, schema v1",
		ps: "adk-python's SqliteSessionService", g1: "adk-go v0 and v1", g2: "adk-go v2",
	}[g]
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
	for _, evidence := range columnEvidence {
		var python, golang int
		if err := db.QueryRow(ctx, evidence).Scan(&python, &golang); err == nil && python != golang {
			if python > golang {
				return p0
			}
			return g1
		}
	}
	return g1
}

// documentGeneration follows upstream, for which a database without a version of
// its schema is of the newest one (1.0). A time that is a number is the mark of the
// service that makes its tables without SQLAlchemy.
func documentGeneration(ctx context.Context, db *sqlite.DB, s schema) generation {
	if s.has(tableMetadata, "key", "value") {
		return p1
	}
	var isReal bool
	err := db.QueryRow(ctx, `select upper(type) = 'REAL' from pragma_table_info('events') where name = 'timestamp'`).Scan(&isReal)
	if err == nil && isReal {
		return ps
	}
	return p1
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
