package kagent

import (
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/problem"
)

// timeLike is the time that has a place in the order of a session, in the form of
// another one: the same separators, and the same offset from UTC, since places are
// what clocks show.
func timeLike(like any, position int64) (any, error) {
	stored, _ := like.(string)
	text, _, _ := strings.Cut(stored, " m=")
	clock := time.UnixMicro(position).UTC()
	for _, form := range timeForms {
		t, err := time.Parse(form, text)
		if err != nil {
			continue
		}
		seconds, zone, _ := strings.Cut(form, "05")
		if !strings.HasSuffix(text, "Z") {
			zone = strings.Replace(zone, "Z07", "-07", 1)
		}
		at := time.Date(clock.Year(), clock.Month(), clock.Day(), clock.Hour(), clock.Minute(), clock.Second(), clock.Nanosecond(), t.Location())
		formed := at.Format(seconds + "05" + fractionLike(text) + zone)
		if _, wrong := parseTime(formed); wrong != "" {
			break // the place of a time that is none
		}
		return formed, nil
	}
	return nil, problem.New(problem.RolledBack, "", "a record cannot get a place beside one whose time is none in a text")
}

// fractionLike is the form of the fraction of a second, with as many digits where
// these tell microseconds: the store orders times as texts.
func fractionLike(text string) string {
	_, fraction, _ := strings.Cut(text, ".")
	digits := len(fraction) - len(strings.TrimLeft(fraction, "0123456789"))
	if digits < len("000000") {
		return ".999999999"
	}
	return "." + strings.Repeat("0", min(digits, len("000000000")))
}
