package springai

import (
	"context"
	"fmt"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// lowVersions reports the sessions that have more messages than were ever counted.
// Each append counts event_version on, and no strategy of the library deletes a
// message that it did not write itself, so rows were written past the library or
// the number was set back (a). It is a fault of the store and not of a session: a
// repair counts on, too, and may take messages out.
func (sc *schema) lowVersions(ctx context.Context, db *sqlite.DB) ([]session.Fault, error) {
	if !sc.events.has("session_id", "synthetic") || !sc.sessions.has("event_version") {
		return nil, nil
	}
	s, e := &sc.sessions, &sc.events
	query := fmt.Sprintf(`select count(*), min(s.%[2]s) from %[1]s s join (
		select %[4]s owner, count(*) messages from %[3]s where lower(%[5]s) in ('0', 'false', 'f') group by 1) e on e.owner = s.%[2]s
		where cast(s.%[6]s as integer) < e.messages`,
		sqlite.Quoted(s.name), sqlite.Quoted(s.stored["id"]), sqlite.Quoted(e.name), sqlite.Quoted(e.stored["session_id"]), sqlite.Quoted(e.stored["synthetic"]),
		sqlite.Quoted(s.stored["event_version"]))
	var sessions int
	var first *string
	if err := db.QueryRow(ctx, query).Scan(&sessions, &first); sqlite.IsCorrupt(err) {
		return nil, nil // other faults tell of it
	} else if err != nil {
		return nil, db.Explain(err)
	}
	if sessions == 0 {
		return nil, nil
	}
	return []session.Fault{{
		Kind: session.Housekeeping, Item: -1, Ref: session.Ref{Table: s.name, Key: *first}, Field: "event_version", Count: sessions,
		Detail: fmt.Sprintf("event_version is lower than the number of messages in %d of the sessions: messages were written past the library, "+
			"or the number was set back, and a compaction that reads it may overwrite what it has not seen", sessions),
	}}, nil
}
