package adk

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
)

// Document is an event of ADK that another store keeps as one JSON text, in the names
// of any of its runtimes: snake case as adk-python has them, camel case, or those of
// adk-go before 2.2, which begin in upper case.
type Document struct {
	Data   []byte    // is not kept
	Column string    // that holds it, for faults
	Python bool      // adk-python reads it, else adk-go
	User   string    // whose session it is in
	Stored time.Time // when it was, for one that has no time of its own
}

// Documents decodes the events of a store, and relates those of a session. The zero
// value is ready. It is safe for concurrent use.
type Documents struct{ notes notes }

// DecodeItem decodes an event into an item that has its Table, Key and Position, as
// eventlog.Layout.Item does, but for the arguments of calls and the texts of results: they
// are there without body, too, and die with the document.
func (d *Documents) DecodeItem(doc Document, it *session.Item, body bool) []session.Fault {
	g := g2
	if doc.Python {
		g = ps
	}
	s, list := spare.Get().(*stored), faults(nil)
	defer s.returnToPool()
	s.raw, s.said = doc.Data, doc.Data
	if err := g.decodeJSON(doc.Data, &s.event); err != nil {
		s.event, s.broken = event{}, true
		list.addUndecodable(doc.Column, explainError(err), jsonedit.IsWhole(doc.Data))
	}
	if s.time = jsonStamp(s.Timestamp, column.Seconds); s.time.Wrong != "" {
		list.addFault(session.BadTime, doc.Column+" timestamp", s.time.Wrong)
	}
	if s.time.IsZero() {
		s.time.Time = doc.Stored
	}
	if s.Branch.wrong {
		list.addUndecodable(doc.Column+" branch", wrongBranch, true)
	}
	g.fillItem(s, doc.User, it, body, &list)
	n := noteOf(g, s)
	n.dialect, n.aware = "", false // which Relate does not ask for
	d.notes.keepNote(it.Key, n)
	return list
}

// Relate sets what the events of a session tell of each other, anew where it was set
// before: what a rewind annulled, what a summary covers, which results a later one
// stands for.
func (d *Documents) Relate(s *session.Session) { d.notes.relateItems(s) }

// WithoutTime is the document of an event without the event's time.
func WithoutTime(data []byte) []byte {
	for _, pointer := range []string{"/timestamp", "/Timestamp"} {
		if rest, err := jsonedit.SetValue(data, pointer, nil); err == nil {
			return rest
		}
	}
	return data
}

// The signs of a writer other than the one whose tables these are, in words that
// follow "3 of 10 events have".
const (
	nakedTimes   = "times without an offset from UTC, as adk-python writes them"
	zonedTimes   = "times with an offset from UTC, as adk-go writes them"
	awareTimes   = "times with an offset from UTC, as adk-python since 1.24.0 stores them in PostgreSQL"
	textTimes    = "times as texts, as adk-python's DatabaseSessionService writes them"
	wholeTimes   = "times in milliseconds, as adk-js writes them"
	pickles      = "pickled actions, as adk-python writes them"
	jsonActions  = "actions in JSON, as adk-go writes them"
	pascalCase   = "actions with the keys of adk-go up to v2.1 (StateDelta)"
	camelCase    = "actions with the keys of adk-go v2.2 and later (stateDelta)"
	camelMembers = "documents with keys in camel case (invocationId), which this service does not write"
)

// dialectOf is the sign of another writer that an event has, "" for none.
func (g generation) dialectOf(row columns, time column.Stamp) string {
	_, isText := row("timestamp").(string)
	_, isWhole := row("timestamp").(int64)
	isText = isText && time.Wrong == ""
	switch {
	case (g == ps || g == j1) && isText:
		return textTimes
	case g == p1 && isWhole:
		return wholeTimes
	case g.isPython() && g != p1 && time.Zoned:
		return zonedTimes
	case g.isGo() && isText && !time.Zoned:
		return nakedTimes
	case g == k1: // which reads no other names
	case g.hasDocument():
		return documentDialect(column.Bytes(row("event_data")))
	}
	return g.actionsDialect(column.Bytes(row("actions")))
}

// documentDialect goes by a key that every event has (docs/stores/adk.md#what-is-read).
func documentDialect(data []byte) string {
	if !jsonscan.HasText(data, `"invocation_id"`) && jsonscan.HasText(data, `"invocationId"`) {
		return camelMembers
	}
	return ""
}

// actionsDialect goes by the first byte and by the case of the first key (docs/stores/adk.md#what-is-read).
func (g generation) actionsDialect(data []byte) string {
	if len(data) == 0 {
		return ""
	}
	isPickle := data[0] == pickled
	switch {
	case g == p0 && !isPickle:
		return jsonActions
	case g == p0:
		return ""
	case isPickle:
		return pickles
	}
	switch keys := keyCase(data); {
	case g == g2 && keys == upperCase:
		return pascalCase
	case g == g1 && keys == lowerCase:
		return camelCase
	}
	return ""
}

// How the first key of a JSON object begins.
const (
	noKey = iota
	upperCase
	lowerCase
)

func keyCase(data []byte) int {
	_, key, _ := bytes.Cut(data, []byte{'"'})
	switch {
	case len(key) == 0:
		return noKey
	case key[0] >= 'A' && key[0] <= 'Z':
		return upperCase
	}
	return lowerCase
}

// tellDialects reports a session of which some events, and not all, are those of
// another writer.
func (n *notes) tellDialects(s *session.Session) {
	count, of, aware := 0, map[string]int{}, 0
	for i := range s.Items {
		note := n.loadNote(&s.Items[i])
		if note.dialect != "" {
			count++
			of[note.dialect]++
		}
		if note.aware {
			aware++
		}
	}
	if aware > 0 && aware < len(s.Items) {
		of[awareTimes], count = aware, max(count, aware)
	}
	if count == 0 || count == len(s.Items) && len(of) == 1 {
		return
	}
	var parts []string
	for _, d := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprintf("%d of %d events have %s", of[d], len(s.Items), d))
	}
	s.Faults = append(s.Faults, session.Fault{
		Kind: session.MixedDialects, Ref: s.Ref(), Item: -1, Field: tableEvents, Count: count, Detail: strings.Join(parts, "; "),
	})
}

// compareCopies holds the columns of an event against their copies in its document, and
// takes what the reader takes: the columns in P1 (docs/stores/adk.md#what-is-read), the document in PS, J1 and K1. The
// document's time is the event's own in all, and the column's only in P1's order.
func (g generation) compareCopies(row columns, s *stored, list *faults) {
	taken := "the column and its copy in event_data differ, and the runtime uses the copy"
	if g == p1 {
		taken = "the column and its copy in event_data differ, and the runtime uses the column"
	}
	for _, c := range []struct {
		column string
		copied *string
	}{{"id", &s.ID}, {"invocation_id", &s.InvocationID}} {
		inColumn := column.Bytes(row(c.column))
		if *c.copied == string(inColumn) {
			continue
		}
		if *c.copied != "" {
			list.addFault(session.CopiesDiffer, c.column, taken)
		}
		if g == p1 || *c.copied == "" {
			*c.copied = s.recent.KeepText(inColumn)
		}
	}
	copied := g.documentStamp(s, row("timestamp"))
	switch {
	case copied.Wrong != "":
		list.addFault(session.BadTime, "event_data timestamp", copied.Wrong)
	case copied.IsZero():
	default:
		if !s.time.IsZero() && g.timesDiffer(s.time.Time, copied.Time) {
			list.addFault(session.CopiesDiffer, "timestamp", taken)
		}
		s.time.Time = copied.Time
	}
}

// timesDiffer reports whether a column says another time than its copy. Both are
// rounded to a microsecond on the way. P1's column is in the zone of the server that
// wrote it (docs/stores/adk.md#what-is-read), so that it may differ by what zones differ from UTC: quarters of an
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
