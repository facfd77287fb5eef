package campaign

import (
	"flag"
	"testing"

	"pgregory.net/rapid"
)

// length makes this test a part of a run of some length.
func length(t *testing.T, long, short string) {
	t.Setenv("SESSCTL_LONG", long)
	set := flag.Lookup("test.short").Value
	before := set.String()
	t.Cleanup(func() { _ = set.Set(before) })
	if err := set.Set(short); err != nil {
		t.Fatal(err)
	}
}

func TestLengths(t *testing.T) {
	for _, tt := range []struct {
		name, long, short string
		rounds, checks    int
	}{
		{"usual", "", "false", 2, 2},
		{"long", "1", "false", 400, 400},
		{"short", "", "true", 2, 2},
		{"a long campaign of what -short leaves", "1", "true", 400, 80},
	} {
		t.Run(tt.name, func(t *testing.T) {
			length(t, tt.long, tt.short)
			if got := Rounds(12, 400); got != tt.rounds {
				t.Errorf("%d rounds, want %d", got, tt.rounds)
			}
			if got, want := Stride(7, 1), map[bool]int{true: 1, false: 35}[Long()]; got != want {
				t.Errorf("one of %d, want one of %d", got, want)
			}
			Checks(t, 12, 400)
			checked := 0
			rapid.Check(t, func(*rapid.T) { checked++ })
			if checked != tt.checks {
				t.Errorf("%d checks, want %d", checked, tt.checks)
			}
		})
	}
}

func TestAShortRunGoesRoundOnce(t *testing.T) {
	length(t, "", "true")
	if got := Rounds(3, 10); got != 1 {
		t.Errorf("%d rounds, want 1", got)
	}
}

func TestShortRunsLeaveOutWhatShowsNoRace(t *testing.T) {
	for _, short := range []string{"true", "false"} {
		var reached bool
		t.Run("short "+short, func(t *testing.T) {
			length(t, "", short)
			ShowsNoRace(t)
			reached = true
		})
		if reached == (short == "true") {
			t.Errorf("short %s: reached %v", short, reached)
		}
	}
}
