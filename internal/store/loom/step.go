package loom

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// spawnTool is the tool of the step that a parent records for a child (ISOLATION.md,
// IsolatedContext.spawn_child).
const spawnTool = "agent:spawn"

// step is a file of a history, as Step.to_dict of loom-py makes it
// (context/engineering/step.py).
type step struct {
	ID          string         `json:"id"`
	Tool        string         `json:"tool_name"`
	Args        jsontext.Value `json:"minimal_args"`
	Observation string         `json:"observation"`
	Success     *bool          `json:"success"` // absent: it succeeded
	Time        jsontext.Value `json:"timestamp_ms"`
	OutcomeRef  string         `json:"outcome_ref"`
	Error       string         `json:"error"`
}

// damage is what is wrong with the JSON of a record.
type damage struct {
	kind session.FaultKind // BadUnicode when nothing else is wrong, else Undecodable
	why  string
}

// tolerant takes what Python's json module writes and reads.
var tolerant = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// decode reads a JSON object. One with doubled names or text that is not Unicode is
// usable, and damage says what is wrong with it; nil means nothing.
func decode[T any](data []byte) (value T, usable bool, wrong *damage) {
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		return value, false, &damage{session.Undecodable, "it is no JSON object"}
	}
	if json.Unmarshal(data, &value) == nil {
		return value, true, nil
	}
	var scrubbed T
	if json.Unmarshal(data, &scrubbed, jsontext.AllowInvalidUTF8(true)) == nil {
		return scrubbed, true, &damage{session.BadUnicode, "it holds text that is no Unicode"}
	}
	var again T
	if json.Unmarshal(data, &again, tolerant) == nil {
		return again, true, &damage{session.Undecodable, "a name occurs twice in it; the last one is taken"}
	}
	why := "it is no JSON, or cut off"
	if jsontext.Value(data).IsValid(tolerant) {
		why = "a member holds a value of another type than it should"
	}
	return again, false, &damage{session.Undecodable, why}
}

// decodeStep reads a step. Without an id and a tool it is none: Step.from_dict wants
// both.
func decodeStep(data []byte) (s step, usable bool, wrong *damage) {
	s, usable, wrong = decode[step](data)
	if usable && (s.ID == "" || s.Tool == "") {
		return s, false, &damage{session.Undecodable, "it lacks id or tool_name"}
	}
	return s, usable, wrong
}

// args is the text of the arguments without the white space around its parts.
func (s *step) args() string { return compact(s.Args) }

// compact is a JSON value without white space, "" for null and for nothing.
func compact(v jsontext.Value) string {
	if len(v) == 0 || v.Kind() == 'n' {
		return ""
	}
	v = v.Clone()
	if v.Compact(tolerant) != nil {
		return ""
	}
	return string(v)
}

// members are the arguments that are strings, by name.
func (s *step) members() map[string]string {
	var all map[string]jsontext.Value
	if json.Unmarshal(s.Args, &all, tolerant) != nil {
		return nil
	}
	texts := map[string]string{}
	for name, v := range all {
		var text string
		if v.Kind() == '"' && json.Unmarshal(v, &text, tolerant) == nil {
			texts[name] = text
		}
	}
	return texts
}

// failed reports whether the tool did not succeed.
func (s *step) failed() bool { return s.Success != nil && !*s.Success }

// answer is what the step says of the tool's result: of a failure the error.
func (s *step) answer() string {
	if s.failed() && s.Error != "" {
		return s.Error
	}
	return s.Observation
}

// instant reads milliseconds since 1970, as a number or, as Protobuf writes 64-bit
// numbers, as a text. Nothing, null and 0 are no time and no mistake.
func instant(v jsontext.Value) (t time.Time, ok bool) {
	ms, ok := milliseconds(v)
	const year10000 = 253402300800000
	if !ok || ms < 0 || ms >= year10000 {
		return t, false
	}
	if ms == 0 {
		return t, true
	}
	return time.UnixMilli(ms).UTC(), true
}

func milliseconds(v jsontext.Value) (ms int64, ok bool) {
	if len(v) == 0 || v.Kind() == 'n' {
		return 0, true
	}
	number, err := strconv.ParseFloat(strings.Trim(string(v), `"`), 64)
	if err != nil || math.IsNaN(number) || math.Abs(number) > 1<<53 {
		return 0, false
	}
	return int64(number), true
}
