package adk

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/adk/pickle"
	"github.com/sessctl/sessctl/internal/store/column"
)

// pickled is the first byte of a pickle of protocol 2 or later (docs/stores/adk.md#what-is-read).
const pickled = 0x80

// readActions reads the column actions: a pickle in P0, JSON in adk-go's tables.
// Either reader fails on the other's form.
func (g generation) readActions(row columns, s *stored, list *faults) {
	data := column.Bytes(row("actions"))
	isPickle := len(data) > 0 && data[0] == pickled
	switch {
	case data == nil && g == p0:
		list.addFault(session.RequiredNull, "actions", "The session cannot be loaded.")
	case g == p0 && !isPickle:
		s.broken = true
		list.addUndecodable("actions", "it is not a pickle, which adk-python expects there", jsonedit.IsWhole(data))
	case isPickle && g != p0:
		s.broken = true
		_, err := pickle.Decode(data)
		list.addUndecodable("actions", "it is a pickle of adk-python, and adk-go expects JSON there", err == nil)
	case isPickle:
		s.Actions = pickledActions(data)
	case len(data) > 0:
		if _, err := g.decodeMembers(row, "actions", columnTypes[false]["actions"], data, &s.Actions, list); err != nil {
			s.broken = true
			list.addUndecodable("actions", explainError(err), jsonedit.IsWhole(data))
		}
	}
}

// pickledActions reads what is of use here of pickled actions, without executing
// any of them (docs/stores/adk.md#what-is-read). A pickle that is more than data stays opaque: it can be sound
// and merely hold objects that nobody foresaw, so that it is no defect.
func pickledActions(data []byte) (a actions) {
	value, err := pickle.Decode(data)
	if err != nil {
		return a
	}
	a.RewindBeforeInvocationID, _ = pickle.Field(value, "rewind_before_invocation_id").(string)
	a.RequestedToolConfirmations = pickledKeys(pickle.Field(value, "requested_tool_confirmations"))
	a.RequestedAuthConfigs = pickledKeys(pickle.Field(value, "requested_auth_configs"))
	// An EventCompaction, or a dictionary of its fields (#3633).
	if c := pickle.Field(value, "compaction"); c != nil {
		a.Compaction = &compaction{
			StartTimestamp: pickledTime(pickle.Field(c, "start_timestamp")), EndTimestamp: pickledTime(pickle.Field(c, "end_timestamp")),
			CompactedContent: pickledContent(pickle.Field(c, "compacted_content")),
		}
	}
	return a
}

func pickledKeys(value any) map[string]jsontext.Value {
	d, ok := value.(*pickle.Dict)
	if !ok {
		return nil
	}
	keys := make(map[string]jsontext.Value, len(d.Pairs))
	for _, pair := range d.Pairs {
		if key, ok := pair[0].(string); ok {
			keys[key] = nil
		}
	}
	return keys
}

// pickledTime is a number as a JSON document has it, nil for anything else.
func pickledTime(value any) jsontext.Value {
	switch value.(type) {
	case int64, float64:
		text, err := json.Marshal(value)
		if err != nil { // no number, or an infinite one
			return jsontext.Value(`"unreadable"`)
		}
		return text
	}
	return nil
}

// pickledContent has the texts of a content, which is all that a summary says.
func pickledContent(value any) content {
	var c content
	c.Role, _ = pickle.Field(value, "role").(string)
	for _, item := range pickle.Items(pickle.Field(value, "parts")) {
		if text, ok := pickle.Field(item, "text").(string); ok {
			c.Parts = append(c.Parts, messagePart{Text: &text})
		}
	}
	return c
}
