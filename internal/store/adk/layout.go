package adk

import (
	"context"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// newLayout makes the layout of a database, and what is known of the store before
// its rows are.
func newLayout(ctx context.Context, db table.Reader) (session.Store, *eventlog.Layout, error) {
	s, err := db.Schema(ctx)
	if err != nil {
		return session.Store{}, nil, err
	}
	gen := generationOf(ctx, db, s)
	notes := &notes{follows: gen == j1}
	bySegments := gen.comparesSegments(s)
	layout := &eventlog.Layout{
		Sessions: eventlog.Table{Name: tableSessions, Columns: s.Columns(tableSessions), Key: []string{"app_name", "user_id", "id"}},
		Events:   eventlog.Table{Name: tableEvents, Columns: s.Columns(tableEvents), Key: []string{"app_name", "user_id", "session_id"}, ID: "id"},
		Place:    []string{"timestamp"},
		Order:    gen.order,
		Session:  func(row eventlog.Row) *session.Session { return gen.session(row.Value) },
		Item: func(row eventlog.Row, it *session.Item, body bool) []session.Fault {
			faults := gen.item(row.Value, it, body, notes)
			if it.Branch != "" && bySegments(row.Value, it.Time) {
				it.Flags |= session.BySegments
			}
			return faults
		},
		Finish:  notes.finish,
		Relate:  notes.relate,
		Said:    slices.DeleteFunc(slices.Clone(s.Columns(tableEvents)), saysNothing),
		Content: withoutTime,
		Write:   writes,
	}
	facts := gen.facts(s)
	if err := gen.examine(ctx, db, s, &facts); err != nil {
		return session.Store{}, nil, db.Explain(err)
	}
	states, err := sharedStateFaults(ctx, db, s)
	facts.Faults = append(facts.Faults, states...)
	return facts, layout, err
}

// order is where an event stands. Of events of one time adk-python's
// SqliteSessionService reads the one that was written first before the others, since
// its order goes by the rowid, too; the other readers ask for the newest first, get
// ties in the order of writing, and turn the list around (0, 1.3, #13 of section 5).
func (g generation) order(written table.Place, row eventlog.Row) (at, tie int64) {
	if g != ps {
		written = -written
	}
	return place(row.Value("timestamp")), int64(written)
}

// saysNothing tells the columns that say where and when an event stands.
func saysNothing(column string) bool {
	return slices.Contains([]string{"id", "app_name", "user_id", "session_id", "timestamp"}, column)
}

// withoutTime is a value of a column without the copy of the event's time that its
// document has.
func withoutTime(column string, value any) any {
	if column != "event_data" {
		return value
	}
	data := bytesOf(value)
	if rest := WithoutTime(data); len(rest) != len(data) {
		return string(rest)
	}
	return value
}

// reread makes the layout of a database that is open for writing.
func reread(ctx context.Context, db table.Reader) (session.Store, *eventlog.Layout, error) {
	facts, layout, err := newLayout(ctx, db)
	return facts, layout, err
}
