package dockeragent

import (
	"database/sql/driver"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Any column of SQLite can hold a value of any type. These functions say what
// upstream, which scans columns into plain Go values, does not accept, in words
// for people, "" for what it accepts.

func anything(driver.Value) string { return "" }

func wholeNumber(v driver.Value) string {
	if _, ok := v.(int64); !ok {
		if _, err := strconv.ParseInt(viewOf(v), 10, 64); err != nil {
			return "the reader expects a whole number"
		}
	}
	return ""
}

func number(v driver.Value) string {
	switch v.(type) {
	case int64, float64:
		return ""
	}
	if _, err := strconv.ParseFloat(viewOf(v), 64); err != nil {
		return "the reader expects a number"
	}
	return ""
}

func truth(v driver.Value) string {
	if _, ok := isTrue(v); !ok {
		return "the reader expects true or false"
	}
	return ""
}

// isTrue is a value of a BOOLEAN column. ok is false for what is none.
func isTrue(v driver.Value) (value, ok bool) {
	switch v := v.(type) {
	case int64:
		return v != 0, true
	case string, []byte:
		value, err := strconv.ParseBool(viewOf(v))
		return value, err == nil
	}
	return false, false
}

// sortKey is where `order by` puts a value of a column of whole numbers: NULL
// first, then numbers, then texts.
func sortKey(v driver.Value) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case nil:
		return math.MinInt64
	case float64:
		if f := math.Ceil(v); f < math.MaxInt64 { // between two positions: before the higher one
			return int64(max(f, math.MinInt64))
		}
	}
	return math.MaxInt64
}

// parseTime reads a stored time and says what is wrong with it, if anything.
func parseTime(text string) (time.Time, string) {
	t, err := time.Parse(time.RFC3339, text)
	switch {
	case err != nil && text == "":
		return time.Time{}, "it is empty"
	case err != nil:
		return time.Time{}, notRFC3339
	}
	if bad := implausible(t); bad != "" {
		return time.Time{}, bad
	}
	return t, ""
}

const notRFC3339 = "it is not in the form 2026-02-03T09:56:40Z"

// implausible says why a readable time cannot be one of a session, "" when it
// can: agents did not run before 2000, and milliseconds that are read as seconds
// end up far in the future.
func implausible(t time.Time) string {
	switch {
	case t.Year() <= 1:
		return "it is the zero time"
	case t.Year() < 2000 || t.Year() > 2200:
		return fmt.Sprintf("its year is %d", t.Year())
	}
	return ""
}

// textOf is a column value as text; the string is the store's own copy.
func textOf(value driver.Value) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return strings.Clone(v)
	case []byte:
		return string(v)
	case time.Time:
		return v.Format(time.RFC3339)
	}
	return fmt.Sprint(value)
}
