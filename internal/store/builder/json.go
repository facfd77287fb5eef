package builder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
)

// Object is a JSON object whose members keep their order, or a row whose columns do.
type Object []Member

// Member is a member of an object: its name, which is a text, and its value: a list, an
// object or anything else that encoding/json takes.
type Member [2]any

// List is a JSON array.
type List []any

// WithoutEmpty are the members whose values are not empty.
func (o Object) WithoutEmpty() Object {
	return slices.DeleteFunc(slices.Clone(o), func(m Member) bool { return m[1] == nil || m[1] == "" })
}

// Style is how a runtime spells JSON.
type Style struct {
	Spaced bool // behind commas and colons, and ASCII only: Python's json.dumps
	HTML   bool // <, > and & are escaped: Go's json.Marshal
	Camel  bool // names are in camel case
}

// Text is the JSON text of a value.
func (s Style) Text(value any) string { return string(s.appendValue(nil, value)) }

func (s Style) appendValue(b []byte, value any) []byte {
	switch v := value.(type) {
	case Object:
		b = append(b, '{')
		for i, m := range v {
			name := m[0]
			if s.Camel {
				name = camelCase(m[0].(string))
			}
			b = append(s.appendValue(s.appendComma(b, i), name), ':')
			if s.Spaced {
				b = append(b, ' ')
			}
			b = s.appendValue(b, m[1])
		}
		return append(b, '}')
	case List:
		b = append(b, '[')
		for i, entry := range v {
			b = s.appendValue(s.appendComma(b, i), entry)
		}
		return append(b, ']')
	}
	return append(b, s.plainText(value)...)
}

func (s Style) appendComma(b []byte, before int) []byte {
	switch {
	case before == 0:
		return b
	case s.Spaced:
		return append(b, ", "...)
	}
	return append(b, ',')
}

// plainText is the form of a value that is neither an object nor a list.
func (s Style) plainText(value any) []byte {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(s.HTML)
	if err := encoder.Encode(value); err != nil {
		panic("what is to be written holds text that is not JSON: " + err.Error())
	}
	text := bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
	if !s.Spaced {
		return text
	}
	var ascii []byte
	for _, r := range string(text) {
		if r < 0x80 {
			ascii = append(ascii, byte(r))
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			ascii = fmt.Appendf(ascii, "\\u%04x", unit)
		}
	}
	return ascii
}

// FromJSON is a value that stands as JSON in a file beside its package.
func FromJSON[T any](text []byte) (value T) {
	if err := json.Unmarshal(text, &value); err != nil {
		panic("a file of the package: " + err.Error())
	}
	return value
}

func camelCase(snake string) string {
	words := strings.Split(snake, "_")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}
