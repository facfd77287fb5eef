package adktest

import (
	"encoding/json"
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
	o := object{{"skip_summarization", true}, {"state_delta", delta(a.StateDelta)}, {"artifact_delta", object{}}}
	if !a.SkipSummary {
		o = o[1:]
	}
	if a.Transfer != "" {
		o = append(o, member{"transfer_to_agent", a.Transfer})
	}
	if a.Escalate {
		o = append(o, member{"escalate", true})
	}
	o = append(o, member{"requested_auth_configs", object{}}, member{"requested_tool_confirmations", a.confirmations()})
	if c := a.Compaction; c != nil {
		o = append(o, member{"compaction", c.python()})
	}
	if a.RewindBefore != "" {
		o = append(o, member{"rewind_before_invocation_id", a.RewindBefore})
	}
	return o
}

func (c *Compaction) python() object {
	return object{
		{"start_timestamp", seconds(c.From)}, {"end_timestamp", seconds(c.To)},
		{"compacted_content", object{{"parts", builder.List{object{{"text", c.Text}}}}, {"role", "model"}}},
	}
}

// golang are the actions as adk-go 2.2 writes them.
func (a Actions) golang() object {
	var o object
	if a.Transfer != "" {
		o = append(o, member{"transfer_to_agent", a.Transfer})
	}
	o = append(o, member{"state_delta", delta(a.StateDelta)}, member{"artifact_delta", object{}})
	if a.Escalate {
		o = append(o, member{"escalate", true})
	}
	if a.SkipSummary {
		o = append(o, member{"skip_summarization", true})
	}
	if len(a.Confirmations) > 0 {
		o = append(o, member{"requested_tool_confirmations", a.confirmations()})
	}
	return o
}

// pascal are the actions as adk-go writes them up to 2.1: all fields, by their names.
func (a Actions) pascal() object {
	confirmations := json.RawMessage("null")
	if len(a.Confirmations) > 0 {
		confirmations = a.confirmations()
	}
	return object{
		{"StateDelta", delta(a.StateDelta)}, {"ArtifactDelta", object{}}, {"RequestedToolConfirmations", confirmations},
		{"SkipSummarization", a.SkipSummary}, {"TransferToAgent", a.Transfer}, {"Escalate", a.Escalate},
	}
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

func delta(text JSON) json.RawMessage {
	if text == "" {
		text = "{}"
	}
	return json.RawMessage(text)
}

// content is what an event with parts says.
func (e *Event) content() object {
	parts := make(builder.List, len(e.Parts))
	for i, p := range e.Parts {
		switch {
		case p.Call != nil:
			o := object{{"id", p.Call.ID}, {"args", json.RawMessage(p.Call.Args)}, {"name", p.Call.Name}}
			parts[i] = object{{"function_call", o.Given()}}
		case p.Response != nil:
			o := object{{"id", p.Response.ID}, {"name", p.Response.Name}}
			if p.Response.Value != "" {
				o = append(o, member{"response", json.RawMessage(p.Response.Value)})
			}
			parts[i] = object{{"function_response", o.Given()}}
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
	var o object
	if len(e.Parts) > 0 {
		o = append(o, member{"content", e.content()})
	}
	o = append(o, member{"invocation_id", e.Invocation}, member{"author", e.Author}, member{"actions", e.Actions.python()})
	if len(e.Waits) > 0 {
		o = append(o, member{"long_running_tool_ids", e.Waits})
	}
	switch {
	case strings.HasPrefix(e.Branch, "{"):
		o = append(o, member{"branch", json.RawMessage(e.Branch)})
	case e.Branch != "":
		o = append(o, member{"branch", e.Branch})
	}
	if e.Node != "" {
		o = append(o, member{"node_info", object{{"path", e.Node}}})
	}
	if e.Scope != "" {
		o = append(o, member{"isolation_scope", e.Scope})
	}
	return append(o, member{"id", e.ID}, member{"timestamp", seconds(e.Time)})
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
