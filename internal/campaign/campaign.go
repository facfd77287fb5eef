// Package campaign says how long tests take. There are three lengths: the usual one, which
// draws a fifth of the rounds that a test names; very many rounds with SESSCTL_LONG=1, which
// make test-long sets; and with -short, which make test-race sets, the usual rounds of what
// can show a race.
package campaign

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// drawn is by how much the rounds of a test are divided that is run at each change; -short
// lets rapid divide its own checks by as much.
const drawn = 5

// Long reports whether the long campaigns run.
func Long() bool { return os.Getenv("SESSCTL_LONG") != "" }

// Rounds chooses how often a test goes round: a fifth of all times, or many.
func Rounds(all, many int) int {
	if Long() {
		return many
	}
	return max(1, all/drawn)
}

// Stride chooses of how many cases in a row a test takes one: five times as many as it names,
// or few.
func Stride(all, few int) int {
	if Long() {
		return few
	}
	return all * drawn
}

// Checks lets rapid check each property of this test with a fifth of all cases, or with
// many. The test must not be parallel.
func Checks(t testing.TB, all, many int) {
	t.Helper()
	checks := flag.Lookup("rapid.checks").Value
	before := checks.String()
	t.Cleanup(func() { _ = checks.Set(before) })
	switch {
	case Long():
		all = many
	case !testing.Short(): // or else rapid divides
		all = max(1, all/drawn)
	}
	if err := checks.Set(strconv.Itoa(all)); err != nil {
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
