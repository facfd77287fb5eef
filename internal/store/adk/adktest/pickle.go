package adktest

import (
	"encoding/json"
	"maps"
	"math"
	"slices"

	"github.com/sessctl/sessctl/internal/store/adk/pickle"
)

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
	field("skip_summarization", orNil(a.SkipSummary), a.SkipSummary)
	field("state_delta", python(delta(a.StateDelta)), a.StateDelta != "")
	field("artifact_delta", &pickle.Dict{}, false)
	field("transfer_to_agent", orNil(a.Transfer), a.Transfer != "")
	field("escalate", orNil(a.Escalate), a.Escalate)
	field("requested_auth_configs", &pickle.Dict{}, false)
	if len(a.Confirmations) > 0 {
		field("requested_tool_confirmations", python(a.confirmations()), true)
	}
	if a.Compaction != nil {
		field("compaction", python([]byte(document(a.Compaction.python(), false))), true)
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

func orNil[T comparable](value T) any {
	var zero T
	if value == zero {
		return nil
	}
	return value
}

// python is a JSON text as Python has it.
func python(text []byte) any {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		panic("a described session holds what is no JSON: " + err.Error())
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
