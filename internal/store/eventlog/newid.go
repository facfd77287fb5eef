package eventlog

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// newID is an id for a new event of a session, in the form of a random UUID (RFC
// 9562, version 4), which is what the runtimes of such stores use. It follows from
// the session and the call that the event answers, so that a plan makes the same
// store each time.
func (w *writer) newID(ctx context.Context, s *script, it *session.Item) (string, error) {
	call := ""
	switch {
	case len(it.Results) > 0:
		call = it.Results[0].CallID
	case len(it.Calls) > 0:
		call = it.Calls[0].ID
	}
	for n := 0; ; n++ {
		id := uuid(fmt.Sprintf("%q %q %d", s.owner.path(), call, n))
		used, err := w.used(ctx, s.owner, id)
		if err != nil {
			return "", err
		}
		if !used && !s.given[id] {
			s.given[id] = true
			return id, nil
		}
	}
}

func uuid(seed string) string {
	b := sha256.Sum256([]byte(seed))
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// used reports whether an event has this id, where it would be taken for the same.
func (w *writer) used(ctx context.Context, o *owner, id string) (found bool, _ error) {
	events := table.Selection{
		Table: w.events.Name, Columns: append([]string{w.events.ID}, w.events.Key...),
		Key: []string{w.events.ID}, Keys: [][]table.Value{{id}},
	}
	_, err := w.edit.Reader().Scan(ctx, events, func(_ table.Place, row []table.Value) error {
		same := text(row[0]) == id && (!w.scoped() || string(joinedKey(nil, row[1:])) == string(joinedKey(nil, o.key)))
		found = found || same
		return nil
	})
	return found, err
}
