package jsonedit

import "github.com/go-json-experiment/json/jsontext"

// Whole reports whether data is one JSON object, list or text from its first byte to its
// last: then nothing of it was lost, whatever it says. Numbers and words say nothing of
// that, and a text that is no Unicode was damaged. Names may come twice.
func Whole(data []byte) bool {
	value := jsontext.Value(data)
	switch value.Kind() {
	case jsontext.KindBeginObject, jsontext.KindBeginArray, jsontext.KindString:
		return value.IsValid(jsontext.AllowDuplicateNames(true))
	}
	return false
}
