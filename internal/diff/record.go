package diff

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient reads what a runtime's own reader would read too; the last of doubled names counts.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// members names the members in which two stored records differ, as JSON pointers in
// alphabetical order. It never tells their values: a record may hold headers and secrets.
// There are none where a record is no JSON object.
func members(a, b []byte) []string {
	was, is := membersOf(a), membersOf(b)
	if was == nil || is == nil {
		return nil
	}
	var names []string
	for name, value := range was {
		if other, there := is[name]; !there || !bytes.Equal(value, other) {
			names = append(names, pointer(name))
		}
	}
	for name := range is {
		if _, there := was[name]; !there {
			names = append(names, pointer(name))
		}
	}
	slices.Sort(names)
	return names
}

// membersOf are the members of an object, without white space; nil for anything else.
func membersOf(record []byte) map[string]jsontext.Value {
	var all map[string]jsontext.Value
	if json.Unmarshal(record, &all, lenient) != nil {
		return nil
	}
	for name, value := range all {
		if value.Compact(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true)) == nil {
			all[name] = value
		}
	}
	return all
}

// pointer is the JSON pointer to a member (RFC 6901).
func pointer(name string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
