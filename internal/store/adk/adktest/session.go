package adktest

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/store/adk/pickle"
	"github.com/sessctl/sessctl/internal/store/builder"
)

// Session is a conversation, as every generation can tell it.
type Session struct {
	App, User string // "app" and "u" when empty
	ID        string
	State     JSON    // "{}" when empty
	Events    []Event // in the order in which they are written
}

// Event is an event of a session.
type Event struct {
	ID         string // one is made up when it is empty
	Author     string
	Invocation string
	Branch     string // a path, or JSON as google/adk-python#3889 stores it
	Scope      string // isolation scope
	Node       string // the path of its node, "" without one
	Role       string // "" for the one that its parts and its author ask for
	Parts      []Part // none at all for an event without content
	Actions    Actions
	Waits      []string  // ids of its long-running calls
	Time       time.Time // a millisecond after the one before when zero; its zone is the writer's
}

// Part is a part of an event's content: one of the three.
type Part struct {
	Text     string
	Thought  bool
	Call     *Call
	Response *Response
}

// Call is a function call.
type Call struct {
	ID, Name string
	Args     JSON
}

// Response is a function response.
type Response struct {
	ID, Name string
	Value    JSON // "" for none
}

// JSON is a JSON text.
type JSON string

// UnmarshalJSON takes any value as it stands.
func (j *JSON) UnmarshalJSON(text []byte) error {
	*j = JSON(text)
	return nil
}

// Actions are what an event did besides.
type Actions struct {
	StateDelta    JSON   // "" for none
	Transfer      string // to which agent
	Escalate      bool
	SkipSummary   bool
	Confirmations []string // the calls for which a confirmation was asked
	Compaction    *Compaction
	RewindBefore  string // an invocation id
}

// Compaction is a summary that stands for the events of a span, both ends included.
type Compaction struct {
	From, To time.Time
	Text     string
}

// Text is a part that says something.
func Text(text string) Part { return Part{Text: text} }

// Calls is a part that calls a function.
func Calls(id, name, args string) Part { return Part{Call: &Call{id, name, JSON(args)}} }

// Answers is a part that answers a call.
func Answers(id, name, value string) Part { return Part{Response: &Response{id, name, JSON(value)}} }

func (e *Event) contentRole() string {
	if e.Role != "" {
		return e.Role
	}
	if e.Author == "user" || e.hasResponses() {
		return "user"
	}
	return "model"
}

func (e *Event) hasResponses() bool {
	return slices.ContainsFunc(e.Parts, func(p Part) bool { return p.Response != nil })
}

// eventRow is an event as the generation stores it; columns that are not named are NULL.
func (g Generation) eventRow(s Session, e *Event) (object, error) {
	row := object{
		{"id", e.ID}, {"app_name", s.App}, {"user_id", s.User}, {"session_id", s.ID},
		{"invocation_id", e.Invocation}, {"timestamp", g.formatTime(e.Time)},
	}
	if g.inJSON() {
		data := e.eventData()
		switch g {
		case J1:
			data = e.dataJS()
		case K1:
			return append(row, member{"event_data", inCamel.Text(e.dataKotlin())}), nil
		}
		return append(row, member{"event_data", asGo.Text(data)}), nil
	}
	actions, err := g.encodeActions(e.Actions)
	row = append(row, member{"author", e.Author}, member{"branch", builder.OrNil(e.Branch)}, member{"content", g.contentText(e)}, member{"actions", actions})
	if g != P0First {
		row = append(row, member{"long_running_tool_ids_json", waitsText(e)})
	}
	if g.isGo() {
		row = append(row, member{"partial", 0}, member{"turn_complete", turnComplete(e)}, member{"interrupted", 0})
	}
	if g == G2 {
		row = append(row, member{"isolation_scope", builder.OrNil(e.Scope)}, member{"node_info_json", nodeInfo(e)})
	}
	return row, err
}

func (g Generation) contentText(e *Event) any {
	if len(e.Parts) == 0 {
		return nil
	}
	if g.isGo() {
		return inCamel.Text(e.contentObject())
	}
	return asGo.Text(e.contentObject())
}

func (g Generation) encodeActions(a Actions) ([]byte, error) {
	switch g {
	case G1:
		return []byte(asGo.Text(a.pascalObject())), nil
	case G2:
		return []byte(inCamel.Text(a.golangObject())), nil
	}
	return a.pickleActions()
}

func waitsText(e *Event) any {
	if len(e.Waits) == 0 {
		return nil
	}
	text, _ := json.Marshal(e.Waits) // texts always have a form
	return string(text)
}

func nodeInfo(e *Event) any {
	if e.Node == "" {
		return nil
	}
	return inCamel.Text(object{{"path", e.Node}})
}

// turnComplete is true of what a model said, calls included.
func turnComplete(e *Event) int {
	if e.contentRole() == "model" {
		return 1
	}
	return 0
}

// formatTime formats a time as the generation stores it in a column.
func (g Generation) formatTime(t time.Time) any {
	switch {
	case g == PS:
		return unixSeconds(t)
	case g == J1 || g == K1:
		return t.UnixMilli()
	case g.isGo():
		return t.Format("2006-01-02 15:04:05.999999-07:00")
	}
	return t.Format("2006-01-02 15:04:05.000000") // of the zone in which the service runs
}

// pickleActions are actions as adk-python's first schema stores them: a pickle of a
// pydantic object, with the fields that adk-python 1.4 has, and those of later
// versions only where they are set.
func (a Actions) pickleActions() ([]byte, error) {
	fields, set := &pickle.Dict{}, &pickle.Set{}
	field := func(name string, value any, isSet bool) {
		fields.Pairs = append(fields.Pairs, [2]any{name, value})
		if isSet {
			set.Items = append(set.Items, name)
		}
	}
	field("skip_summarization", builder.OrNil(a.SkipSummary), a.SkipSummary)
	field("state_delta", pythonFromJSON(deltaJSON(a.StateDelta)), a.StateDelta != "")
	field("artifact_delta", &pickle.Dict{}, false)
	field("transfer_to_agent", builder.OrNil(a.Transfer), a.Transfer != "")
	field("escalate", builder.OrNil(a.Escalate), a.Escalate)
	field("requested_auth_configs", &pickle.Dict{}, false)
	if len(a.Confirmations) > 0 {
		field("requested_tool_confirmations", pythonFromJSON(a.confirmationsJSON()), true)
	}
	if a.Compaction != nil {
		field("compaction", pythonFromJSON([]byte(asGo.Text(a.Compaction.pythonObject()))), true)
	}
	if a.RewindBefore != "" {
		field("rewind_before_invocation_id", a.RewindBefore, true)
	}
	return pickle.Encode(&pickle.Object{
		Class: pickle.Class{Module: "google.adk.events.event_actions", Name: "EventActions"}, Args: pickle.Tuple{},
		State: &pickle.Dict{Pairs: [][2]any{
			{"__dict__", fields}, {"__pydantic_extra__", nil}, {"__pydantic_fields_set__", set}, {"__pydantic_private__", nil},
		}},
	})
}

// pythonFromJSON is a JSON text as Python has it.
func pythonFromJSON(text []byte) any {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		panic("a described session holds text that is not JSON: " + err.Error())
	}
	return pythonValue(value)
}

// pythonValue has integers for whole numbers, and members in the order of their
// names.
func pythonValue(value any) any {
	switch v := value.(type) {
	case float64:
		if v == math.Trunc(v) {
			return int64(v)
		}
	case []any:
		list := &pickle.List{}
		for _, item := range v {
			list.Items = append(list.Items, pythonValue(item))
		}
		return list
	case map[string]any:
		dict := &pickle.Dict{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			dict.Pairs = append(dict.Pairs, [2]any{name, pythonValue(v[name])})
		}
		return dict
	}
	return value
}

//go:embed scripts.json
var scripts []byte

// Scripts are the sessions of scripts.json, which people meet; the member about says
// what each is, and turn is the invocation of an event. Not every generation can store
// every one of them: see Generation.Lacks.
func Scripts() []Session {
	var list []Session
	for _, s := range builder.FromJSON[[]struct {
		Session
		Events []struct {
			Event
			Turn int
		}
	}](scripts) {
		for _, e := range s.Events {
			if e.Turn > 0 {
				e.Invocation = invocationID(e.Turn)
			}
			s.Session.Events = append(s.Session.Events, e.Event)
		}
		list = append(list, s.Session)
	}
	return list
}

// Script is the script with an id. There must be one.
func Script(id string) Session {
	list := Scripts()
	return list[slices.IndexFunc(list, func(s Session) bool { return s.ID == id })]
}

// For are those of the sessions that the generation can store.
func (g Generation) For(sessions []Session) []Session {
	return slices.DeleteFunc(slices.Clone(sessions), func(s Session) bool { return g.Lacks(s) != "" })
}

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

// pythonObject are actions in an event_data of adk-python: dictionaries are always
// there, everything else only when it is set.
func (a Actions) pythonObject() object {
	return object{
		{"skip_summarization", builder.OrNil(a.SkipSummary)}, {"state_delta", deltaJSON(a.StateDelta)}, {"artifact_delta", object{}},
		{"transfer_to_agent", a.Transfer}, {"escalate", builder.OrNil(a.Escalate)}, {"requested_auth_configs", object{}},
		{"requested_tool_confirmations", a.confirmationsJSON()}, {"compaction", a.Compaction.pythonObject()}, {"rewind_before_invocation_id", a.RewindBefore},
	}.WithoutEmpty()
}

func (c *Compaction) pythonObject() any {
	if c == nil {
		return nil
	}
	return object{
		{"start_timestamp", unixSeconds(c.From)}, {"end_timestamp", unixSeconds(c.To)},
		{"compacted_content", object{{"parts", builder.List{object{{"text", c.Text}}}}, {"role", "model"}}},
	}
}

// golangObject are the actions as adk-go 2.2 writes them.
func (a Actions) golangObject() object {
	return object{
		{"transfer_to_agent", a.Transfer}, {"state_delta", deltaJSON(a.StateDelta)}, {"artifact_delta", object{}}, {"escalate", builder.OrNil(a.Escalate)},
		{"skip_summarization", builder.OrNil(a.SkipSummary)}, {"requested_tool_confirmations", a.askedOrNil()},
	}.WithoutEmpty()
}

// pascalObject are the actions as adk-go writes them up to 2.1: all fields, by their names.
func (a Actions) pascalObject() object {
	return object{
		{"StateDelta", deltaJSON(a.StateDelta)}, {"ArtifactDelta", object{}}, {"RequestedToolConfirmations", a.askedOrNil()},
		{"SkipSummarization", a.SkipSummary}, {"TransferToAgent", a.Transfer}, {"Escalate", a.Escalate},
	}
}

// askedOrNil are the confirmations, nil for none.
func (a Actions) askedOrNil() any {
	if len(a.Confirmations) == 0 {
		return nil
	}
	return a.confirmationsJSON()
}

// confirmationsJSON are what was asked of a person, by the id of the call.
func (a Actions) confirmationsJSON() json.RawMessage {
	asked := map[string]any{}
	for _, id := range a.Confirmations {
		asked[id] = map[string]any{"hint": "please confirm", "confirmed": false}
	}
	text, _ := json.Marshal(asked) // texts always have a form
	return text
}

func deltaJSON(text JSON) json.RawMessage { return json.RawMessage(cmp.Or(text, "{}")) }

func (j JSON) orNil() any {
	if j == "" {
		return nil
	}
	return json.RawMessage(j)
}

// contentObject is what an event with parts says.
func (e *Event) contentObject() object {
	parts := make(builder.List, len(e.Parts))
	for i, p := range e.Parts {
		switch {
		case p.Call != nil:
			parts[i] = object{{"function_call", object{{"id", p.Call.ID}, {"args", json.RawMessage(p.Call.Args)}, {"name", p.Call.Name}}.WithoutEmpty()}}
		case p.Response != nil:
			parts[i] = object{{"function_response", object{{"id", p.Response.ID}, {"name", p.Response.Name}, {"response", p.Response.Value.orNil()}}.WithoutEmpty()}}
		case p.Thought:
			parts[i] = object{{"text", p.Text}, {"thought", true}}
		default:
			parts[i] = object{{"text", p.Text}}
		}
	}
	return object{{"parts", parts}, {"role", e.contentRole()}}
}

// eventData is the document that holds a whole event, as adk-python writes it.
func (e *Event) eventData() object {
	var content, waits, node any
	if len(e.Parts) > 0 {
		content = e.contentObject()
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
		object{{"content", content}}.WithoutEmpty(),
		object{{"invocation_id", e.Invocation}, {"author", e.Author}, {"actions", e.Actions.pythonObject()}},
		object{{"long_running_tool_ids", waits}, {"branch", branch}, {"node_info", node}, {"isolation_scope", e.Scope}}.WithoutEmpty(),
		object{{"id", e.ID}, {"timestamp", unixSeconds(e.Time)}},
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
	for _, m := range e.eventData() {
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

// dataKotlin is the same as adk-kotlin writes it, which leaves out what says nothing.
func (e *Event) dataKotlin() object {
	var actions any
	if a := e.Actions; a.StateDelta != "" || a.Transfer != "" || len(a.Confirmations) > 0 || a.Compaction != nil || a.RewindBefore != "" {
		var summary any
		if c := a.Compaction; c != nil {
			summary = object{{"start_timestamp", c.From.UnixMilli()}, {"end_timestamp", c.To.UnixMilli()}, {"compacted_content", c.pythonObject().(object)[2][1]}}
		}
		actions = object{
			{"state_delta", a.StateDelta.orNil()}, {"transfer_to_agent", a.Transfer}, {"requested_tool_confirmations", a.askedOrNil()},
			{"compaction", summary}, {"rewind_before_invocation_id", a.RewindBefore},
		}.WithoutEmpty()
	}
	var o object
	for _, m := range e.eventData() {
		switch m[0] {
		case "timestamp":
			m[1] = e.Time.UnixMilli()
		case "actions":
			m[1] = actions
		}
		if m[1] != nil {
			o = append(o, m)
		}
	}
	return o
}

// unixSeconds is a time as adk-python has it in documents and in the columns of its
// service for files.
func unixSeconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
