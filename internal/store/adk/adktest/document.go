package adktest

import (
	"encoding/json"
	"strings"
	"time"
)

// object is a JSON object whose members keep their order; the names are adk-python's.
type object []member

type member struct {
	name  string
	value any // string, bool, float64, []string, object, []object or json.RawMessage
}

// document is the JSON text of an object, with names in camel case for adk-go.
func document(o object, camel bool) string { return string(appendJSON(nil, o, camel)) }

func appendJSON(b []byte, value any, camel bool) []byte {
	switch v := value.(type) {
	case []object:
		b = append(b, '[')
		for i, o := range v {
			b = appendJSON(comma(b, i), o, camel)
		}
		return append(b, ']')
	case object:
		b = append(b, '{')
		for i, m := range v {
			name := m.name
			if camel {
				name = inCamel(name)
			}
			b = append(appendJSON(comma(b, i), name, camel), ':')
			b = appendJSON(b, m.value, camel)
		}
		return append(b, '}')
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic("a described session holds what is no JSON: " + err.Error())
	}
	return append(b, text...)
}

func comma(b []byte, before int) []byte {
	if before > 0 {
		b = append(b, ',')
	}
	return b
}

func inCamel(snake string) string {
	words := strings.Split(snake, "_")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

// content is what an event with parts says.
func (e *Event) content() object {
	parts := make([]object, len(e.Parts))
	for i, p := range e.Parts {
		switch {
		case p.Call != nil:
			o := object{{"id", p.Call.ID}, {"args", json.RawMessage(p.Call.Args)}, {"name", p.Call.Name}}
			parts[i] = object{{"function_call", without(o)}}
		case p.Response != nil:
			o := object{{"id", p.Response.ID}, {"name", p.Response.Name}}
			if p.Response.Value != "" {
				o = append(o, member{"response", json.RawMessage(p.Response.Value)})
			}
			parts[i] = object{{"function_response", without(o)}}
		case p.Thought:
			parts[i] = object{{"text", p.Text}, {"thought", true}}
		default:
			parts[i] = object{{"text", p.Text}}
		}
	}
	return object{{"parts", parts}, {"role", e.role()}}
}

// without leaves members with an empty text out, as every writer does.
func without(o object) object {
	var left object
	for _, m := range o {
		if m.value != "" {
			left = append(left, m)
		}
	}
	return left
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
		switch m.name {
		case "timestamp":
			m.value = e.Time.UnixMilli()
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
