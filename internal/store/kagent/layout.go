package kagent

import (
	"context"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/adk"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// reader is what is known of a database while its sessions are read.
type reader struct {
	schema
	redacts   bool // people see what it gives: see redact.go
	beside         // what other tables say of sessions
	documents adk.Documents
	notes     notes
}

// newReader looks at a database, and says what is known of the store before its
// sessions are.
func newReader(ctx context.Context, db table.Reader) (session.Store, *reader, error) {
	stored, err := db.Schema(ctx)
	if err != nil {
		return session.Store{}, nil, err
	}
	r := &reader{schema: schema{stored}}
	if r.isBaseline() {
		return session.Store{}, nil, problem.New(problem.Unreadable,
			"sessctl reads the tables of kagent 0.5 to 0.10. Ask for 1.0 with the release of kagent that made this database; the file was not changed.",
			"%s has the tables of kagent 1.0 (%s), which keep conversations in another form: nothing of it was read, older tables beside them neither", db.About().Name, tableHistory)
	}
	if err := r.prepare(ctx, db); err != nil {
		return session.Store{}, nil, db.Explain(err)
	}
	later, err := eventlog.Examine(ctx, db, stored, known, tableEvents)
	if err != nil {
		return session.Store{}, nil, db.Explain(err)
	}
	return r.facts(&later), r, nil
}

// layout is how such a database is read and written.
func (r *reader) layout() *eventlog.Layout {
	return &eventlog.Layout{
		Sessions: eventlog.Table{Name: tableSessions, Columns: r.Columns(tableSessions), Key: []string{"user_id", "id"}},
		Events:   eventlog.Table{Name: tableEvents, Columns: r.Columns(tableEvents), Key: []string{"user_id", "session_id"}, ID: "id"},
		Place:    []string{"created_at"}, Order: order,
		Session: func(row eventlog.Row) *session.Session { return r.session(row.Value) },
		Item: func(row eventlog.Row, it *session.Item, body bool) []session.Fault {
			return r.item(row.Value, it, body)
		},
		Finish: r.finish, Relate: r.relate,
		Said: []string{"data"}, Content: withoutTime,
		Links: func(row eventlog.Row) []string { return r.links(row.Value) }, LinkColumns: []string{"data"}, OneID: true,
		Prepare: r.prepare, Beside: r.digest,
		Write: writes,
	}
}

// order is where an event stands: by created_at, to the microsecond, which is what
// kagent asks for (a2). Of events of one time SQLite gives the one that was written
// first; what the notes advise instead (K12) is for finish, which sees all of them.
func order(_ table.Place, place eventlog.Row) (at, tie int64) {
	return placeOf(place.Value("created_at"))
}

// withoutTime is what an event says, without the time of which created_at is the
// store's own copy.
func withoutTime(_ string, value any) any {
	doc, _ := unwrap(bytesOf(value))
	return string(adk.WithoutTime(doc))
}

// reread makes the layout of a database that is open for writing. Its records are
// for receipts, which keep them as they were.
func reread(ctx context.Context, db table.Reader) (session.Store, *eventlog.Layout, error) {
	facts, r, err := newReader(ctx, db)
	if err != nil {
		return session.Store{}, nil, err
	}
	return facts, r.layout(), nil
}
