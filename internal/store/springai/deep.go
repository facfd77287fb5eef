package springai

import (
	"context"
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// lowVersions reports the sessions that have more messages than were ever counted.
// Each append counts event_version on, and no strategy of the library deletes a
// message that it did not write itself, so rows were written past the library or
// the number was set back (a). It is a fault of the store and not of a session: a
// repair counts on, too, and may take messages out.
func (sc *schema) lowVersions(ctx context.Context, db table.Reader) ([]session.Fault, error) {
	if !sc.events.has("session_id", "synthetic") || !sc.sessions.has("event_version") {
		return nil, nil
	}
	s, e := &sc.sessions, &sc.events
	messages := map[string]int64{}
	_, err := db.Scan(ctx, table.Selection{Table: e.name, Columns: e.pick("session_id", "synthetic"), Glance: true}, func(_ table.Place, row []table.Value) error {
		id, _ := textOf(row[0])
		if is, ok := truthOf(row[1]); ok && !is {
			messages[strings.Clone(id)]++
		}
		return nil
	})
	if err != nil {
		return nil, db.Explain(err)
	}
	sessions, first := 0, ""
	_, err = db.Scan(ctx, table.Selection{Table: s.name, Columns: s.pick("id", "event_version"), Glance: true}, func(_ table.Place, row []table.Value) error {
		id, ok := textOf(row[0])
		if version, _ := numberOf(row[1]); !ok || row[1] == nil || messages[id] == 0 || version >= messages[id] {
			return nil
		}
		if sessions++; sessions == 1 || id < first {
			first = strings.Clone(id)
		}
		return nil
	})
	if err != nil {
		return nil, db.Explain(err)
	}
	if sessions == 0 {
		return nil, nil
	}
	return []session.Fault{{
		Kind: session.Housekeeping, Item: -1, Ref: session.Ref{Table: s.name, Key: first}, Field: "event_version", Count: sessions,
		Detail: fmt.Sprintf("event_version is lower than the number of messages in %d of the sessions: messages were written past the library, "+
			"or the number was set back, and a compaction that reads it may overwrite what it has not seen", sessions),
	}}, nil
}
