package rules

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// formPatterns are the forms as providers document them.
var formPatterns = map[*Form]string{
	plainID:    `^[a-zA-Z0-9_-]+$`,
	serverID:   `^srvtoolu_[a-zA-Z0-9_]+$`,
	shortID:    `^[a-zA-Z0-9_-]{1,64}$`,
	upTo64:     `^(?s:.{1,64})$`,
	nineID:     `^[a-zA-Z0-9]{9}$`,
	plainName:  `^[a-zA-Z0-9_-]{1,64}$`,
	longName:   `^[a-zA-Z0-9_-]{1,128}$`,
	geminiName: `^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$`,
}

func TestFormsAreTheirPatterns(t *testing.T) {
	for _, p := range Profiles {
		for _, f := range []*Form{p.CallID, p.ServerID, p.ToolName} {
			if f != nil && formPatterns[f] == "" {
				t.Errorf("%s has a form without a pattern here", p.Name)
			}
		}
	}
	text := rapid.OneOf(
		rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.StringMatching(`(srvtoolu_)?[a-zA-Z0-9_.-]{0,20}[\n$ é]?`),
		rapid.Map(rapid.IntRange(0, 130), func(n int) string { return strings.Repeat("a", n) }),
		rapid.Map(rapid.IntRange(60, 68), func(n int) string { return strings.Repeat("é", n) }),
		rapid.Map(rapid.IntRange(60, 68), func(n int) string { return strings.Repeat("\xff", n) }),
	)
	for form, pattern := range formPatterns {
		exact := regexp.MustCompile(pattern)
		hold := func(t interface{ Errorf(string, ...any) }, text string) {
			if got, want := FitsForm(form, text), exact.MatchString(text); got != want {
				t.Errorf("Fits(%s, %q) = %v, want %v", pattern, text, got, want)
			}
		}
		for c := range 256 {
			for _, text := range []string{string([]byte{byte(c)}), "a" + string([]byte{byte(c)}), "srvtoolu_" + string([]byte{byte(c)}), "aaaaaaaa" + string([]byte{byte(c)})} {
				hold(t, text)
			}
		}
		rapid.Check(t, func(t *rapid.T) { hold(t, text.Draw(t, "text")) })
	}
}
