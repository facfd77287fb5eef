package adk

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/problem"
)

// move gives an event another place in its session: its time changes, and the copy
// of it in its document by as much.
func (r *revision) move(position int64) error {
	column := r.row.Value("timestamp")
	at, err := stampLike(column, position, time.Time{})
	if err != nil {
		return err
	}
	r.set("timestamp", at)
	if !r.row.Has("event_data") {
		return nil
	}
	return r.shift(position - place(column))
}

// shift makes the time in a document so many places later.
func (r *revision) shift(by int64) error {
	copied := r.inside(spot{column: "event_data"}, "timestamp")
	if value := r.wholeLater(r.raw(copied), by); value != nil {
		return r.put(copied, value)
	}
	value, err := shifted(r.raw(copied), r.unit(), by)
	if err != nil || value == nil {
		return err
	}
	return r.put(copied, value)
}

// unit is what the times of a row count that are numbers: a column with an integer is
// in milliseconds, and so is the copy beside it.
func (r *revision) unit() unit {
	if _, whole := r.row.Value("timestamp").(int64); whole {
		return milliseconds
	}
	return seconds
}

// stampLike is the time that has a place in the order of a session, in the form of
// another one: a number of seconds, or a text with the same separators and the same
// offset, or the one that makes it the given instant. adk-go leaves zeros at the end
// out, SQLAlchemy writes all six digits.
func stampLike(like any, position int64, instant time.Time) (any, error) {
	switch like.(type) {
	case int64:
		return position, nil
	case float64:
		return float64(position) / 1e6, nil
	}
	text, clock := textOf(like), time.UnixMicro(position).UTC()
	for _, f := range textForms {
		t, err := time.Parse(f.form, text)
		if err != nil {
			continue
		}
		seconds, zone, _ := strings.Cut(f.form, "05")
		digits := ".000000"
		if f.zoned {
			digits = ".999999"
			_, offset := t.Zone()
			if !instant.IsZero() {
				offset = int((position - instant.UnixMicro()) / 1e6)
			}
			if offset%3600 != 0 {
				zone = "Z07:00"
			}
			zone = zoneLike(text, zone)
			clock = time.Date(clock.Year(), clock.Month(), clock.Day(), clock.Hour(), clock.Minute(), clock.Second(), clock.Nanosecond(), time.FixedZone("", offset))
		}
		stamp := clock.Format(seconds + "05" + digits + zone)
		if blob, ok := like.([]byte); ok && blob != nil {
			return []byte(stamp), nil
		}
		return stamp, nil
	}
	return nil, problem.New(problem.RolledBack, "", "an event cannot get another place beside one whose timestamp is no time")
}

// zoneLike is the form of an offset that a text has: adk-go writes +00:00 where RFC
// 3339 has Z.
func zoneLike(text, form string) string {
	if strings.HasSuffix(text, "Z") {
		return form
	}
	return strings.Replace(form, "Z", "-", 1)
}

// shifted is a time in a document, so many places later: milliseconds where it counts
// these, else microseconds; nil when there is none.
func shifted(value jsontext.Value, in unit, by int64) (jsontext.Value, error) {
	stored := jsonStamp(value, in)
	switch {
	case stored.bad != "":
		return nil, problem.New(problem.RolledBack, "", "an event cannot get another place: the copy of its time in event_data is no time")
	case stored.IsZero():
		return nil, nil
	case value.Kind() == jsontext.KindString:
		return quote(stored.Add(time.Duration(by) * time.Microsecond).Format(time.RFC3339Nano)), nil
	case in == milliseconds:
		return jsontext.Value(strconv.FormatInt(stored.UnixMilli()+by, 10)), nil
	}
	return inSeconds(stored.UnixMicro() + by), nil
}

// inSeconds are microseconds as JSON has them: seconds since 1970, with as few digits
// as tell them from others, as Python writes a float.
func inSeconds(micros int64) jsontext.Value {
	value := float64(micros) / 1e6
	text := strconv.FormatFloat(value, 'f', -1, 64)
	if value == math.Trunc(value) {
		text += ".0"
	}
	return jsontext.Value(text)
}
