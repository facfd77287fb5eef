package canonical

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
)

// lineText is a line while members of it change. Every other byte stays:
// unknown members, forms of numbers and escapes, and the rest of a line that
// breaks off. The first error stays.
type lineText struct {
	text []byte
	err  error
}

// set gives a member another text, number or boolean.
func (l *lineText) set(pointer string, value any) { l.setJSON(pointer, jsonOf(value)) }

// remove takes a member away, if it is there.
func (l *lineText) remove(pointer string) {
	if _, there := l.raw(pointer); there {
		l.setJSON(pointer, nil)
	}
}

func (l *lineText) setJSON(pointer string, value jsontext.Value) {
	if l.err != nil {
		return
	}
	text, err := jsonedit.Set(l.text, pointer, value)
	if err != nil {
		l.err = fmt.Errorf("changing a line: %w", err)
		return
	}
	l.text = text
}

// raw is the stored JSON of a member.
func (l *lineText) raw(pointer string) (jsontext.Value, bool) {
	return jsonedit.Raw(l.text, pointer)
}

// jsonOf is the JSON of a text, a number or a boolean.
func jsonOf(value any) jsontext.Value {
	text, _ := json.Marshal(value, tolerant) // tolerant of the one thing that can be wrong
	return text
}
