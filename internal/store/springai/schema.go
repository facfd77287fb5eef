package springai

import (
	"context"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
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

// relation is a table with its columns by the names that the scripts give them.
type relation struct {
	name    string // as it is stored, like all columns
	columns []string
	stored  map[string]string // by the name in the scripts
}

// tableOf finds a table whatever the case of its name. The columns of one that
// does not exist are none.
func tableOf(schema table.Schema, name string) relation {
	for stored := range schema.Tables {
		if strings.EqualFold(stored, name) {
			columns := schema.Columns(stored)
			t := relation{name: stored, columns: columns, stored: make(map[string]string, len(columns))}
			for _, c := range columns {
				t.stored[strings.ToLower(c)] = c
			}
			return t
		}
	}
	return relation{}
}

func (t *relation) has(columns ...string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { return t.stored[c] == "" })
}

// missing are those of the columns that the table does not have.
func (t *relation) missing(columns []string) []string {
	return slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return t.has(c) })
}

// pick are the stored names of those of the columns that the table has.
func (t *relation) pick(columns ...string) []string {
	var names []string
	for _, c := range columns {
		if t.has(c) {
			names = append(names, t.stored[c])
		}
	}
	return names
}

// value is a value of a row of the table, nil for a column that it lacks.
func (t *relation) value(row eventlog.Row, column string) any { return row.Value(t.stored[column]) }

// schema is what a database has.
type schema struct {
	sessions, events relation

	given  bool     // the database itself gives out seq
	unique bool     // no two rows may have one seq, although it has to be written
	clock  timeForm // of the stored times
	later  store.Later
}

// sequenced reports whether events are ordered by seq, as since 0.6.0. Before,
// their times were the order.
func (sc *schema) sequenced() bool { return sc.events.has("seq") }

func readSchema(ctx context.Context, db table.Reader) (*schema, error) {
	stored, err := db.Schema(ctx)
	if err != nil {
		return nil, err
	}
	sc := &schema{sessions: tableOf(stored, tableSessions), events: tableOf(stored, tableEvents)}
	if sc.sequenced() {
		seq, events := sc.events.stored["seq"], stored.Tables[sc.events.name]
		sc.given = events.Column(seq).Given
		sc.unique = !sc.given && slices.ContainsFunc(events.Indexes, func(x table.Index) bool { return x.Unique && slices.Contains(x.Columns, seq) })
	}
	if sc.later, err = eventlog.Examine(ctx, db, stored, sc.known(), sc.events.name); err == nil {
		sc.clock, err = sc.readClock(ctx, db)
	}
	return sc, db.Explain(err)
}

// readClock looks at the form in which the first event's time is stored.
func (sc *schema) readClock(ctx context.Context, db table.Reader) (form timeForm, _ error) {
	if !sc.events.has("timestamp") {
		return form, nil
	}
	times := table.Selection{Table: sc.events.name, Columns: sc.events.pick("timestamp"), Glance: true}
	_, err := db.Scan(ctx, times, func(_ table.Place, row []table.Value) error {
		if row[0] == nil {
			return nil
		}
		form = formOf(row[0])
		return table.Enough
	})
	return form, err
}
