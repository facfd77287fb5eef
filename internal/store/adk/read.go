package adk

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/session"
)

// columns gives the value of a column of an event: nil for NULL and for a column
// that its table does not have. Older tables lack many (1.1).
type columns func(column string) any

// faults are the defects of one record.
type faults []session.Fault

func (f *faults) add(kind session.FaultKind, field, detail string) {
	*f = append(*f, session.Fault{Kind: kind, Field: field, Detail: detail})
}

// unknown notes what does not decode; whole says that it is not damaged.
func (f *faults) unknown(field, detail string, whole bool) {
	*f = append(*f, session.Fault{Kind: session.Undecodable, Field: field, Detail: detail, Whole: whole})
}

// stored is an event as it is stored.
type stored struct {
	event
	time    stamp
	raw     []byte // the document, or the content; it dies with the row
	dialect string // what another writer does so: see dialect.go
	broken  bool   // it does not decode
}

// read takes an event out of its row.
func (g generation) read(row columns) (s stored, list faults) {
	s.time = stampOf(row("timestamp"), g.unitOf(row("timestamp")))
	if row("timestamp") == nil {
		list.add(session.RequiredNull, "timestamp", "The event has no place in its session.")
	}
	if s.time.bad != "" {
		list.add(session.BadTime, "timestamp", s.time.bad)
	}
	s.dialect = g.dialectOf(row, s.time)
	if g.document() {
		g.readDocument(row, &s, &list)
	} else {
		g.readColumns(row, &s, &list)
	}
	if s.Branch.wrong {
		list.unknown("branch", wrongBranch, true)
	}
	return s, list
}

const wrongBranch = `it is neither a text nor {"tokens":[…]} nor {"active_forks":{…}}`

func (g generation) readDocument(row columns, s *stored, list *faults) {
	s.InvocationID = textOf(row("invocation_id"))
	s.raw = bytesOf(row("event_data"))
	if s.raw == nil {
		s.broken = true
		list.add(session.RequiredNull, "event_data", "The session cannot be loaded, and nothing else has what the event says.")
		return
	}
	var document event
	if err := g.decode(s.raw, &document); err != nil {
		s.broken = true
		list.unknown("event_data", explain(err), jsonedit.Whole(s.raw))
		return
	}
	s.event = document
	if g == j1 && string(s.IsCompacted) == "true" {
		s.Actions.Compaction = s.compaction()
	}
	g.compare(row, s, list)
}

// jsonColumns are the columns of an event that hold JSON, with what is read of it.
var jsonColumns = []struct {
	name string
	into func(e *event) any
}{
	{"content", func(e *event) any { return &e.Content }},
	{"long_running_tool_ids_json", func(e *event) any { return &e.LongRunningToolIDs }},
	{"node_info_json", func(e *event) any { return &e.NodeInfo }},
	{"input_transcription", func(e *event) any { return &e.InputTranscription }},
	{"output_transcription", func(e *event) any { return &e.OutputTranscription }},
}

// metadataColumns are columns with JSON that says nothing about a conversation, and
// that the reader decodes nevertheless.
var metadataColumns = []string{
	"grounding_metadata", "custom_metadata", "usage_metadata", "citation_metadata", "routes_json", "output_json", "requested_input_json",
}

// readColumns reads each column on its own, so that what is wrong with one leaves
// the others.
func (g generation) readColumns(row columns, s *stored, list *faults) {
	s.ID, s.InvocationID, s.Author = textOf(row("id")), textOf(row("invocation_id")), textOf(row("author"))
	s.Branch, s.IsolationScope = columnLabel(textOf(row("branch"))), textOf(row("isolation_scope"))
	partial, _ := row("partial").(int64)
	s.Partial, s.raw = partial != 0, bytesOf(row("content"))
	for _, c := range jsonColumns {
		if data := bytesOf(row(c.name)); len(data) > 0 {
			if err := g.decode(data, c.into(&s.event)); err != nil {
				s.broken = true
				list.unknown(c.name, explain(err), jsonedit.Whole(data))
			}
		}
	}
	for _, name := range metadataColumns {
		if data := bytesOf(row(name)); len(data) > 0 && !jsontext.Value(data).IsValid(goJSON) {
			null := "null" // which both readers take for nothing
			*list = append(*list, session.Fault{
				Kind: session.BadMetadata, Field: name, Detail: "it is no JSON, so that the session fails to load", Default: &null,
			})
		}
	}
	g.readActions(row, s, list)
}

// columnLabel is the branch in a column of its own. How a store of #3889 fills the
// column of P0 is not known (8): its text is taken for the form that it has.
func columnLabel(text string) label {
	if l := labelOf(jsontext.Value(text)); !l.wrong {
		return l
	}
	return label{text: text}
}
