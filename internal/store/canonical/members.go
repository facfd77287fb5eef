package canonical

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// member is a member of a line with a new value.
type member struct {
	name  string
	value jsontext.Value
}

// jsonOf is the JSON of a text, a number or a boolean.
func jsonOf(value any) jsontext.Value {
	text, _ := json.Marshal(value, tolerant) // tolerant of the one thing that can be wrong
	return text
}

// setMembers gives members of a line new values, and those that it lacks are
// added. Every other byte stays: unknown members, forms of numbers and escapes,
// doubled names, and the rest of a line that breaks off.
func setMembers(line []byte, set []member) []byte {
	dec := jsontext.NewDecoder(bytes.NewReader(line), tolerant)
	if _, err := dec.ReadToken(); err != nil {
		return line
	}
	var out []byte
	var copied, end int64 // of line
	there := map[string]bool{}
	for dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil {
			break
		}
		name := token.String()
		value, err := dec.ReadValue()
		if err != nil {
			break
		}
		end = dec.InputOffset()
		for _, m := range set {
			if m.name == name {
				out = append(append(out, line[copied:end-int64(len(value))]...), m.value...)
				copied = end
			}
		}
		there[name] = true
	}
	if _, err := dec.ReadToken(); err == nil { // the closing brace
		out = append(out, line[copied:end]...)
		copied = end
		for _, m := range set {
			if !there[m.name] {
				out = append(append(append(out, ','), jsonOf(m.name)...), ':')
				out = append(out, m.value...)
			}
		}
	}
	return append(out, line[copied:]...)
}
