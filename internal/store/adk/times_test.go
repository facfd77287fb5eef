package adk

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/store/column"
)

func TestColumnTimes(t *testing.T) {
	at := time.Date(2026, 11, 20, 21, 39, 10, 58338000, time.UTC)
	for _, tc := range []struct {
		name  string
		value any
		want  time.Time
		zoned bool
		bad   string
	}{
		{"adk-go", "2026-11-20 21:39:10.058338+00:00", at, true, ""},
		{"another zone", "2026-11-20 22:39:10.058338+01:00", at, true, ""},
		{"zeros cut", "2026-11-20 22:56:19.19+01:00", time.Date(2026, 11, 20, 21, 56, 19, 190e6, time.UTC), true, ""},
		{"a T and a Z", "2026-11-20T21:39:10.058338Z", at, true, ""},
		{"bytes", []byte("2026-11-20 21:39:10.058338+00:00"), at, true, ""},
		{"SQLAlchemy", "2026-11-20 21:39:10.058338", at, false, ""},
		{"a day", "2026-11-20", time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), false, ""},
		{"seconds", 1795210750.058338, at, false, ""},
		{"whole seconds", int64(1733040000), time.Unix(1733040000, 0), false, ""},
		{"NULL", nil, time.Time{}, false, ""},
		{"Go's zero time", "0001-01-01 00:00:00+00:00", time.Time{}, true, "zero time"},
		{"milliseconds", 1733040000000.0, time.Time{}, false, "looks like milliseconds"},
		{"words", "yesterday", time.Time{}, false, "neither a number"},
		{"empty", "", time.Time{}, false, "neither a number"},
		{"no number", math.NaN(), time.Time{}, false, "outside the years"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := stampOf(columnTimes, tc.value, column.Seconds)
			if !got.Equal(tc.want) || got.Zoned != tc.zoned || !strings.Contains(got.Wrong, tc.bad) || (got.Wrong == "") != (tc.bad == "") {
				t.Errorf("got %v, zoned %v, %q", got.Time, got.Zoned, got.Wrong)
			}
		})
	}
}

// TestDocumentTimes has the values that the test of adk-go's own reader has (docs/stores/adk.md#what-is-read).
func TestDocumentTimes(t *testing.T) {
	for _, tc := range []struct {
		json string
		want float64 // seconds
		ok   bool
	}{
		{`1733040000`, 1733040000, true}, {`1733040000.5`, 1733040000.5, true}, {`1.7330400e9`, 1733040000, true},
		{`0`, 0, true}, {`-86400`, -86400, true}, {`-0.5`, -0.5, true},
		{`"2024-12-01T08:00:00Z"`, 1733040000, true}, {`"2024-12-01T09:00:00+01:00"`, 1733040000, true},
		{`"not-a-date"`, 0, false}, {`{}`, 0, false}, {`true`, 0, false}, {`1e300`, 0, false}, {`1e19`, 0, false}, {`1733040000000`, 0, false},
	} {
		got := jsonStamp(jsontext.Value(tc.json), column.Seconds)
		if (got.Wrong == "") != tc.ok || tc.ok && got.UnixMicro() != int64(tc.want*1e6) {
			t.Errorf("%s: got %v, %q", tc.json, got.Time, got.Wrong)
		}
	}
	for _, absent := range []jsontext.Value{nil, jsontext.Value(`null`)} {
		if got := jsonStamp(absent, column.Seconds); got.Wrong != "" || !got.IsZero() {
			t.Errorf("%s: got %v, %q", absent, got.Time, got.Wrong)
		}
	}
}

// TestPlaceFollowsTheReader holds that times sort as SQLite sorts the stored values:
// texts by their characters, whatever their offsets say.
func TestPlaceFollowsTheReader(t *testing.T) {
	rising := []any{
		nil, "2026-11-20 21:39:10+00:00", "2026-11-20 21:39:10.058338+00:00", "2026-11-20 21:39:10.05834+00:00",
		"2026-11-20 22:01:39+00:00", "2026-11-20 22:58:39+01:00", "2026-11-20 23:00:00-05:00", "garbage",
	}
	for i := 1; i < len(rising); i++ {
		if a, b := placeOf(rising[i-1]), placeOf(rising[i]); a >= b {
			t.Errorf("%v is at %d, and %v at %d", rising[i-1], a, rising[i], b)
		}
	}
	if a, b := placeOf(1795210750.058338), placeOf(1795210750.058339); b-a != 1 {
		t.Errorf("a microsecond becomes %d", b-a)
	}
}
