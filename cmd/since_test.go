package cmd

import (
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

// A session of which nobody can say that it is old counts as one that was touched.
func TestTouchedSince(t *testing.T) {
	limit := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	old, recent := limit.AddDate(0, 0, -1), limit.AddDate(0, 0, 1)
	bad := []session.Fault{{Kind: session.BadTime, Item: 0, Field: "created_at"}}
	at := func(times ...time.Time) []session.Item {
		items := make([]session.Item, len(times))
		for i := range times {
			items[i].Time = times[i]
		}
		return items
	}
	tests := []struct {
		name    string
		session session.Session
		want    bool
	}{
		{"old", session.Session{Created: old, Updated: old, Items: at(old)}, false},
		{"old, some items without a time", session.Session{Created: old, Items: at(old, time.Time{})}, false},
		{"old and empty", session.Session{Created: old}, false},
		{"created", session.Session{Created: recent}, true},
		{"updated", session.Session{Created: old, Updated: recent}, true},
		{"at the limit", session.Session{Created: old, Items: at(limit, old)}, true},
		{"no time at all", session.Session{Items: at(time.Time{})}, true},
		{"empty, and no time", session.Session{}, true},
		{"old, no item with a time", session.Session{Created: old, Items: at(time.Time{})}, false},
		{"a time that cannot be read", session.Session{Created: old, Updated: old, Items: at(old), Faults: bad}, true},
		{"another fault", session.Session{Created: old, Items: at(old), Faults: []session.Fault{{Kind: session.Undecodable}}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rest := &session.Session{Created: old, Updated: old}
			if got := touchedSince(limit)(&session.Tree{Sessions: []*session.Session{rest, &tt.session}}); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
