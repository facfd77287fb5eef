package kagent

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unsafe"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// columns gives the value of a column of a row: nil for NULL, and for a column that
// the table does not have.
type columns func(column string) any

// textOf is a column value as a text of its own, "" for NULL.
func textOf(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return strings.Clone(v)
	case []byte:
		return string(v)
	}
	return fmt.Sprint(value)
}

// bytesOf are the bytes of a column value, nil for NULL. They die with the row, and
// must not be changed.
func bytesOf(value any) []byte {
	switch v := value.(type) {
	case nil:
		return nil
	case []byte:
		return v
	case string:
		if v == "" {
			return []byte{}
		}
		return unsafe.Slice(unsafe.StringData(v), len(v))
	}
	return []byte(textOf(value))
}

// lenient reads names in snake, camel and Pascal case alike, takes the last of
// doubled ones, and U+FFFD for what is no Unicode.
var lenient = json.JoinOptions(
	json.MatchCaseInsensitiveNames(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true),
)

// unwrap gives the document of a data column: some writers stored JSON as a string
// in JSON, and kagent's reader unwraps that (b1).
func unwrap(data []byte) (doc []byte, wrapped bool) {
	v := jsontext.Value(data)
	if v.Kind() != jsontext.KindString {
		return data, false
	}
	text, err := jsontext.AppendUnquote(nil, bytes.TrimSpace(v))
	if err != nil {
		return data, false
	}
	return text, true
}

// stringOf is a JSON string, "" for any other value.
func stringOf(v jsontext.Value) string {
	if v.Kind() != jsontext.KindString {
		return ""
	}
	text, _ := jsontext.AppendUnquote(nil, v)
	return string(text)
}

// explain words a decoder's error without what the record says.
func explain(err error) string {
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok && wrong.JSONKind != jsontext.KindInvalid {
		return fmt.Sprintf("%q holds a value of another type than kagent stores there", string(wrong.JSONPointer))
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Sprintf("it is no JSON from byte %d on", syntax.ByteOffset)
	}
	return "it breaks off"
}

// counted is a number of things in words.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
