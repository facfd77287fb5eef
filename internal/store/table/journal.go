package table

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/problem"
)

// RowChange is what became of one row: the columns that changed, or the whole
// row where it was added or removed. Before is nil for a row that did not
// exist, After for one that is gone. Values are as Field has them.
type RowChange struct {
	Table  string `json:"table"`
	Row    Place  `json:"row"`
	Before Image  `json:"before"`
	After  Image  `json:"after"`
	// Loose: a foreign key of the row led nowhere already before it changed.
	Loose bool `json:"loose,omitempty"`
}

// Image are columns of a row, by name.
type Image map[string]any

// Same reports whether two values are stored in the same way: 1, 1.0 and '1'
// all differ.
func Same(a, b any) bool {
	switch a := a.(type) {
	case []byte:
		b, ok := b.([]byte)
		return ok && (a == nil) == (b == nil) && bytes.Equal(a, b)
	case float64:
		b, ok := b.(float64)
		return ok && math.Float64bits(a) == math.Float64bits(b)
	}
	if _, ok := b.([]byte); ok {
		return false
	}
	return a == b
}

// Equal reports whether two images say the same of a row.
func (m Image) Equal(other Image) bool {
	if (m == nil) != (other == nil) || len(m) != len(other) {
		return false
	}
	for c, v := range m {
		if w, ok := other[c]; !ok || !Same(v, w) {
			return false
		}
	}
	return true
}

// EncodeChanges writes changes as JSON on one line, in one pass: a journal can hold a big
// part of a database, and is written while that is locked. DecodeChanges reads
// it.
//
// A value of an image is written like this, so that it comes back exactly as it
// was stored:
//
//	null                  NULL
//	42                    an integer, of up to 64 bits
//	"text"                a text in UTF-8
//	{"text": "/w=="}      a text that is not valid UTF-8, base64
//	{"real": "0x1.8p+01"} a floating point number, hexadecimal, or "+Inf" or "-Inf"
//	{"blob": "AAE="}      a blob, base64
func EncodeChanges(changes []RowChange) ([]byte, error) {
	out := []byte{'['}
	for i := range changes {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = changes[i].append(out); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

// DecodeChanges reads what EncodeChanges wrote.
func DecodeChanges(journal []byte) ([]RowChange, error) {
	var changes []RowChange
	if err := json.Unmarshal(journal, &changes); err != nil {
		return nil, problem.New(problem.Unreadable, "", "the journal in the receipt cannot be read: %v", err)
	}
	return changes, nil
}

func (c *RowChange) append(out []byte) ([]byte, error) {
	out = append(out, `{"table":`...)
	out, err := jsontext.AppendQuote(out, c.Table)
	if err != nil {
		return nil, err
	}
	out = strconv.AppendInt(append(out, `,"row":`...), int64(c.Row), 10)
	if out, err = c.Before.append(append(out, `,"before":`...)); err != nil {
		return nil, err
	}
	if out, err = c.After.append(append(out, `,"after":`...)); err != nil {
		return nil, err
	}
	if c.Loose {
		out = append(out, `,"loose":true`...)
	}
	return append(out, '}'), nil
}

// append writes null for a row that does not exist.
func (m Image) append(out []byte) ([]byte, error) {
	if m == nil {
		return append(out, "null"...), nil
	}
	out = append(out, '{')
	for i, column := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = jsontext.AppendQuote(out, column); err != nil {
			return nil, err
		}
		if out, err = appendValue(append(out, ':'), m[column]); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func appendValue(out []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(out, "null"...), nil
	case int64:
		return strconv.AppendInt(out, v, 10), nil
	case string:
		if utf8.ValidString(v) {
			return jsontext.AppendQuote(out, v)
		}
		return append(base64.StdEncoding.AppendEncode(append(out, `{"text":"`...), []byte(v)), `"}`...), nil
	case float64:
		if !math.IsNaN(v) { // which SQLite stores as NULL
			return append(strconv.AppendFloat(append(out, `{"real":"`...), v, 'x', -1, 64), `"}`...), nil
		}
	case []byte:
		return append(base64.StdEncoding.AppendEncode(append(out, `{"blob":"`...), v), `"}`...), nil
	}
	return nil, fmt.Errorf("a journal cannot hold a value of type %T (%v)", value, value)
}

// MarshalJSON writes the image as EncodeChanges does.
func (m Image) MarshalJSON() ([]byte, error) { return m.append(nil) }

// journalValue is a value that is being read.
type journalValue struct{ v any }

// encodedValue is the form of the values that JSON has no exact form for.
type encodedValue struct {
	Text []byte  `json:"text,omitempty"`
	Real string  `json:"real,omitempty"`
	Blob *[]byte `json:"blob,omitempty"` // may be empty
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *Image) UnmarshalJSON(b []byte) error {
	var values map[string]journalValue
	if err := json.Unmarshal(b, &values); err != nil {
		return err
	}
	*m = nil
	if values == nil {
		return nil
	}
	*m = make(Image, len(values))
	for column, value := range values {
		(*m)[column] = value.v
	}
	return nil
}

// UnmarshalJSON reads one value.
func (j *journalValue) UnmarshalJSON(b []byte) error {
	*j = journalValue{}
	switch b[0] {
	case 'n':
		return nil
	case '"':
		var s string
		err := json.Unmarshal(b, &s)
		j.v = s
		return err
	case '{':
		return j.decode(b)
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return fmt.Errorf("a journal holds the value %s, which is no integer", b)
	}
	j.v = n
	return nil
}

// decode reads a value in the form of an object.
func (j *journalValue) decode(b []byte) error {
	var e encodedValue
	if err := json.Unmarshal(b, &e); err != nil {
		return err
	}
	switch {
	case e.Text != nil:
		j.v = string(e.Text)
	case e.Blob != nil:
		j.v = *e.Blob
	default:
		f, err := strconv.ParseFloat(e.Real, 64)
		if err != nil {
			return fmt.Errorf("a journal holds a value of an unknown kind: %s", b)
		}
		j.v = f
	}
	return nil
}
