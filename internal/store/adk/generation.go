package adk

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
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

// generationOf tells what a database is by its tables, "" when it is none of ADK's.
// Only P0 and G1 need a look at rows: they have nearly the same columns.
func generationOf(ctx context.Context, db table.Reader, s table.Schema) generation {
	switch {
	case !s.Has(tableSessions, "app_name", "user_id", "id", "state"),
		!s.Has(tableEvents, "id", "app_name", "user_id", "session_id", "invocation_id", "timestamp"):
		return ""
	case s.Has(tableEvents, "event_data"):
		return documentGeneration(ctx, db, s)
	case !s.Has(tableEvents, "author", "branch", "actions", "content"):
		return ""
	case s.Has(tableEvents, "node_info_json"), s.Has(tableEvents, "isolation_scope"):
		return g2
	}
	return columnGeneration(ctx, db, s)
}

// documentGeneration follows upstream, for which a database without a version of
// its schema is of the newest one (1.0). A time of the type REAL is the mark of
// adk-python's service that makes its tables without SQLAlchemy. P1 and J1 differ in the
// times, texts or whole milliseconds, and in the type that MikroORM gives documents, in
// lower case.
func documentGeneration(ctx context.Context, db table.Reader, s table.Schema) generation {
	events := s.Tables[tableEvents]
	if !s.Has(tableMetadata, "key", "value") && strings.EqualFold(events.Column("timestamp").Type, "REAL") {
		return ps
	}
	texts := 0
	err := sample(ctx, db, []string{"timestamp"}, func(row []table.Value) {
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

// columnGeneration tells adk-python's columns from adk-go's (1.0) by what speaks for the
// one and for the other, the best evidence first: the first byte of the actions, a zone
// behind the time, the index that only Python has, and the type of the key, to which
// SQLAlchemy gives a length or calls it VARCHAR at least.
func columnGeneration(ctx context.Context, db table.Reader, s table.Schema) generation {
	events := s.Tables[tableEvents]
	pickled, zoned, timed := 0, 0, 0
	err := sample(ctx, db, []string{"actions", "timestamp"}, func(row []table.Value) {
		switch actions := bytesOf(row[0]); {
		case len(actions) == 0:
		case actions[0] == 0x80:
			pickled++
		case actions[0] == '{':
			pickled--
		}
		if row[1] != nil {
			timed++
			if zoneBehind.Match(bytesOf(row[1])) {
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

// sample hands columns of the first events to fn.
func sample(ctx context.Context, db table.Reader, columns []string, fn func(row []table.Value)) error {
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
var zoneBehind = regexp.MustCompile(`[+-][0-9]{2}:[0-9]{2}$`)
