package cmd

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
)

// parseSince reads a date, a time, or how long ago: "2026-02-03",
// "2026-02-03T10:00:00Z", "36h", "7d", "2w". Dates are local.
func parseSince(text string, now time.Time) (time.Time, error) {
	if t, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return t, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	for unit, days := range map[string]int{"d": 1, "w": 7} {
		number, ok := strings.CutSuffix(text, unit)
		if n, err := strconv.ParseUint(number, 10, 16); ok && err == nil {
			return now.AddDate(0, 0, -int(n)*days), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, problem.New(problem.Usage, "Use a date (2026-02-03), a time (2026-02-03T10:00:00Z) or an age (36h, 7d, 2w).",
		"--since %q is no point in time", text)
}

// touchedSince tells the trees in which something happened since, or may have happened:
// where a session says nothing usable of when, nobody knows that it is old.
func touchedSince(since time.Time) func(*session.Tree) bool {
	return func(tree *session.Tree) bool {
		return slices.ContainsFunc(tree.Sessions, func(s *session.Session) bool {
			last, known := lastTouched(s)
			return !known || !last.Before(since)
		})
	}
}

// lastTouched is the newest time in a session; known is false where there is none, or one
// of its times cannot be read.
func lastTouched(s *session.Session) (last time.Time, known bool) {
	last = later(s.Created, s.Updated)
	for i := range s.Items {
		last = later(last, s.Items[i].Time)
	}
	unread := slices.ContainsFunc(s.Faults, func(f session.Fault) bool { return f.Kind == session.BadTime })
	return last, !last.IsZero() && !unread
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
