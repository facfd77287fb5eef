package kagenttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf16"
)

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any // nil, string, bool, int, float64, []string, object or list
}

type list []any

// style is how a runtime spells JSON.
type style struct {
	spaced bool // behind commas and colons, and ASCII only: Python's json.dumps
	html   bool // <, > and & are escaped: Go's json.Marshal
}

func (s style) text(value any) string { return string(s.append(nil, value)) }

func (s style) append(b []byte, value any) []byte {
	switch v := value.(type) {
	case object:
		b = append(b, '{')
		for i, m := range v {
			b = append(s.append(s.comma(b, i), m.name), ':')
			if s.spaced {
				b = append(b, ' ')
			}
			b = s.append(b, m.value)
		}
		return append(b, '}')
	case list:
		b = append(b, '[')
		for i, entry := range v {
			b = s.append(s.comma(b, i), entry)
		}
		return append(b, ']')
	}
	return append(b, s.plain(value)...)
}

func (s style) comma(b []byte, before int) []byte {
	if before > 0 {
		b = append(b, ',')
		if s.spaced {
			b = append(b, ' ')
		}
	}
	return b
}

// plain is the form of a value that is neither an object nor a list.
func (s style) plain(value any) []byte {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(s.html)
	if err := encoder.Encode(value); err != nil {
		panic("a program holds what is no JSON: " + err.Error())
	}
	text := bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
	if !s.spaced {
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

// given are the members whose values are not empty.
func given(o object) object {
	var kept object
	for _, m := range o {
		if m.value != nil && m.value != "" {
			kept = append(kept, m)
		}
	}
	return kept
}
