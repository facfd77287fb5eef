package springai

import (
	"fmt"
	"strconv"
	"strings"
	"time"
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

// timeForm is how times are stored: as a text, or as the number of milliseconds
// since 1970, which is what the SQLite driver of Java makes of a Timestamp.
type timeForm struct {
	numbers bool
	digits  bool   // a number in a column of texts
	iso     bool   // a text with "T" between date and time
	zone    string // of a text: what follows the seconds, "" for local times
}

const (
	sqlTime   = "2006-01-02 15:04:05"
	timeWords = "2026-02-03 09:56:40"
)

// zones are the ways in which a zone may follow. PostgreSQL leaves minutes of 00
// out.
var zones = []string{"", "Z07:00", "-07", "-0700", " Z07:00", " -0700"}

// formOf is the form of a stored time, that of the scripts' columns for what is
// none.
func formOf(stored any) timeForm {
	text, _ := textOf(stored)
	if _, ok := numberOf(stored); ok {
		_, number := numberLike(stored, 0).(int64)
		return timeForm{numbers: true, digits: !number}
	}
	_, zone, ok := parseText(text)
	if !ok {
		return timeForm{}
	}
	return timeForm{iso: strings.Contains(text, "T"), zone: zone}
}

// render is a time in the form, exact to the microsecond where it is a text.
func (f timeForm) render(t time.Time) any {
	switch {
	case f.digits:
		return strconv.FormatInt(t.UnixMilli(), 10)
	case f.numbers:
		return t.UnixMilli()
	}
	layout := sqlTime + ".000000" + f.zone
	if f.iso {
		layout = strings.Replace(layout, " ", "T", 1)
	}
	return t.UTC().Format(layout)
}

// parseTime reads a stored time, and says what is wrong with it, if anything. A
// time without a zone is taken for UTC: which zone its writer was in is not stored
// (G17).
func parseTime(stored any) (t time.Time, wrong string) {
	if ms, ok := numberOf(stored); ok {
		return plausible(time.UnixMilli(ms).UTC(), "read as milliseconds, ")
	}
	text, _ := textOf(stored)
	t, _, ok := parseText(text)
	switch {
	case text == "":
		return t, "it is empty"
	case !ok:
		return t, "it is not in the form " + timeWords
	}
	return plausible(t, "")
}

// parseText reads the forms of a text, and says what its zone looks like.
func parseText(text string) (t time.Time, zone string, ok bool) {
	if len(text) > len("2006-01-02") && text[len("2006-01-02")] == 'T' {
		text = strings.Replace(text, "T", " ", 1)
	}
	for _, zone := range zones {
		if t, err := time.Parse(sqlTime+zone, text); err == nil {
			return t, zone, true
		}
	}
	t, err := time.Parse("2006-01-02 15:04", text) // Java leaves seconds of 00 out
	return t, "", err == nil
}

// plausible keeps times at which agents can have run: seconds that are read as
// milliseconds are in 1970.
func plausible(t time.Time, how string) (time.Time, string) {
	if t.Year() < 2000 || t.Year() > 2200 {
		return time.Time{}, fmt.Sprintf("%sits year is %d", how, t.Year())
	}
	return t, ""
}
