package kagent

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/store/column"
)

// columns gives the value of a column of a row: nil for NULL, and for a column that
// the table does not have.
type columns func(column string) any

// lenient is how kagent's documents are read, and exact how what a tool says is, where the
// case of names counts.
var (
	lenient = jsonscan.Go.Options
	exact   = jsonscan.Decoder{Options: json.JoinOptions(lenient, json.MatchCaseInsensitiveNames(false))}
)

// unwrapDocument gives the document of a data column: some writers stored JSON as a string
// in JSON, and kagent's reader unwraps that (docs/stores/kagent.md#what-is-read).
func unwrapDocument(data []byte) (doc []byte, wrapped bool) {
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

// explainError words a decoder's error without what the record says.
func explainError(err error) string {
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok && wrong.JSONKind != jsontext.KindInvalid {
		return fmt.Sprintf("%q holds a value of another type than kagent stores there", string(wrong.JSONPointer))
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Sprintf("it is not valid JSON from byte %d on", syntax.ByteOffset)
	}
	return "it is cut off"
}

// formatCount formats a number of things in words.
func formatCount(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// times are the forms of a stored time. glebarez/sqlite writes the first, with
// as many digits of a second as it takes (docs/stores/kagent.md#what-is-read); other drivers write RFC 3339, or what
// Go prints of a time, and a copy by hand may have no offset, which is taken for UTC.
var times = column.Times{
	Forms: []column.Form{
		{Layout: "2006-01-02 15:04:05Z07:00"},
		{Layout: "2006-01-02 15:04:05Z07"},
		{Layout: time.RFC3339},
		{Layout: "2006-01-02 15:04:05 -0700 MST"},
		{Layout: "2006-01-02 15:04:05"},
		{Layout: "2006-01-02T15:04:05"},
	},
	Behind:   " m=", // Go's monotonic clock
	Number:   column.BySize,
	Years:    [2]int{2, 9999},
	Formless: "it is not a time in the form 2026-02-03 09:56:40.123456789+00:00",
	Outside:  "its year cannot be right",
}

// placeOf is where a stored time stands in the order of a session, in microseconds,
// and the nanoseconds beyond. kagent asks for events by created_at, which SQLite
// compares as texts: so by what clocks showed, whatever their offset. A text that is
// no time comes last, as letters do, and NULL first.
func placeOf(stored any) (micros, rest int64) {
	t := times.Read(stored)
	switch {
	case stored == nil:
		return 0, 0
	case t.Wrong != "":
		return math.MaxInt64, 0
	}
	return column.ClockMicros(t.Time), int64(t.Nanosecond() % 1000)
}
