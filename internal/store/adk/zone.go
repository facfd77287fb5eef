package adk

import (
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

// Zones differ from UTC by quarters of an hour, at most by 14 hours.
const (
	quarter  = 15 * time.Minute
	farthest = 14 * time.Hour
)

// zone is how far the clock of the items was from UTC, in which a summary gives its
// limits: these are the times of the first and of the last event that it covers. Where
// no zone makes them so, the summary was written right behind its end.
func (c *span) zone(items []session.Item, written time.Time) time.Duration {
	micros := map[int64]bool{}
	for i := range items {
		micros[items[i].Time.UnixMicro()] = true
	}
	at := func(t time.Time) bool { // but for what rounding did
		m := t.UnixMicro()
		return micros[m] || micros[m-1] || micros[m+1]
	}
	for distance := time.Duration(0); distance <= farthest; distance += quarter {
		for _, zone := range [...]time.Duration{distance, -distance} {
			if at(c.start.Add(zone)) && at(c.end.Add(zone)) {
				return zone
			}
		}
	}
	return written.Sub(c.end).Round(quarter)
}

// shifted is the span on another clock.
func (c *span) shifted(zone time.Duration) *span {
	s := *c
	s.start, s.end = s.start.Add(zone), s.end.Add(zone)
	return &s
}
