package adk

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/store/column"
)

// A place in the order becomes a time in the form of the one beside it, and stands
// where it is to stand.
func TestTimesLikeOthers(t *testing.T) {
	tests := []struct {
		like any
		by   int64
		want any
	}{
		{"2026-11-20 21:39:10.058338+00:00", 1, "2026-11-20 21:39:10.058339+00:00"},
		{"2026-11-20 22:56:19.19+01:00", 810_000, "2026-11-20 22:56:20+01:00"},
		{"2026-11-20 22:56:19-05:30", 1, "2026-11-20 22:56:19.000001-05:30"},
		{"2026-11-20 22:56:19.19+01", 1, "2026-11-20 22:56:19.190001+01"},
		{"2026-11-20 22:56:19-03", 1, "2026-11-20 22:56:19.000001-03"},
		{"2026-11-20 22:56:19.19Z", 1, "2026-11-20 22:56:19.190001Z"},
		{"2026-11-20T22:56:19.19Z", 1, "2026-11-20T22:56:19.190001Z"},
		{"2026-12-31 23:59:59.999999", 1, "2027-01-01 00:00:00.000000"},
		{"2026-11-20 22:56:19", 1, "2026-11-20 22:56:19.000001"},
		{"2026-11-20T22:56:19.000001", -1, "2026-11-20T22:56:19.000000"},
		{"2026-11-20", 1, "2026-11-20 00:00:00.000001"},
		{1763674756.70156, 1, 1763674756.701561},
		{int64(1763674756702), 1, int64(1763674756703)},
	}
	for _, tt := range tests {
		got, err := stampLike(tt.like, placeOf(tt.like)+tt.by, time.Time{})
		if err != nil || got != tt.want {
			t.Errorf("%v and %d places: %v, %v; want %v", tt.like, tt.by, got, err, tt.want)
		}
	}
	for _, like := range []any{nil, "", "soon", []byte{}} {
		if got, err := stampLike(like, 1, time.Time{}); err == nil {
			t.Errorf("%v became %v", like, got)
		}
	}
}

func TestEveryPlaceHasATime(t *testing.T) {
	likes := []any{"2026-11-20 21:39:10.058338+00:00", "2026-11-20 22:56:19.19-03:30", "2026-11-20 22:56:19.190000", 1763674756.70156, int64(1763674756702)}
	rapid.Check(t, func(t *rapid.T) {
		like := rapid.SampledFrom(likes).Draw(t, "like")
		at := rapid.Int64Range(0, 4e15).Draw(t, "place") // to the year 2096, as far as floats tell microseconds apart
		got, err := stampLike(like, at, time.Time{})
		if err != nil || placeOf(got) != at {
			t.Fatalf("%v stands at %d and not at %d: %v", got, placeOf(got), at, err)
		}
	})
}

func TestTimesInDocuments(t *testing.T) {
	tests := []struct {
		stored string
		by     int64
		want   string
	}{
		{"1763674756.70156", 1, "1763674756.701561"},
		{"1763674756", 500_000, "1763674756.5"},
		{"1763674756.5", 500_000, "1763674757.0"},
		{`"2026-11-20T22:56:19.19+01:00"`, 1, `"2026-11-20T22:56:19.190001+01:00"`},
		{"null", 1, ""},
	}
	for _, tt := range tests {
		got, err := shiftStamp(jsontext.Value(tt.stored), column.Seconds, tt.by)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s and %d places: %s, %v; want %s", tt.stored, tt.by, got, err, tt.want)
		}
	}
	if got, err := shiftStamp(jsontext.Value(`"soon"`), column.Seconds, 1); err == nil {
		t.Errorf("it became %s", got)
	}
}
