package adk

import (
	"bytes"
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/store/table"
)

// segmentsSince is when adk-python 1.19.0 was released, the first version of which it
// is known that its reader compares labels by segments (3.2), and the first with
// SqliteSessionService. What is older in the tables of P1 or PS, `adk migrate` took over.
var segmentsSince = time.Date(2025, 11, 19, 0, 0, 0, 0, time.UTC)

// comparesSegments tells from the columns of the table, and from an event of it, whether
// a version wrote the event whose reader compares labels by segments; where nothing
// shows it, it is false.
func (g generation) comparesSegments(s table.Schema) func(row columns, written time.Time) bool {
	events := s.Columns(tableEvents)
	switch {
	case g == j1:
		return func(columns, time.Time) bool { return false }
	case g.document(), g == p0 && slices.Contains(events, "input_transcription"): // a column of 1.19
		return func(_ columns, written time.Time) bool { return !written.Before(segmentsSince) }
	case g == p0:
		return func(columns, time.Time) bool { return false }
	}
	// What version 2 adds to a table of version 1 stands behind all the others.
	workflow := slices.Index(events, "node_info_json")
	made := workflow >= 0 && workflow < slices.Index(events, "content")
	return func(row columns, _ time.Time) bool { return made || newerActions(bytesOf(row("actions"))) }
}

// newerActions reports whether no version of adk-go before 0.4 wrote the actions. The
// rows of v0.1, which compared texts, to v0.3 are alike; from v0.4 on they name the
// confirmations, and from v2.2 on the keys are in camel case.
func newerActions(data []byte) bool {
	return bytes.Contains(data, []byte(`"RequestedToolConfirmations"`)) || keyCase(data) == lowerCase
}
