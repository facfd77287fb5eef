package adk

import (
	"fmt"
	"math"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// stamp is a stored time.
type stamp struct {
	time.Time      // zero when it is absent or unusable
	zoned     bool // it is a text that names its offset from UTC
	bad       string
}

// textForms are the forms of a time in a text (1.6): with an offset, as adk-go
// writes it, and without, as SQLAlchemy does. Fractions of a second are optional in
// all of them.
var textForms = []struct {
	form  string
	zoned bool
}{
	{"2006-01-02 15:04:05Z07:00", true},
	{"2006-01-02 15:04:05Z07", true}, // PostgreSQL's own, which a copy of its tables has
	{time.RFC3339, true},
	{"2006-01-02 15:04:05", false},
	{"2006-01-02T15:04:05", false},
	{"2006-01-02", false},
}

// unit is how many of what a number counts since 1970 make a second.
type unit int64

const (
	seconds      unit = 1
	milliseconds unit = 1000
)

func (u unit) String() string {
	return map[unit]string{seconds: "seconds", milliseconds: "milliseconds"}[u]
}

// unitOf is what the numbers of a row count, by its time in a column: adk-js writes
// integers, in P1's table, too, where both may write; SQLAlchemy writes texts.
func (g generation) unitOf(column any) unit {
	switch column.(type) {
	case int64:
		if g == p1 || g == j1 {
			return milliseconds
		}
	case string, []byte:
	default:
		if g == j1 {
			return milliseconds
		}
	}
	return seconds
}

// stampOf reads a time in a column. One without an offset is that of the writer's
// server, which nobody can tell: it is taken for UTC.
func stampOf(value any, in unit) stamp {
	switch v := value.(type) {
	case nil:
		return stamp{}
	case int64:
		return in.stamp(float64(v))
	case float64:
		return in.stamp(v)
	}
	text := textOf(value)
	for _, f := range textForms {
		if t, err := time.Parse(f.form, text); err == nil {
			return plausible(stamp{Time: t, zoned: f.zoned})
		}
	}
	return stamp{bad: "it is neither a number of " + in.String() + " nor in the form 2026-02-03 09:56:40.123456, with or without an offset from UTC"}
}

// jsonStamp reads a time in a document: a number since 1970, or a text as RFC 3339
// has it, which adk-go writes.
func jsonStamp(value jsontext.Value, in unit) stamp {
	switch value.Kind() {
	case 0, jsontext.KindNull:
		return stamp{}
	case jsontext.KindNumber:
		if number, err := jsonFloat(value); err == nil {
			return in.stamp(number)
		}
	case jsontext.KindString:
		if t, err := time.Parse(time.RFC3339, unquote(value)); err == nil {
			return plausible(stamp{Time: t, zoned: true})
		}
	}
	return stamp{bad: "it is neither a number of " + in.String() + " nor a text in the form 2026-02-03T09:56:40Z"}
}

// The seconds of the years 1 to 9999, which is what Python and adk-go's reader take.
const (
	firstSecond = -62135596800
	endOfTime   = 253402300800
)

func (u unit) stamp(number float64) stamp {
	second := number / float64(u)
	if !(second >= firstSecond && second < endOfTime) {
		bad := "as a number of " + u.String() + " it is outside the years 1 to 9999"
		if thousandth := second / 1000; u == seconds && thousandth > 946684800 && thousandth < 7258118400 { // 2000 to 2200
			bad += "; it looks like milliseconds"
		}
		return stamp{bad: bad}
	}
	return plausible(stamp{Time: time.UnixMicro(micros(second)).UTC()})
}

// micros are seconds in microseconds. A float64 of these years holds them only with
// an error of a tenth of one, which rounding takes away.
func micros(seconds float64) int64 {
	const most = 9e18 // within int64
	return int64(math.Round(max(-most, min(most, seconds*1e6))))
}

// plausible takes away a time that stands for none: Go's zero time.
func plausible(s stamp) stamp {
	if s.Year() < 1 || s.Year() > 9999 {
		return stamp{bad: fmt.Sprintf("its year is %d", s.Year()), zoned: s.zoned}
	}
	if s.Year() == 1 {
		return stamp{bad: "it is the zero time", zoned: s.zoned}
	}
	return s
}

// place is where a time stands in the order in which the store's reader compares
// times, in microseconds: adk-go's and SQLAlchemy's are texts in SQLite, so that
// times compare as their clocks showed them, whatever the offset (#13b of section 5).
// NULL comes first, as in SQL, and a text that is no time where its letters are. An
// integer is its own place, in milliseconds: SQLite orders it before every text.
func place(value any) int64 {
	switch v := value.(type) {
	case nil:
		return 0
	case int64:
		return v
	case float64:
		return micros(v)
	}
	text := textOf(value)
	for _, f := range textForms {
		if t, err := time.Parse(f.form, text); err == nil {
			_, offset := t.Zone()
			return t.UnixMicro() + int64(offset)*1e6
		}
	}
	if text < "1" {
		return 0
	}
	return math.MaxInt64
}
