package adk

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
)

// columnTimes are the forms of a time in a column (docs/stores/adk.md#what-is-read): texts with an offset, as adk-go
// writes them without zeros at the end, and without, as SQLAlchemy does with all six
// digits. The years are those that Python and adk-go's reader take.
var columnTimes = column.Times{
	Forms: []column.Form{
		{Layout: "2006-01-02 15:04:05Z07:00", Fraction: ".999999"},
		{Layout: "2006-01-02 15:04:05Z07", Fraction: ".999999"}, // PostgreSQL's own, which a copy of its tables has
		{Layout: time.RFC3339, Fraction: ".999999"},
		{Layout: "2006-01-02 15:04:05", Fraction: ".000000"},
		{Layout: "2006-01-02T15:04:05", Fraction: ".000000"},
		{Layout: "2006-01-02", Fraction: ".000000"},
	},
	Years:         [2]int{1, 9999},
	Formless:      "it is neither a number of %s nor in the form 2026-02-03 09:56:40.123456, with or without an offset from UTC",
	Outside:       "its year is %d",
	OutsideNumber: "as a number of %s it is outside the years 1 to 9999",
	Zero:          "it is the zero time",
}

// documentTimes are those of a time in a document: a number, or a text as adk-go writes it.
var documentTimes = func() column.Times {
	times := columnTimes
	times.Forms = []column.Form{{Layout: time.RFC3339}}
	times.Formless = "it is neither a number of %s nor a text in the form 2026-02-03T09:56:40Z"
	return times
}()

// endOfTime is the second at which the year 10000 begins.
const endOfTime = 253402300800

// stampOf reads a time whose numbers count such units.
func stampOf(forms column.Times, value any, in column.Unit) column.Stamp {
	number, isNumber := value.(float64)
	if whole, ok := value.(int64); ok { // rounded as its copy in a document is
		number, isNumber, value = float64(whole), true, float64(whole)
	}
	forms.Number = in
	s := forms.Read(value)
	if second := number / 1000; isNumber && in == column.Seconds && s.Wrong != "" && second > 946684800 && second < 7258118400 { // 2000 to 2200
		s.Wrong += "; it looks like milliseconds"
	}
	return s
}

// jsonStamp reads a time in a document.
func jsonStamp(value jsontext.Value, in column.Unit) column.Stamp {
	var stored any = "" // which is no time
	switch value.Kind() {
	case 0, jsontext.KindNull:
		stored = nil
	case jsontext.KindNumber:
		if number, err := jsonFloat(value); err == nil {
			stored = number
		}
	case jsontext.KindString:
		stored = unquoteText(value)
	}
	return stampOf(documentTimes, stored, in)
}

// unitOf is what the numbers of a row count, by its time in a column: adk-js writes
// integers, in P1's table, too, where both may write; SQLAlchemy writes texts.
func (g generation) unitOf(value any) column.Unit {
	switch value.(type) {
	case int64:
		if g == p1 || g.inMilliseconds() {
			return column.Milliseconds
		}
	case string, []byte:
	default:
		if g.inMilliseconds() {
			return column.Milliseconds
		}
	}
	return column.Seconds
}

// placeOf is where a time stands in the order in which the store's reader compares
// times, in microseconds: adk-go's and SQLAlchemy's are texts in SQLite, so that
// times compare as their clocks showed them, whatever the offset (docs/stores/adk.md#order).
// NULL comes first, as in SQL, and a text that is no time where its letters are. An
// integer is its own place, in milliseconds: SQLite orders it before every text.
func placeOf(value any) int64 {
	switch v := value.(type) {
	case nil:
		return 0
	case int64:
		return v
	case float64:
		return column.Micros(v)
	}
	text := column.View(value)
	if t, form := columnTimes.Parse(text); form != nil {
		return column.ClockMicros(t)
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

// guessZone guesses how far the clock of the items was from UTC, in which a summary gives its
// limits: these are the times of the first and of the last event that it covers. Where
// no zone makes them so, the summary was written right behind its end.
func (c *span) guessZone(items []session.Item, written time.Time) time.Duration {
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

// shiftClock is the span on another clock.
func (c *span) shiftClock(zone time.Duration) *span {
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
	if value.Kind() != jsontext.KindNumber || bytes.IndexByte(value, '.') >= 0 { // an error takes longer to make
		return 0, false
	}
	millis, err := strconv.ParseInt(string(value), 10, 64)
	return millis, err == nil && millis >= endOfTime
}

// documentStamp is the time in a document of this generation. The column has it to the
// microsecond, where adk-js's copy has cut it off.
func (g generation) documentStamp(s *stored, inColumn any) column.Stamp {
	millis, whole := wholeMillis(s.Timestamp)
	if in := g.unitOf(inColumn); g != p1 || !whole || in == column.Milliseconds {
		return jsonStamp(s.Timestamp, in)
	}
	if s.dialect == "" {
		s.dialect = wholeTime
	}
	copied := stampOf(documentTimes, millis, column.Milliseconds)
	if rest := s.time.Sub(s.time.Truncate(time.Millisecond)); copied.Wrong == "" && !s.time.IsZero() {
		copied.Time = copied.Add(rest)
	}
	return copied
}

// wholeLater is a time of adk-js in a document beside a column with a text, so many
// microseconds later: what the column says then, cut off. It is nil for other times.
func (r *revision) wholeLater(value jsontext.Value, by int64) jsontext.Value {
	millis, whole := wholeMillis(value)
	if _, isText := r.Value("timestamp").(string); !whole || !isText {
		return nil
	}
	was := time.UnixMicro(placeOf(r.Value("timestamp")))
	is := was.Add(time.Duration(by) * time.Microsecond)
	return jsontext.Value(strconv.FormatInt(millis+is.UnixMilli()-was.UnixMilli(), 10))
}

// timeLike is the time of a new event in a document, as its neighbour's is written, or
// the neighbour's writer would have written it.
func (r *revision) timeLike(near jsontext.Value, it *session.Item, later int64) (jsontext.Value, error) {
	stored := jsonStamp(near, r.timeUnit())
	_, whole := wholeMillis(near)
	switch {
	case r.timeUnit() == column.Milliseconds:
		return shiftStamp(near, column.Milliseconds, later)
	case whole:
		return jsontext.Value(strconv.FormatInt(it.Time.UnixMilli(), 10)), nil
	case it.Time.IsZero() || stored.Wrong != "":
		return shiftStamp(near, r.timeUnit(), later)
	case near.Kind() == jsontext.KindString:
		return quoteText(it.Time.In(stored.Location()).Format(time.RFC3339Nano)), nil
	case near != nil, r.documentSpelling()("invocation_id") == "invocation_id":
		return inSeconds(it.Time.UnixMicro()), nil
	}
	return quoteText(it.Time.Format(time.RFC3339Nano)), nil
}
