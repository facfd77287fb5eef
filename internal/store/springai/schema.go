package springai

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// The tables, as the project's scripts name them but for the case: PostgreSQL
// stores names in lower case, H2 and MySQL in upper case.
const (
	tableSessions = "ai_session"
	tableEvents   = "ai_session_event"
)

// The columns of both tables (a). seq and archived came with 0.6.0.
var (
	sessionColumns = []string{"id", "user_id", "created_at", "expires_at", "metadata", "event_version"}
	eventColumns   = []string{
		"id", "session_id", "timestamp", "message_type", "message_content", "message_data", "synthetic", "branch", "metadata",
	}
	newerColumns = []string{"seq", "archived"}
)

// table is a table with its columns by the names that the scripts give them.
type table struct {
	name    string // as it is stored, like all columns
	columns []string
	stored  map[string]string // by the name in the scripts
}

// tableOf finds a table whatever the case of its name. The columns of one that
// does not exist are none.
func tableOf(tables map[string][]string, name string) table {
	for stored, columns := range tables {
		if strings.EqualFold(stored, name) {
			t := table{name: stored, columns: columns, stored: make(map[string]string, len(columns))}
			for _, c := range columns {
				t.stored[strings.ToLower(c)] = c
			}
			return t
		}
	}
	return table{}
}

func (t *table) has(columns ...string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { return t.stored[c] == "" })
}

// missing are those of the columns that the table does not have.
func (t *table) missing(columns []string) []string {
	return slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return t.has(c) })
}

// pick are the stored names of those of the columns that the table has.
func (t *table) pick(columns ...string) []string {
	var names []string
	for _, c := range columns {
		if t.has(c) {
			names = append(names, t.stored[c])
		}
	}
	return names
}

// value is a value of a row of the table, nil for a column that it lacks.
func (t *table) value(row eventlog.Row, column string) any { return row.Value(t.stored[column]) }

// schema is what a database has.
type schema struct {
	sessions, events table

	given  bool     // SQLite itself gives out seq: it is the rowid by another name
	unique bool     // no two rows may have one seq, although it has to be written
	clock  timeForm // of the stored times
	later  store.Later
}

// sequenced reports whether events are ordered by seq, as since 0.6.0. Before,
// their times were the order.
func (sc *schema) sequenced() bool { return sc.events.has("seq") }

func readSchema(ctx context.Context, db *sqlite.DB) (*schema, error) {
	stored, err := db.Columns(ctx)
	if err != nil {
		return nil, err
	}
	sc := &schema{sessions: tableOf(stored, tableSessions), events: tableOf(stored, tableEvents)}
	if sc.sequenced() {
		if err := sc.readSequence(ctx, db); err != nil {
			return nil, db.Explain(err)
		}
	}
	if sc.later, err = eventlog.Examine(ctx, db, sc.known(), sc.events.name); err == nil {
		sc.clock, err = sc.readClock(ctx, db)
	}
	return sc, db.Explain(err)
}

// readSequence finds out who gives out seq.
func (sc *schema) readSequence(ctx context.Context, db *sqlite.DB) (err error) {
	seq := sc.events.stored["seq"]
	if sc.given, err = db.IsRowID(ctx, sc.events.name, seq); err != nil || sc.given {
		return err
	}
	return db.QueryRow(ctx, `select count(*) > 0 from pragma_index_list(?) l join pragma_index_info(l.name) c where l."unique" and c.name = ?`,
		sc.events.name, seq).Scan(&sc.unique)
}

// readClock looks at the form in which the first event's time is stored.
func (sc *schema) readClock(ctx context.Context, db *sqlite.DB) (timeForm, error) {
	if !sc.events.has("timestamp") {
		return timeForm{}, nil
	}
	column := sqlite.Quoted(sc.events.stored["timestamp"])
	rows, err := db.Query(ctx, fmt.Sprintf("select +%s from %s not indexed where %s is not null limit 1", column, sqlite.Quoted(sc.events.name), column))
	if err != nil {
		_, err = sqlite.Readable(err) // damage is told of when the rows are read
		return timeForm{}, err
	}
	defer func() { _ = rows.Close() }()
	var sample any
	if rows.Next() {
		err = rows.Scan(&sample)
	}
	if err == nil {
		_, err = sqlite.Readable(rows.Err())
	}
	return formOf(sample), err
}
