package adk

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/adk/members"
	"github.com/sessctl/sessctl/internal/store/column"
)

// columnTypes are the columns that readers decode, by their types in the table of members:
// those of adk-python's schema v0 (schemas/v0.py, to_event), and those of adk-go
// (storage_session.go, createEventFromStorageEvent).
var columnTypes = map[bool]map[string]string{
	true: {
		"content": "Content", "grounding_metadata": "GroundingMetadata", "custom_metadata": "{any}", "usage_metadata": "UsageMetadata",
		"citation_metadata": "CitationMetadata", "input_transcription": "Transcription", "output_transcription": "Transcription",
		"long_running_tool_ids_json": "[text]!",
	},
	false: {
		"content": "Content", "grounding_metadata": "GroundingMetadata", "custom_metadata": "{any}", "usage_metadata": "UsageMetadata",
		"citation_metadata": "CitationMetadata", "long_running_tool_ids_json": "[text]", "routes_json": "[text]", "output_json": "any",
		"node_info_json": "NodeInfo", "requested_input_json": "RequestInput", "actions": "GoActions",
	},
}

// passedOver are the columns in whose place newer releases of adk-python read nothing where
// they hold no object.
const passedOver = "; releases with the fix of google/adk-python#6348 (July 2026) read nothing in its place"

// decodeMembers decodes what a column holds, as its reader takes it, and notes what that does
// not take: then the event is read as it is when these values are mended. It returns the text
// that was read.
func (g generation) decodeMembers(row columns, name, kind string, data []byte, into any, list *faults) ([]byte, error) {
	reader, who := members.Go, "adk-go"
	switch {
	case g.isPython():
		reader, who = members.Python, "adk-python"
	case g == k1:
		reader, who = members.Kotlin, "adk-kotlin"
	}
	var wrong []members.Wrong
	if g != j1 { // which takes what it finds
		wrong = members.Check(reader, kind, data)
	}
	wrong = g.adjustMembers(row, name, data, wrong)
	mended := data
	if len(wrong) > 0 {
		var err error
		if mended, err = members.Mend(data, wrong); err != nil {
			mended = data
		}
		if wrong[0].Pointer == "" {
			mended, into = nil, nil // nothing is left of it
		}
	}
	if into != nil {
		err := g.decodeJSON(mended, into)
		if err != nil && g == j1 {
			mended, err = g.decodeLoosely(name, data, into, list)
		}
		if err != nil {
			return data, err
		}
	}
	for i := range wrong {
		w := &wrong[i]
		if w.Loose {
			continue
		}
		f := session.Fault{Kind: session.Undecodable, Field: name + string(w.Pointer), Unloads: true, Loses: w.Loses, Default: new(string(w.Fix))}
		f.Detail = "it holds " + w.Holds + ", and " + who + " expects " + w.Expects
		switch {
		case w.Holds == "":
			f.Detail = "it is missing, and " + who + " expects " + w.Expects
		case w.Pointer == "":
			*f.Default = "" // NULL
			if g == p0 && w.Expects == "an object" && name != "custom_metadata" {
				f.Detail += passedOver
			}
		}
		*list = append(*list, f)
	}
	return mended, nil
}

// decodeLoosely decodes what adk-js loads and did not write, without the values whose types
// sessctl cannot read: adk-js decodes nothing, and fails to build a request only where it needs a
// list of parts, or the id of a call as a text (tried with adk-js 2.0.0, which goes through a text
// as through a list).
func (g generation) decodeLoosely(name string, data []byte, into any, list *faults) ([]byte, error) {
	const most = 100
	for range most {
		err := g.decodeJSON(data, into)
		wrong, ok := errors.AsType[*json.SemanticError](err)
		if !ok {
			return data, err
		}
		at := string(wrong.JSONPointer)
		call := strings.HasSuffix(at, "/function_call/id") || strings.HasSuffix(at, "/functionCall/id")
		rest, failed := jsonedit.SetValue(data, at, nil)
		if call || failed != nil || at == "/content/parts" && wrong.JSONKind != jsontext.KindString {
			return data, err
		}
		data = rest
		list.addFault(session.UnknownPart, name+at, name+at+" is not of the type that adk-js writes: it loads the event as it is, and sessctl reads the rest")
	}
	return data, g.decodeJSON(data, into)
}

// adjustMembers changes what the table says where a reader takes a value from a column.
func (g generation) adjustMembers(row columns, name string, data []byte, list []members.Wrong) []members.Wrong {
	kept := list[:0]
	for _, w := range list {
		member := strings.TrimPrefix(string(w.Pointer), "/")
		switch {
		case g == p1 && (member == "id" || member == "invocation_id"): // which are those of the columns
			w.Loose, w.Fix = true, jsontext.Value("null")
		case g == p1 && member == "timestamp":
			continue
		case g == ps && member == "timestamp":
			w.Fix = stampIn(row("timestamp"), w.Fix)
		case g == p0 && name == "long_running_tool_ids_json" && w.Pointer == "" && (data[0] == '"' || data[0] == '{'):
			w.Loose, w.Fix = true, jsontext.Value("null") // its characters, or its names
		}
		kept = append(kept, w)
	}
	return kept
}

// stampIn is the number that a column has for a time, else a value.
func stampIn(stored any, value jsontext.Value) jsontext.Value {
	if text := jsontext.Value(column.Text(stored)); text.Kind() == jsontext.KindNumber && text.IsValid() {
		return text
	}
	return value
}
