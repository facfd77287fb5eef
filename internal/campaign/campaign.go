// Package campaign says how long tests take. There are three lengths: the usual one;
// very many rounds with SESSCTL_LONG=1, which make test-long sets; and with -short,
// which make test-race sets, a fifth of the usual rounds and only what can show a race.
package campaign

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// shorter is by how much -short divides, as rapid divides its own checks.
const shorter = 5

func long() bool { return os.Getenv("SESSCTL_LONG") != "" }

// Rounds chooses how often a test goes round: usual times, or many.
func Rounds(usual, many int) int {
	switch {
	case long():
		return many
	case testing.Short():
		return max(1, usual/shorter)
	}
	return usual
}

// Checks lets rapid check each property of this test with usual cases, or with many;
// that -short takes fewer is rapid's own doing. The test must not be parallel.
func Checks(t testing.TB, usual, many int) {
	t.Helper()
	checks := flag.Lookup("rapid.checks").Value
	before := checks.String()
	t.Cleanup(func() { _ = checks.Set(before) })
	if long() {
		usual = many
	}
	if err := checks.Set(strconv.Itoa(usual)); err != nil {
		t.Fatal(err)
	}
}

// ShowsNoRace leaves a test out with -short whose work is in other processes, or in
// one goroutine that takes long.
func ShowsNoRace(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out what can show no race: work in other processes, or in one goroutine")
	}
}
