package column

import (
	"math"
	"strings"
	"testing"
	"time"
)

// Two stores as unlike as stores are: one with forms of its own and numbers whose size
// tells what they count, one that writes in UTC.
var (
	shown = &Times{
		Forms: []Form{
			{Layout: "2006-01-02 15:04:05Z07:00"}, {Layout: "2006-01-02 15:04:05Z07"}, {Layout: time.RFC3339},
			{Layout: "2006-01-02 15:04:05 -0700 MST"}, {Layout: "2006-01-02 15:04:05", Fraction: ".000000"}, {Layout: "2006-01-02", Fraction: ".000000"},
		},
		Behind: " m=", Number: BySize, Years: [2]int{1, 9999},
		Formless: "no time", Outside: "year %d", Zero: "zero",
	}
	inUTC = &Times{
		Forms: []Form{
			{"2006-01-02 15:04:05", ".000000"}, {"2006-01-02 15:04:05Z07:00", ".000000"}, {"2006-01-02 15:04:05-07", ".000000"}, {"2006-01-02 15:04", ".000000"},
		},
		T: true, UTC: true, Number: Milliseconds, Whole: true, Years: [2]int{2000, 2200},
		Formless: "no time of %s", Empty: "empty", Outside: "year %d", OutsideNumber: "year %d in %s",
	}
	counted = &Times{Number: Seconds, Years: [2]int{1970, 9999}, Formless: "no %s", Outside: "year %d"}
)

func TestRead(t *testing.T) {
	at := time.Date(2026, 11, 20, 21, 39, 10, 58_338_000, time.UTC)
	milli := at.Truncate(time.Millisecond)
	for _, tt := range []struct {
		of    *Times
		value any
		want  time.Time
		zoned bool
		wrong string
	}{
		{shown, nil, time.Time{}, false, ""},
		{shown, "2026-11-20 21:39:10.058338+00:00", at, true, ""},
		{shown, "2026-11-20 22:39:10.058338+01", at, true, ""},
		{shown, []byte("2026-11-20T21:39:10.058338Z"), at, true, ""},
		{shown, "2026-11-20 22:39:10.058338 +0100 CET m=+0.5", at, true, ""},
		{shown, "2026-11-20 21:39:10.058338", at, false, ""},
		{shown, "2026-11-20T21:39:10", time.Time{}, false, "no time"}, // no such form
		{shown, at.Unix(), at.Truncate(time.Second), false, ""},
		{shown, at.UnixMilli(), milli, false, ""},
		{shown, at.UnixMicro(), at, false, ""},
		{shown, at.UnixNano(), at, false, ""},
		{shown, float64(at.UnixMicro()) / 1e6, at, false, ""},
		{shown, "1795210750", time.Time{}, false, "no time"},
		{shown, "", time.Time{}, false, "no time"},
		{shown, "0001-01-01 00:00:00+00:00", time.Time{}, true, "zero"},
		{shown, "0000-01-01 00:00:00", time.Time{}, false, "year 0"},
		{shown, math.Inf(-1), time.Time{}, false, "year "},
		{shown, math.NaN(), time.Time{}, false, "year "},
		{inUTC, "2026-11-20 21:39:10.058338", at, false, ""},
		{inUTC, "2026-11-20T21:39:10.058338", at, false, ""},
		{inUTC, "2026-11-20T22:39:10.058338+01", at, true, ""},
		{inUTC, "2026-11-20T21:39", at.Truncate(time.Minute), false, ""},
		{inUTC, at.UnixMilli(), milli, false, ""},
		{inUTC, "1795210750058", milli, false, ""},
		{inUTC, float64(at.UnixMilli()), milli, false, ""},
		{inUTC, 1795210750058.5, time.Time{}, false, "no time of milliseconds"},
		{inUTC, "", time.Time{}, false, "empty"},
		{inUTC, at.Unix(), time.Time{}, false, "year 1970 in milliseconds"},
		{inUTC, "1999-12-31 23:59:59", time.Time{}, false, "year 1999"},
		{counted, 1795210750.058338, at, false, ""},
		{counted, int64(1795210750), at.Truncate(time.Second), false, ""},
		{counted, -1.0, time.Time{}, false, "year 1969"},
		{counted, "soon", time.Time{}, false, "no seconds"},
	} {
		got := tt.of.Read(tt.value)
		if !got.Equal(tt.want) || got.Zoned != tt.zoned || !strings.HasPrefix(got.Wrong, tt.wrong) || (got.Wrong == "") != (tt.wrong == "") {
			t.Errorf("%#v is %v, zoned %v, %q", tt.value, got.Time, got.Zoned, got.Wrong)
		}
	}
}

// TestWrite holds that a time is written as its neighbour is, by separators, digits and
// offset.
func TestWrite(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 500_000_000, time.UTC)
	for _, tt := range []struct {
		of      *Times
		stored  string
		instant time.Time
		want    string
	}{
		{shown, "2026-01-01 00:00:00+00:00", time.Time{}, "2026-11-20 12:00:00.5+00:00"},
		{shown, "2026-01-01 00:00:00Z", time.Time{}, "2026-11-20 12:00:00.5Z"},
		{shown, "2026-01-01 00:00:00-03:30", time.Time{}, "2026-11-20 12:00:00.5-03:30"},
		{shown, "2026-01-01 00:00:00.000000-03", time.Time{}, "2026-11-20 12:00:00.500000-03"},
		{shown, "2026-01-01T00:00:00.12345678Z", time.Time{}, "2026-11-20T12:00:00.50000000Z"},
		{shown, "2026-01-01 00:00:00.1 +0100 CET m=+0.123456", time.Time{}, "2026-11-20 12:00:00.5 +0100 CET"},
		{shown, "2026-01-01 00:00:00", time.Time{}, "2026-11-20 12:00:00.500000"},
		{shown, "2026-01-01", time.Time{}, "2026-11-20 12:00:00.500000"},
		{shown, "2026-01-01 00:00:00+01:00", noon, "2026-11-20 12:00:00.5+00:00"},
		{shown, "2026-01-01 00:00:00+01", noon.Add(-90 * time.Minute), "2026-11-20 12:00:00.5+01:30"},
		{shown, "2026-01-01 00:00:00Z", noon.Add(time.Hour), "2026-11-20 12:00:00.5-01:00"},
		{shown, "2026-01-01 00:00:00", noon.Add(time.Hour), "2026-11-20 12:00:00.500000"},
		{shown, "soon", time.Time{}, ""},
		{inUTC, "2026-01-01 00:00:00+05:00", time.Time{}, "2026-11-20 12:00:00.500000Z"},
		{inUTC, "2026-01-01T00:00:00.1+05", time.Time{}, "2026-11-20T12:00:00.500000+00"},
		{inUTC, "2026-01-01T00:00", time.Time{}, "2026-11-20T12:00:00.500000"},
	} {
		got, ok := tt.of.Like(tt.stored, noon.UnixMicro(), tt.instant)
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("beside %s: %s, want %s", tt.stored, got, tt.want)
		}
	}
}

// TestSummerTime holds that the offset is the neighbour's, whatever the zone of the
// machine does meanwhile.
func TestSummerTime(t *testing.T) {
	here, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no zones are installed: ", err)
	}
	before := time.Local
	time.Local = here
	t.Cleanup(func() { time.Local = before })
	march := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC).UnixMicro()
	for stored, want := range map[string]string{
		"2026-03-28 12:00:00+01:00":      "2026-03-29 12:00:00+01:00",
		"2026-03-28 12:00:00 +0100 CET":  "2026-03-29 12:00:00 +0100 CET",
		"2026-03-30 12:00:00 +0200 CEST": "2026-03-29 12:00:00 +0200 CEST",
	} {
		if got, _ := shown.Like(stored, march, time.Time{}); got != want {
			t.Errorf("beside %s: %s, want %s", stored, got, want)
		}
	}
}

// FuzzTimes holds that a text is a time exactly where one can be written like it, that
// what is written is read as the time that it was, and that one more microsecond is
// more in the order of texts with as many digits.
func FuzzTimes(f *testing.F) {
	for _, text := range []string{
		"2026-11-20 21:39:10.058338+00:00", "2026-11-20T21:39:10Z", "2026-11-20 21:39:10-03", "2026-11-20 21:39", "2026-11-20",
		"2026-11-20 21:39:10.123456789 +0100 CET m=+0.5", "2026-11-20T21:39:10.058338+05:30", "soon", "",
	} {
		f.Add(text, int64(1795210750058338))
	}
	end := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).UnixMicro()
	f.Fuzz(func(t *testing.T, text string, clock int64) {
		if clock %= end; clock < 0 {
			clock = -clock
		}
		for _, ts := range []*Times{shown, inUTC} {
			near, form := ts.Parse(text)
			got, ok := ts.Like(text, clock, time.Time{})
			if ok != (form != nil) {
				t.Fatalf("%q is a time: %v, and has a like: %v", text, form != nil, ok)
			}
			if _, offset := near.Zone(); !ok || max(offset, -offset) > 24*3600 {
				continue // package time reads more than a day's offset and writes what it does not read
			}
			again, _ := ts.Parse(got)
			if ClockMicros(again) != clock {
				t.Fatalf("%q at %d became %q, which is at %d", text, clock, got, ClockMicros(again))
			}
			next, _ := ts.Like(text, clock+1, time.Time{})
			if len(got) == len(next) && got >= next {
				t.Errorf("%q is not before %q", got, next)
			}
		}
	})
}
