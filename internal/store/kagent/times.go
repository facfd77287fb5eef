package kagent

import (
	"math"
	"strings"
	"time"
)

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
