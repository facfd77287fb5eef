package adk

import (
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

// compare holds the columns of an event against their copies in its document, and
// takes what the reader takes: the columns in P1 (1.2), the document in PS (1.3) and J1. The
// document's time is the event's own in all, and the column's only in P1's order.
func (g generation) compare(row columns, s *stored, list *faults) {
	taken := "the column and its copy in event_data differ, and the reader takes the copy"
	if g == p1 {
		taken = "the column and its copy in event_data differ, and the reader takes the column"
	}
	for _, c := range []struct {
		column string
		copied *string
	}{{"id", &s.ID}, {"invocation_id", &s.InvocationID}} {
		column := textOf(row(c.column))
		if *c.copied != "" && *c.copied != column {
			list.add(session.CopiesDiffer, c.column, taken)
		}
		if g == p1 || *c.copied == "" {
			*c.copied = column
		}
	}
	copied := g.documentStamp(s, row("timestamp"))
	switch {
	case copied.bad != "":
		list.add(session.BadTime, "event_data timestamp", copied.bad)
	case copied.IsZero():
	default:
		if !s.time.IsZero() && g.timesDiffer(s.time.Time, copied.Time) {
			list.add(session.CopiesDiffer, "timestamp", taken)
		}
		s.time.Time = copied.Time
	}
}

// timesDiffer reports whether a column says another time than its copy. Both are
// rounded to a microsecond on the way. P1's column is in the zone of the server that
// wrote it (1.6), so that it may differ by what zones differ from UTC: quarters of an
// hour, at most 14 hours.
func (g generation) timesDiffer(column, copied time.Time) bool {
	difference := column.Sub(copied)
	if g == p1 {
		if zone := difference.Round(quarter); zone.Abs() <= farthest {
			difference -= zone
		}
	}
	return difference.Abs() > time.Microsecond
}
