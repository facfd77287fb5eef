package springai

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// metadata is what a caller and the library say of an event beside its message.
type metadata map[string]jsontext.Value

// readMetadata reads a metadata column; wrong says what the reader fails on. It
// goes on without then.
func readMetadata(stored any) (m metadata, wrong string) {
	text, _ := textOf(stored)
	if strings.TrimSpace(text) == "" {
		return nil, ""
	}
	err := json.Unmarshal([]byte(text), &m, tolerant)
	switch {
	case err != nil:
		return nil, "it is no JSON object"
	case m == nil:
		return nil, "it is null, on which the reader fails"
	}
	return m, ""
}

// agentKeys are the members in which programs name the agent; the library itself
// names none.
var agentKeys = []string{"agent", "agentName", "agent_name", "author"}

// first is the text of the first of the members that is one, "" when none is.
func (m metadata) first(names ...string) string {
	for _, name := range names {
		if v := m[name]; v.Kind() == jsontext.KindString {
			text, _ := unquoted(v)
			return text
		}
	}
	return ""
}

// metadata reads the event's own.
func (e *event) metadata() metadata {
	m, wrong := readMetadata(e.value("metadata"))
	if wrong != "" {
		e.fault(session.BadMetadata, "metadata", wrong, &defaultMetadata)
	}
	return m
}

// synthetic reads whether a compaction wrote the event. The column and the
// metadata say so. Where only the metadata does, the program takes the event for a
// summary and queries do not (G14): it is no summary here, because a repair moves a
// conversation behind one and takes its branch away.
func (e *event) synthetic(m metadata) bool {
	stored := e.value("synthetic")
	column, ok := truthOf(stored)
	switch {
	case stored == nil && e.events.has("synthetic"):
		e.fault(session.RequiredNull, "synthetic", "Queries that leave summaries out leave the event out, too.", &defaultFlag)
	case !ok && e.events.has("synthetic"):
		e.fault(session.BadMetadata, "synthetic", notTruth, nil)
	}
	_, source := m["compactionSource"]
	copied := m["synthetic"].Kind()
	truth := copied == jsontext.KindTrue || copied == jsontext.KindFalse
	switch {
	case copied == jsontext.KindTrue && !column:
		e.differ("metadata.synthetic is true and the column is not: queries go by the column, the program by the metadata")
	case copied == jsontext.KindFalse && column:
		e.differ("the column is true and metadata.synthetic is false: the reader takes the column")
	case copied != jsontext.KindInvalid && !truth && column:
		e.differ("the column is true and metadata.synthetic neither true nor false: the reader takes the column")
	case copied != jsontext.KindInvalid && !truth:
		e.fault(session.BadMetadata, "metadata", "its member synthetic is neither true nor false, on which the program fails", nil)
	case source && copied == jsontext.KindInvalid && !column:
		e.differ("metadata names a compactionSource, but neither it nor the column says that the event is synthetic: " +
			"the reader takes it for a message of the conversation")
	}
	return column || copied == jsontext.KindTrue && !e.events.has("synthetic")
}

func (e *event) differ(detail string) { e.fault(session.CopiesDiffer, "synthetic", detail, nil) }
