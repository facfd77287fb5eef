package kagent

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
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

// timeForms are the forms of a stored time. glebarez/sqlite writes the first, with
// as many digits of a second as it takes (a3); other drivers write RFC 3339, or what
// Go prints of a time, and a copy by hand may have no offset, which is taken for UTC.
var timeForms = []string{
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05Z07",
	time.RFC3339,
	"2006-01-02 15:04:05 -0700 MST",
	"2006-01-02 15:04:05",
	"2006-01-02T15:04:05",
}

const badTime = "it is no time in the form 2026-02-03 09:56:40.123456789+00:00"

// parseTime reads a stored time, zero for NULL, and says what is wrong with it, if
// anything.
func parseTime(stored any) (_ time.Time, wrong string) {
	switch v := stored.(type) {
	case nil:
		return time.Time{}, ""
	case int64:
		return plausible(instant(v))
	case float64:
		return plausible(time.UnixMicro(int64(math.Round(max(-9e18, min(9e18, v*1e6))))).UTC())
	}
	text := textOf(stored)
	text, _, _ = strings.Cut(text, " m=") // Go's monotonic clock
	for _, form := range timeForms {
		if t, err := time.Parse(form, text); err == nil {
			return plausible(t)
		}
	}
	return time.Time{}, badTime
}

// instant is a number of seconds, or of the parts of one that its size tells: no
// form but seconds is that small in these centuries.
func instant(n int64) time.Time {
	switch size := max(n, -n); {
	case size < 1e11:
		return time.Unix(n, 0).UTC()
	case size < 1e14:
		return time.UnixMilli(n).UTC()
	case size < 1e17:
		return time.UnixMicro(n).UTC()
	}
	return time.Unix(0, n).UTC()
}

func plausible(t time.Time) (_ time.Time, wrong string) {
	if t.Year() <= 1 || t.Year() > 9999 {
		return time.Time{}, "its year is none that anything was stored in"
	}
	return t, ""
}

// placeOf is where a stored time stands in the order of a session, in microseconds,
// and the nanoseconds beyond. kagent asks for events by created_at, which SQLite
// compares as texts: so by what clocks showed, whatever their offset. A text that is
// no time comes last, as letters do, and NULL first.
func placeOf(stored any) (micros, rest int64) {
	t, wrong := parseTime(stored)
	switch {
	case stored == nil:
		return 0, 0
	case wrong != "":
		return math.MaxInt64, 0
	}
	_, offset := t.Zone()
	return t.UnixMicro() + int64(offset)*1e6, int64(t.Nanosecond() % 1000)
}
