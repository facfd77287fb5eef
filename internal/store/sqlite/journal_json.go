package sqlite

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// A value of an image is written as JSON like this, so that it comes back
// exactly as it was stored:
//
//	null                  NULL
//	42                    an integer, of up to 64 bits
//	"text"                a text in UTF-8
//	{"text": "/w=="}      a text that is not valid UTF-8, base64
//	{"real": "0x1.8p+01"} a floating point number, hexadecimal, or "+Inf" or "-Inf"
//	{"blob": "AAE="}      a blob, base64
type journalValue struct{ v any }

// encodedValue is the form of the values that JSON has no exact form for.
type encodedValue struct {
	Text []byte  `json:"text,omitempty"`
	Real string  `json:"real,omitempty"`
	Blob *[]byte `json:"blob,omitempty"` // may be empty
}

// MarshalJSON writes the values in the form above, and null for a row that
// does not exist.
func (m Image) MarshalJSON() ([]byte, error) {
	if m == nil {
		return []byte("null"), nil
	}
	values := make(map[string]journalValue, len(m))
	for column, v := range m {
		values[column] = journalValue{v}
	}
	return json.Marshal(values)
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

// MarshalJSON writes one value.
func (j journalValue) MarshalJSON() ([]byte, error) {
	switch v := j.v.(type) {
	case nil, int64:
		return json.Marshal(v)
	case string:
		if utf8.ValidString(v) {
			return json.Marshal(v)
		}
		return json.Marshal(encodedValue{Text: []byte(v)})
	case float64:
		if !math.IsNaN(v) { // which SQLite stores as NULL
			return json.Marshal(encodedValue{Real: strconv.FormatFloat(v, 'x', -1, 64)})
		}
	case []byte:
		if v == nil {
			v = []byte{}
		}
		return json.Marshal(encodedValue{Blob: &v})
	}
	return nil, fmt.Errorf("a journal cannot hold a value of type %T (%v)", j.v, j.v)
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
			return fmt.Errorf("a journal holds the value %s, which is of no known kind", b)
		}
		j.v = f
	}
	return nil
}
