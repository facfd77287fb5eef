package canonical

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// damage is what is wrong with the JSON of a line.
type damage struct {
	kind session.FaultKind // BadUnicode when nothing else is wrong, else Undecodable
	err  error
}

// decode reads a line. A line with doubled names or text that is not Unicode is
// usable, and damage says what is wrong with it; nil means nothing.
func decode[T any](line []byte) (value T, usable bool, wrong *damage) {
	err := json.Unmarshal(line, &value)
	if err == nil {
		return value, true, nil
	}
	var scrubbed T
	if json.Unmarshal(line, &scrubbed, jsontext.AllowInvalidUTF8(true)) == nil {
		return scrubbed, true, &damage{session.BadUnicode, err}
	}
	var again T
	return again, json.Unmarshal(line, &again, tolerant) == nil, &damage{session.Undecodable, err}
}

// decodeItem is decode for items. A sub-session item with doubled names is not
// usable: a doubled member could make it another link than the index has seen.
func decodeItem(line []byte) (rec itemLine, usable bool, wrong *damage) {
	rec, usable, wrong = decode[itemLine](line)
	if wrong != nil && wrong.kind == session.Undecodable && rec.Kind == session.SubSession.String() {
		usable = false
	}
	return rec, usable, wrong
}
