// Package members holds what ADK stores of an event against what its readers take: the
// models of adk-python and python-genai, and the structs of adk-go and go-genai, in one
// table (models.txt). Both families have the same members; they differ in what they take
// for a value of a type. adk-kotlin has fewer, and a table of its own (kotlin.txt).
package members

import (
	"bytes"
	_ "embed"
	"strings"
	"sync"

	"github.com/sessctl/sessctl/internal/jsonscan"
)

// Reader is what decodes an event.
type Reader int

// The readers. Python is pydantic in its lax mode, alike for a text and for what json.loads
// made of one (pydantic 2.13 was run); Go is encoding/json, and Kotlin is
// kotlinx.serialization as adk-kotlin sets it (Serializers.kt; it was not run).
const (
	Python Reader = iota
	Go
	Kotlin
)

// models is the table: a line for each model, with its members in snake case and their
// types: text, int (32 bits in Go), long, number, bool, bytes (base64), span (of time, a text), label (of a
// branch), any, object, [list], {dictionary} or a model. Behind a type, ! says that null is
// not taken, !! that the member has to be there, too, and !+ that it has to be, and that a
// repair can write an empty one. A * marks what is content or state: of a model, all members.
//
// Sources: python-genai 2.9.0 and go-genai types, adk-go 2.2.0 session.go and
// storage_session.go, adk-python event.py, event_actions.py, llm_response.py and schemas/v0.py
// of 2025-06 to 2026-09. What only some releases have is there, too: the others do not read it,
// or refuse the name, which is not a matter of its type.
//
//go:embed models.txt
var models string

// kotlin is the same for adk-kotlin v0.8.0 (events and types of core/src/commonMain).
//
//go:embed kotlin.txt
var kotlin string

// shape is the type of a value.
type shape struct {
	kind    string // the name of a type, "[", "{" or "model"
	of      *shape // of elements
	members *jsonscan.Names[shape]
	needed  []string // the members that have to be there
	bit     int      // of one of these, in their model
	strict  bool     // null is not taken
	whole   bool     // there is no value that says nothing: what holds it goes
	content bool     // content or state
}

// tables are the shapes of models by reader and name.
var tables = [...]func() map[string]*shape{
	Python: sync.OnceValue(func() map[string]*shape { return parseTable(Python, models) }),
	Go:     sync.OnceValue(func() map[string]*shape { return parseTable(Go, models) }),
	Kotlin: sync.OnceValue(func() map[string]*shape { return parseTable(Kotlin, kotlin) }),
}

func parseTable(reader Reader, table string) map[string]*shape {
	all := map[string]*shape{}
	lines := strings.Split(strings.TrimSpace(table), "\n")
	for _, line := range lines {
		name, _, _ := strings.Cut(line, ":")
		all[strings.TrimSuffix(name, "*")] = &shape{kind: "model", members: new(jsonscan.Names[shape])}
	}
	for _, line := range lines {
		name, list, _ := strings.Cut(line, ": ")
		model, content := all[strings.TrimSuffix(name, "*")], strings.HasSuffix(name, "*")
		model.content = content
		for _, m := range strings.Split(list, ", ") {
			name, of, _ := strings.Cut(m, " ")
			s := shapeOf(of, all, reader)
			s.content = content || strings.HasPrefix(m, "*")
			name = strings.TrimPrefix(name, "*")
			camel := InCamel(name)
			if reader == Go {
				name = strings.ReplaceAll(name, "_", "")
			} else if strings.HasSuffix(of, "!!") || strings.HasSuffix(of, "!+") {
				s.bit = 1 << len(model.needed)
				model.needed = append(model.needed, name)
			}
			model.members.Set(name, s)
			model.members.Set(camel, s)
		}
	}
	return all
}

// shapeOf is the shape that a type has. For Go null is nothing, wherever it stands.
func shapeOf(of string, all map[string]*shape, reader Reader) shape {
	name := strings.TrimRight(of, "!+")
	s := shape{kind: name, strict: name != of && reader != Go, whole: strings.HasSuffix(of, "!!")}
	switch {
	case name[0] == '[' || name[0] == '{':
		s.kind = name[:1]
		s.of = new(shapeOf(name[1:len(name)-1]+"!!", all, reader))
	case all[name] != nil:
		s.kind, s.of, s.content = "model", all[name], all[name].content
	}
	if s.kind == "any" {
		s.strict = false
	}
	return s
}

// InCamel is a name in camel case.
func InCamel(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

// memberShape is the shape of a member by its name as it is stored, nil for one that the reader
// does not know: Go takes a name in every case.
func (s *shape) memberShape(reader Reader, name []byte) *shape {
	known := jsonscan.FindName(s.members, name)
	if known == nil && reader == Go {
		return jsonscan.FindName(s.members, bytes.ToLower(name))
	}
	return known
}
