package adktest

import (
	_ "embed"
	"encoding/json"
	"maps"
	"math"
	"slices"
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

func (e *Event) role() string {
	if e.Role != "" {
		return e.Role
	}
	if e.Author == "user" || e.answers() {
		return "user"
	}
	return "model"
}

func (e *Event) answers() bool {
	return slices.ContainsFunc(e.Parts, func(p Part) bool { return p.Response != nil })
}

// row is an event as the generation stores it; columns that are not named are NULL.
func (g Generation) row(s Session, e *Event) (object, error) {
	row := object{
		{"id", e.ID}, {"app_name", s.App}, {"user_id", s.User}, {"session_id", s.ID},
		{"invocation_id", e.Invocation}, {"timestamp", g.stamp(e.Time)},
	}
	if g.inJSON() {
		data := e.data()
		if g == J1 {
			data = e.dataJS()
		}
		return append(row, member{"event_data", asGo.Text(data)}), nil
	}
	actions, err := g.actions(e.Actions)
	row = append(row, member{"author", e.Author}, member{"branch", builder.OrNil(e.Branch)}, member{"content", g.content(e)}, member{"actions", actions})
	if g != P0First {
		row = append(row, member{"long_running_tool_ids_json", waits(e)})
	}
	if g.isGo() {
		row = append(row, member{"partial", 0}, member{"turn_complete", turnComplete(e)}, member{"interrupted", 0})
	}
	if g == G2 {
		row = append(row, member{"isolation_scope", builder.OrNil(e.Scope)}, member{"node_info_json", nodeInfo(e)})
	}
	return row, err
}

func (g Generation) content(e *Event) any {
	if len(e.Parts) == 0 {
		return nil
	}
	if g.isGo() {
		return inCamel.Text(e.content())
	}
	return asGo.Text(e.content())
}

func (g Generation) actions(a Actions) ([]byte, error) {
	switch g {
	case G1:
		return []byte(asGo.Text(a.pascal())), nil
	case G2:
		return []byte(inCamel.Text(a.golang())), nil
	}
	return a.pickled()
}

func waits(e *Event) any {
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
	if e.role() == "model" {
		return 1
	}
	return 0
}

// stamp is a time as the generation stores it in a column.
func (g Generation) stamp(t time.Time) any {
	switch {
	case g == PS:
		return seconds(t)
	case g == J1:
		return t.UnixMilli()
	case g.isGo():
		return t.Format("2006-01-02 15:04:05.999999-07:00")
	}
	return t.Format("2006-01-02 15:04:05.000000") // of the zone in which the service runs
}

// pickled are actions as adk-python's first schema stores them: a pickle of a
// pydantic object, with the fields that adk-python 1.4 has, and those of later
// versions only where they are set.
func (a Actions) pickled() ([]byte, error) {
	fields, set := &pickle.Dict{}, &pickle.Set{}
	field := func(name string, value any, isSet bool) {
		fields.Pairs = append(fields.Pairs, [2]any{name, value})
		if isSet {
			set.Items = append(set.Items, name)
		}
	}
	field("skip_summarization", builder.OrNil(a.SkipSummary), a.SkipSummary)
	field("state_delta", python(delta(a.StateDelta)), a.StateDelta != "")
	field("artifact_delta", &pickle.Dict{}, false)
	field("transfer_to_agent", builder.OrNil(a.Transfer), a.Transfer != "")
	field("escalate", builder.OrNil(a.Escalate), a.Escalate)
	field("requested_auth_configs", &pickle.Dict{}, false)
	if len(a.Confirmations) > 0 {
		field("requested_tool_confirmations", python(a.confirmations()), true)
	}
	if a.Compaction != nil {
		field("compaction", python([]byte(asGo.Text(a.Compaction.python()))), true)
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

// python is a JSON text as Python has it.
func python(text []byte) any {
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
	var told []struct {
		Session
		Events []struct {
			Event
			Turn int
		}
	}
	if err := json.Unmarshal(scripts, &told); err != nil {
		panic("scripts.json: " + err.Error())
	}
	list := make([]Session, len(told))
	for i, s := range told {
		list[i] = s.Session
		for _, e := range s.Events {
			if e.Turn > 0 {
				e.Invocation = invocation(e.Turn)
			}
			list[i].Events = append(list[i].Events, e.Event)
		}
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
