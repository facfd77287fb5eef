// Package column says what a stored value is, whatever its type: as a text, as bytes, as
// a number, as a boolean, as a time. It knows columns and no store: an adapter declares
// as a Times in which forms its runtime stores times.
//
// Any column of SQLite can hold a value of any type: nil, int64, float64, string or
// []byte. What a function is handed it does not keep, and what it gives back may be the
// same memory where its comment says so.
package column

import (
	"fmt"
	"strconv"
	"strings"
	"unsafe"
)

// View is a value as text, "" for NULL. It is valid as long as the value.
func View(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case []byte:
		return unsafe.String(unsafe.SliceData(v), len(v))
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return fmt.Sprint(value)
}

// Text is a value as a text of its own, "" for NULL.
func Text(value any) string { return strings.Clone(View(value)) }

// Bytes are the bytes of a value as text, nil for NULL. They are valid as long as the
// value, and must not be changed.
func Bytes(value any) []byte {
	switch v := value.(type) {
	case nil:
		return nil
	case []byte:
		return v
	}
	text := View(value)
	if text == "" {
		return []byte{}
	}
	return unsafe.Slice(unsafe.StringData(text), len(text))
}

// Like is a text with the type that a stored value has.
func Like(stored any, text string) any {
	if _, blob := stored.([]byte); blob {
		return []byte(text)
	}
	return text
}

// Int is a value as a whole number, be it stored as one, as a fraction that is none, or
// as a text of digits, which a copy by way of CSV makes of it.
func Int(value any) (n int64, ok bool) {
	switch v := value.(type) {
	case int64:
		return v, true
	case float64:
		n = int64(v)
		return n, float64(n) == v
	}
	n, err := strconv.ParseInt(View(value), 10, 64)
	return n, err == nil
}

// IntLike is a whole number as a text where the stored value is one.
func IntLike(stored any, n int64) any {
	switch stored.(type) {
	case string, []byte:
		return Like(stored, strconv.FormatInt(n, 10))
	}
	return n
}

// Bool is a boolean, which databases have as a number or as a text; ok is false for what
// is none.
func Bool(value any) (is, ok bool) {
	switch v := value.(type) {
	case int64:
		return v != 0, true
	case string, []byte:
		is, err := strconv.ParseBool(strings.ToLower(View(v)))
		return is, err == nil
	}
	return false, false
}

// BoolLike is a boolean in the form that a stored one has: a number, a word or its first
// letter, in small or capital letters.
func BoolLike(stored any, is bool) any {
	text, isText := stored.(string)
	if !isText || text == "0" || text == "1" {
		if is {
			return int64(1)
		}
		return int64(0)
	}
	word := strconv.FormatBool(is)
	if len(text) == 1 {
		word = word[:1]
	}
	if text == strings.ToUpper(text) {
		word = strings.ToUpper(word)
	}
	return word
}
