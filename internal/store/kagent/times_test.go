package kagent

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTimes(t *testing.T) {
	want := time.Date(2026, 11, 20, 21, 41, 51, 120_000_000, time.UTC)
	for _, stored := range []any{
		"2026-11-20 21:41:51.12+00:00", "2026-11-20 21:41:51.120000000+00:00", "2026-11-20 23:41:51.12+02:00", "2026-11-20T21:41:51.12Z",
		"2026-11-20 21:41:51.12Z", "2026-11-20 21:41:51.12+00", "2026-11-20 21:41:51.12 +0000 UTC", "2026-11-20 21:41:51.12 +0000 UTC m=+0.5", "2026-11-20 21:41:51.12",
		"2026-11-20T21:41:51.12", []byte("2026-11-20 21:41:51.12+00:00"), want.UnixMilli(), want.UnixMicro(), want.UnixNano(), float64(want.UnixMilli()) / 1000,
	} {
		if got := times.Read(stored); got.Wrong != "" || !got.Equal(want) {
			t.Errorf("%v is %v: %s", stored, got.Time, got.Wrong)
		}
	}
	if got := times.Read(want.Unix()); got.Wrong != "" || !got.Equal(want.Truncate(time.Second)) {
		t.Errorf("seconds are %v: %s", got.Time, got.Wrong)
	}
	for _, stored := range []any{"", "soon", "0001-01-01 00:00:00+00:00", math.Inf(1), "2026-13-01 00:00:00"} {
		if got := times.Read(stored); got.Wrong == "" || !got.IsZero() {
			t.Errorf("%v is taken for %v", stored, got.Time)
		}
	}
	if times.Read(nil).Wrong != "" {
		t.Error("NULL is wrong")
	}
}

// TestPlaces holds that places are in the order of the times, and that what is no time
// stands at an end.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		draw := func(name string) time.Time {
			return base.Add(time.Duration(rapid.Int64Range(0, 1e15).Draw(t, name)))
		}
		a, b := draw("a"), draw("b")
		form := rapid.SampledFrom([]string{"2006-01-02 15:04:05.999999999-07:00", "2006-01-02 15:04:05.999999999 -0700 MST", time.RFC3339Nano}).Draw(t, "form")
		at, rest := placeOf(a.Format(form))
		other, more := placeOf(b.Format(form))
		if before := at < other || at == other && rest < more; before != a.Before(b) {
			t.Errorf("%v is at %d %d, %v at %d %d", a, at, rest, b, other, more)
		}
		if first, _ := placeOf(nil); first >= at {
			t.Error("NULL is not first")
		}
		if last, _ := placeOf("soon"); last <= at {
			t.Error("no time is not last")
		}
	})
}
