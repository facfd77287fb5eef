package adk

import (
	"bytes"
	"iter"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// spot is a value in a document of a row.
type spot struct {
	column  string
	pointer jsontext.Pointer
}

func (s spot) element(n int) spot { return spot{s.column, s.pointer.AppendToken(strconv.Itoa(n))} }

// raw is the text of a value, nil when there is none, null included.
func (r *revision) raw(at spot) []byte {
	value, ok := r.index(at.column).Raw(string(at.pointer))
	if !ok || string(value) == "null" {
		return nil
	}
	return value
}

// text is a string in a document, "" when there is none.
func (r *revision) text(at spot) string {
	value := jsontext.Value(r.raw(at))
	if value.Kind() != jsontext.KindString {
		return ""
	}
	return unquote(value)
}

// members are those of an object, as far as it can be read.
func (r *revision) members(at spot) iter.Seq2[string, jsontext.Value] {
	return func(yield func(name string, value jsontext.Value) bool) {
		dec := jsontext.NewDecoder(bytes.NewReader(r.raw(at)), goJSON)
		if begin, err := dec.ReadToken(); err != nil || begin.Kind() != jsontext.KindBeginObject {
			return
		}
		for dec.PeekKind() == jsontext.KindString {
			key, err := dec.ReadValue()
			if err != nil {
				return
			}
			name := unquote(key)
			value, err := dec.ReadValue()
			if err != nil || !yield(name, value) {
				return
			}
		}
	}
}

// inside is a member of an object, by its name in camel case. It may be stored in
// any spelling that a reader takes for that name; one that is missing gets this one.
func (r *revision) inside(at spot, name string) spot {
	spelled := name
	for stored := range r.members(at) {
		if sameName(stored, name) {
			spelled = stored
		}
	}
	return spot{at.column, at.pointer.AppendToken(spelled)}
}

var plainly = strings.NewReplacer("_", "", "-", "")

// sameName compares names as the reader of this package does.
func sameName(a, b string) bool { return strings.EqualFold(plainly.Replace(a), plainly.Replace(b)) }

// elements are the values of a list.
func (r *revision) elements(at spot) []spot {
	var values []jsontext.Value
	if json.Unmarshal(r.raw(at), &values, goJSON) != nil {
		return nil
	}
	list := make([]spot, len(values))
	for i := range list {
		list[i] = at.element(i)
	}
	return list
}

// parts are the parts of what an event says.
func (r *revision) parts() []spot {
	content := spot{column: "content"}
	if r.row.Has("event_data") {
		content = r.inside(spot{column: "event_data"}, "content")
	}
	return r.elements(r.inside(content, "parts"))
}

// saying are the names under which a part holds a call or a result, those of tools
// that the provider ran included, in the order in which they are looked for.
var saying = []struct {
	name   string
	result bool
}{{"functionCall", false}, {"functionResponse", true}, {"toolCall", false}, {"toolResponse", true}}

// said are the calls and results in the parts of an event, in the order of the
// model.
func (r *revision) said(parts []spot) (calls, results []spot) {
	for _, part := range parts {
		for _, s := range saying {
			at := r.inside(part, s.name)
			if r.raw(at) == nil {
				continue
			}
			if s.result {
				results = append(results, at)
			} else {
				calls = append(calls, at)
			}
			break
		}
	}
	return calls, results
}

// holder is what a value is a member of.
func (s spot) holder() spot { return spot{s.column, s.pointer.Parent()} }
