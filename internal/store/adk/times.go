package adk

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
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

// Zones differ from UTC by quarters of an hour, at most by 14 hours.
const (
	quarter  = 15 * time.Minute
	farthest = 14 * time.Hour
)

// zone is how far the clock of the items was from UTC, in which a summary gives its
// limits: these are the times of the first and of the last event that it covers. Where
// no zone makes them so, the summary was written right behind its end.
func (c *span) zone(items []session.Item, written time.Time) time.Duration {
	micros := map[int64]bool{}
	for i := range items {
		micros[items[i].Time.UnixMicro()] = true
	}
	at := func(t time.Time) bool { // but for what rounding did
		m := t.UnixMicro()
		return micros[m] || micros[m-1] || micros[m+1]
	}
	for distance := time.Duration(0); distance <= farthest; distance += quarter {
		for _, zone := range [...]time.Duration{distance, -distance} {
			if at(c.start.Add(zone)) && at(c.end.Add(zone)) {
				return zone
			}
		}
	}
	return written.Sub(c.end).Round(quarter)
}

// shifted is the span on another clock.
func (c *span) shifted(zone time.Duration) *span {
	s := *c
	s.start, s.end = s.start.Add(zone), s.end.Add(zone)
	return &s
}

// adk-js stores documents in P1's tables, under the same version of the schema, so that
// an application in each language can share a database. What differs in a document is its
// time: adk-js's is in whole milliseconds, adk-python's in seconds with a fraction.
const wholeTime = "documents with times in whole milliseconds, as adk-js writes them"

// wholeMillis is a time in a document as adk-js writes it. As seconds it would be after the
// year 9999.
func wholeMillis(value jsontext.Value) (millis int64, ok bool) {
	if value.Kind() != jsontext.KindNumber {
		return 0, false
	}
	millis, err := strconv.ParseInt(string(value), 10, 64)
	return millis, err == nil && millis >= endOfTime
}

// documentStamp is the time in a document of this generation. The column has it to the
// microsecond, where adk-js's copy has cut it off.
func (g generation) documentStamp(s *stored, column any) stamp {
	millis, whole := wholeMillis(s.Timestamp)
	if in := g.unitOf(column); g != p1 || !whole || in == milliseconds {
		return jsonStamp(s.Timestamp, in)
	}
	if s.dialect == "" {
		s.dialect = wholeTime
	}
	copied := milliseconds.stamp(float64(millis))
	if rest := s.time.Sub(s.time.Truncate(time.Millisecond)); copied.bad == "" && !s.time.IsZero() {
		copied.Time = copied.Add(rest)
	}
	return copied
}

// wholeLater is a time of adk-js in a document beside a column with a text, so many
// microseconds later: what the column says then, cut off. It is nil for other times.
func (r *revision) wholeLater(value jsontext.Value, by int64) jsontext.Value {
	millis, whole := wholeMillis(value)
	if _, isText := r.row.Value("timestamp").(string); !whole || !isText {
		return nil
	}
	was := time.UnixMicro(place(r.row.Value("timestamp")))
	is := was.Add(time.Duration(by) * time.Microsecond)
	return jsontext.Value(strconv.FormatInt(millis+is.UnixMilli()-was.UnixMilli(), 10))
}

// timeLike is the time of a new event in a document, as its neighbour's is written, or
// the neighbour's writer would have written it.
func (r *revision) timeLike(near jsontext.Value, it *session.Item, later int64) (jsontext.Value, error) {
	stored := jsonStamp(near, r.unit())
	_, whole := wholeMillis(near)
	switch {
	case r.unit() == milliseconds:
		return shifted(near, milliseconds, later)
	case whole:
		return jsontext.Value(strconv.FormatInt(it.Time.UnixMilli(), 10)), nil
	case it.Time.IsZero() || stored.bad != "":
		return shifted(near, r.unit(), later)
	case near.Kind() == jsontext.KindString:
		return quote(it.Time.In(stored.Location()).Format(time.RFC3339Nano)), nil
	case near != nil, r.documentSpelling()("invocation_id") == "invocation_id":
		return inSeconds(it.Time.UnixMicro()), nil
	}
	return quote(it.Time.Format(time.RFC3339Nano)), nil
}
