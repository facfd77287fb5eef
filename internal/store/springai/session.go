package springai

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/eventlog"
)

// The documented defaults (a): the owner where the advisor has none, and what a
// new session begins with.
var (
	defaultUser     = "default-user"
	defaultVersion  = "0"
	defaultMetadata = "{}"
	defaultFlag     = "false"
)

// session is the session of a row, without items.
func (sc *schema) session(row eventlog.Row) *session.Session {
	text := func(column string) string {
		text, _ := textOf(sc.sessions.value(row, column))
		return strings.Clone(text)
	}
	s := &session.Session{ID: text("id"), User: text("user_id")}
	fault := func(kind session.FaultKind, field, detail string, fallback *string) {
		s.Faults = append(s.Faults, session.Fault{Kind: kind, Ref: s.Ref(), Item: -1, Field: field, Detail: detail, Default: fallback})
	}
	null := func(column string) bool { return sc.sessions.has(column) && sc.sessions.value(row, column) == nil }
	if null("user_id") {
		fault(session.RequiredNull, "user_id", "Nobody finds the session as one of a user's.", &defaultUser)
	}
	if null("event_version") {
		fault(session.RequiredNull, "event_version", "It never counts further, so no compaction is stored.", &defaultVersion)
	}
	switch {
	case null("created_at"):
		fault(session.RequiredNull, "created_at", "The session cannot be loaded.", nil)
	case sc.sessions.has("created_at"):
		t, wrong := parseTime(sc.sessions.value(row, "created_at"))
		if s.Created = t; wrong != "" {
			fault(session.BadTime, "created_at", wrong, nil)
		}
	}
	expires := sc.sessions.value(row, "expires_at")
	if end, _ := textOf(expires); end != "" { // NULL is an empty text in a CSV file
		if _, wrong := parseTime(expires); wrong != "" {
			fault(session.BadTime, "expires_at", wrong, nil)
		}
	}
	if _, wrong := readMetadata(sc.sessions.value(row, "metadata")); wrong != "" {
		fault(session.BadMetadata, "metadata", wrong, &defaultMetadata)
	}
	return s
}

// finish derives the times that a repair may set where one is missing or
// unusable: that of the event before, else of the next one that has one; of a
// session that of its first event.
func (sc *schema) finish(s *session.Session) {
	s.Faults = slices.Clone(s.Faults) // the session may be yielded again
	for i := range s.Faults {
		f := &s.Faults[i]
		switch {
		case f.Default != nil:
		case f.Field == "created_at":
			f.Default = sc.timeNear(s, 0)
		case f.Field == "timestamp":
			f.Default = sc.timeNear(s, f.Item)
		}
	}
}

// timeNear is the time of the event that is nearest to an item, an earlier one
// before a later one; nil when none has a time.
func (sc *schema) timeNear(s *session.Session, item int) *string {
	near := func(it session.Item) bool { return !it.Time.IsZero() }
	at := slices.IndexFunc(s.Items, near)
	for i := min(item, len(s.Items)-1); i > at; i-- {
		if near(s.Items[i]) {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	text, _ := textOf(sc.clock.render(s.Items[at].Time))
	return &text
}
