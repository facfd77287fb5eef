package adk

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
)

// spanTime is a limit of what a summary covers: seconds since 1970, or the
// milliseconds of adk-java, which are far outside every year as seconds (docs/stores/adk.md#what-an-agent-sees).
func spanTime(v jsontext.Value) column.Stamp {
	s := jsonStamp(v, column.Seconds)
	if s.Wrong != "" && v.Kind() == jsontext.KindNumber {
		if later := jsonStamp(v, column.Milliseconds); later.Wrong == "" {
			return later
		}
	}
	return s
}

// readCompaction reads that of an event of adk-js, which says itself that it is one
// (compacted_event.ts). What is no text is sent as it is stored.
func (e *event) readCompaction() *compaction {
	text := string(e.CompactedContent)
	if e.CompactedContent.Kind() == jsontext.KindString {
		text = unquoteText(e.CompactedContent)
	}
	return &compaction{StartTimestamp: e.StartTime, EndTimestamp: e.EndTime, CompactedContent: content{Parts: []messagePart{{Text: &text}}}}
}

func (c *compaction) startTime() time.Time { return spanTime(c.StartTimestamp).Time }
func (c *compaction) endTime() time.Time   { return spanTime(c.EndTimestamp).Time }
func (c *compaction) endsEarly() bool      { return c.endTime().Before(c.startTime()) }

// summaryFault is what keeps the summary in an event from standing for anything, ""
// for nothing (docs/stores/adk.md#what-an-agent-sees). When an event of P0 was written, its column does not tell.
func (g generation) summaryFault(s *stored) string {
	c := s.Actions.Compaction
	switch {
	case g == j1 && c.endTime().IsZero():
		return "the end of what it covers is missing or not a time, so only this summary is sent to a model"
	case g == j1: // which reads no start; a summary of summaries ends before it starts
		return ""
	case c.startTime().IsZero() || c.endTime().IsZero():
		return "the start or the end of what it covers is missing or not a time"
	case c.endsEarly():
		return "what it covers ends before it starts"
	case g != p0 && !s.time.IsZero() && c.endTime().After(s.time.Time):
		return "it covers a time after itself"
	}
	return ""
}

// span are the events that a summary covers.
type span struct {
	start, end time.Time
	open       bool // everything from start up to the summary, whatever its end says
	local      bool // the items have the times of a clock of some zone
	sole       bool // the last of these stands for those before it, too, and for what comes later
	within     bool // it stands for those that cover no more than it does
	except     []excluded
}

type excluded struct {
	invocation string
	time       time.Time
}

// markCompacted marks what summaries cover, and says of each where the tail starts that
// is sent beside it: at the first item before it that is.
func (n *notes) markCompacted(s *session.Session) {
	last := -1
	for i := range s.Items {
		if covers := n.loadNote(&s.Items[i]).summary; covers != nil && covers.sole {
			last = i
		}
	}
	for i := range s.Items {
		it := &s.Items[i]
		covers := n.loadNote(it).summary
		if it.Kind != session.Summary || covers == nil || covers.sole && i < last {
			continue
		}
		if covers.local {
			covers = covers.shiftClock(covers.guessZone(s.Items, it.Time))
		}
		for k := range s.Items {
			other := &s.Items[k]
			if other.Kind == session.Message && covers.coversItem(other, k < i) || other.Kind == session.Summary && covers.replaces(n.loadNote(other).summary, k-i) {
				other.Flags |= session.Compacted
			}
		}
	}
	for i := range s.Items {
		if it := &s.Items[i]; it.Kind == session.Summary {
			if kept := firstSent(s.Items[:i]); kept > 0 {
				it.Own().KeptFrom = int64(kept)
			}
		}
	}
}

// replaces reports whether the summary stands for another one, so many items later
// (HistoryRewriterProcessor.CompactionRange of adk-kotlin for within).
func (c *span) replaces(other *span, later int) bool {
	switch {
	case c.sole:
		return later < 0
	case !c.within || other == nil || later == 0 || other.start.Before(c.start) || other.end.After(c.end):
		return false
	}
	return later < 0 || c.start.Before(other.start) || c.end.After(other.end)
}

// firstSent is the first item behind the very first that is still sent: entry 0 of a
// summary's tail means that it keeps none.
func firstSent(items []session.Item) int {
	for i := 1; i < len(items); i++ {
		if items[i].OnWire() {
			return i
		}
	}
	return 0
}

func (c *span) coversItem(it *session.Item, before bool) bool {
	switch {
	case it.Time.Before(c.start):
		return false
	case c.open:
		return before
	case it.Time.After(c.end):
		return false
	}
	return !slices.ContainsFunc(c.except, func(e excluded) bool { return e.invocation == it.Invocation() && e.time.Equal(it.Time) })
}
