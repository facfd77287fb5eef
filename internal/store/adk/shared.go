package adk

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

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
