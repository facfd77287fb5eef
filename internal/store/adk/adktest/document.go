package adktest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/store/builder"
)

// object is a JSON object, whose names are adk-python's, or a row.
type (
	object = builder.Object
	member = builder.Member
)

// The spellings of JSON, of which adk-go's has names in camel case.
var (
	asGo    = builder.Style{HTML: true}
	inCamel = builder.Style{HTML: true, Camel: true}
)

// python are actions in an event_data of adk-python: dictionaries are always
// there, everything else only when it is set.
func (a Actions) python() object {
	return object{
		{"skip_summarization", builder.OrNil(a.SkipSummary)}, {"state_delta", delta(a.StateDelta)}, {"artifact_delta", object{}},
		{"transfer_to_agent", a.Transfer}, {"escalate", builder.OrNil(a.Escalate)}, {"requested_auth_configs", object{}},
		{"requested_tool_confirmations", a.confirmations()}, {"compaction", a.Compaction.python()}, {"rewind_before_invocation_id", a.RewindBefore},
	}.Given()
}

func (c *Compaction) python() any {
	if c == nil {
		return nil
	}
	return object{
		{"start_timestamp", seconds(c.From)}, {"end_timestamp", seconds(c.To)},
		{"compacted_content", object{{"parts", builder.List{object{{"text", c.Text}}}}, {"role", "model"}}},
	}
}

// golang are the actions as adk-go 2.2 writes them.
func (a Actions) golang() object {
	return object{
		{"transfer_to_agent", a.Transfer}, {"state_delta", delta(a.StateDelta)}, {"artifact_delta", object{}}, {"escalate", builder.OrNil(a.Escalate)},
		{"skip_summarization", builder.OrNil(a.SkipSummary)}, {"requested_tool_confirmations", a.asked()},
	}.Given()
}

// pascal are the actions as adk-go writes them up to 2.1: all fields, by their names.
func (a Actions) pascal() object {
	return object{
		{"StateDelta", delta(a.StateDelta)}, {"ArtifactDelta", object{}}, {"RequestedToolConfirmations", a.asked()},
		{"SkipSummarization", a.SkipSummary}, {"TransferToAgent", a.Transfer}, {"Escalate", a.Escalate},
	}
}

// asked are the confirmations, nil for none.
func (a Actions) asked() any {
	if len(a.Confirmations) == 0 {
		return nil
	}
	return a.confirmations()
}

// confirmations are what was asked of a person, by the id of the call.
func (a Actions) confirmations() json.RawMessage {
	asked := map[string]any{}
	for _, id := range a.Confirmations {
		asked[id] = map[string]any{"hint": "please confirm", "confirmed": false}
	}
	text, _ := json.Marshal(asked) // texts always have a form
	return text
}

func delta(text JSON) json.RawMessage { return json.RawMessage(cmp.Or(text, "{}")) }

func (j JSON) orNil() any {
	if j == "" {
		return nil
	}
	return json.RawMessage(j)
}

// content is what an event with parts says.
func (e *Event) content() object {
	parts := make(builder.List, len(e.Parts))
	for i, p := range e.Parts {
		switch {
		case p.Call != nil:
			parts[i] = object{{"function_call", object{{"id", p.Call.ID}, {"args", json.RawMessage(p.Call.Args)}, {"name", p.Call.Name}}.Given()}}
		case p.Response != nil:
			parts[i] = object{{"function_response", object{{"id", p.Response.ID}, {"name", p.Response.Name}, {"response", p.Response.Value.orNil()}}.Given()}}
		case p.Thought:
			parts[i] = object{{"text", p.Text}, {"thought", true}}
		default:
			parts[i] = object{{"text", p.Text}}
		}
	}
	return object{{"parts", parts}, {"role", e.role()}}
}

// data is the document that holds a whole event, as adk-python writes it.
func (e *Event) data() object {
	var content, waits, node any
	if len(e.Parts) > 0 {
		content = e.content()
	}
	if len(e.Waits) > 0 {
		waits = e.Waits
	}
	branch := any(e.Branch)
	if strings.HasPrefix(e.Branch, "{") {
		branch = json.RawMessage(e.Branch)
	}
	if e.Node != "" {
		node = object{{"path", e.Node}}
	}
	return slices.Concat(
		object{{"content", content}}.Given(),
		object{{"invocation_id", e.Invocation}, {"author", e.Author}, {"actions", e.Actions.python()}},
		object{{"long_running_tool_ids", waits}, {"branch", branch}, {"node_info", node}, {"isolation_scope", e.Scope}}.Given(),
		object{{"id", e.ID}, {"timestamp", seconds(e.Time)}},
	)
}

// dataJS is the same as adk-js writes it: times are in milliseconds, some members are
// always there, and a summary says itself that it is one.
func (e *Event) dataJS() object {
	summary := e.Actions.Compaction
	if summary != nil {
		e.Author, e.Invocation, e.Role, e.Parts, e.Actions.Compaction = "system", "", "model", []Part{Text(summary.Text)}, nil
	}
	var o object
	for _, m := range e.data() {
		switch m[0] {
		case "timestamp":
			m[1] = e.Time.UnixMilli()
		case "id":
			waits := append([]string{}, e.Waits...)
			o = append(o, member{"long_running_tool_ids", waits})
		case "long_running_tool_ids":
			continue
		}
		o = append(o, m)
	}
	if summary != nil {
		o = append(o, member{"is_compacted", true}, member{"start_time", summary.From.UnixMilli()}, member{"end_time", summary.To.UnixMilli()},
			member{"compacted_content", summary.Text})
	}
	return o
}

// seconds is a time as adk-python has it in documents and in the columns of its
// service for files.
func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
