package springai

import (
	"fmt"
	"strconv"
	"strings"
)

// Any column of SQLite can hold a value of any type.

// textOf is a value as text, in the same memory where it is one; ok is false for
// NULL.
func textOf(value any) (text string, ok bool) {
	switch v := value.(type) {
	case nil:
		return "", false
	case string:
		return v, true
	case []byte:
		return string(v), true
	}
	return fmt.Sprint(value), true
}

// like is a text with the type that a stored value has.
func like(stored any, text string) any {
	if _, blob := stored.([]byte); blob {
		return []byte(text)
	}
	return text
}

// numberOf is a value as a whole number, be it stored as one, as a fraction or as
// a text of digits, which a copy by way of CSV makes of it.
func numberOf(value any) (n int64, ok bool) {
	switch v := value.(type) {
	case int64:
		return v, true
	case float64:
		n = int64(v)
		return n, float64(n) == v
	}
	text, _ := textOf(value)
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// numberLike is a whole number with the type that a stored one has.
func numberLike(stored any, n int64) any {
	switch stored.(type) {
	case string, []byte:
		return like(stored, strconv.FormatInt(n, 10))
	}
	return n
}

// truthOf reads a boolean, which SQLite has as a number or as a text; ok is false
// for what is none.
func truthOf(value any) (is, ok bool) {
	switch v := value.(type) {
	case int64:
		return v != 0, true
	case string, []byte:
		text, _ := textOf(v)
		is, err := strconv.ParseBool(strings.ToLower(text))
		return is, err == nil
	}
	return false, false
}

// truthLike is a boolean in the form that a stored one has.
func truthLike(stored any, is bool) any {
	text, ok := stored.(string)
	switch {
	case !ok || text == "0" || text == "1":
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
