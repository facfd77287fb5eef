package problem_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/problem"
)

func TestNearest(t *testing.T) {
	words := []string{"select", "session", "since", "json", "ndjson", "junit", "as-is", "anthropic", "openai", "SC701"}
	for typed, want := range map[string]string{
		"selct": `Did you mean "select"?`, "slelect": `Did you mean "select"?`, "JSON": `Did you mean "json"?`, "jsno": `Did you mean "json"?`,
		"anthropics": `Did you mean "anthropic"?`, "se": `Did you mean "select" or "session"?`, "sc710": `Did you mean "SC701"?`,
		"x": "", "": "", "yaml": "", "azure": "",
	} {
		if got := problem.DidYouMean(typed, words); got != want {
			t.Errorf("%q: got %s, want %s", typed, got, want)
		}
	}
	if got := problem.DidYouMean("x", nil); got != "" {
		t.Error(got)
	}
}

// Every word with one slip of the fingers is recognised.
func TestNearestUndoesOneSlip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z]{4,12}`).Draw(t, "word")
		at := rapid.IntRange(0, len(word)-2).Draw(t, "at")
		letter := rapid.StringMatching(`[a-z]`).Draw(t, "letter")
		for _, typed := range []string{
			word[:at] + word[at+1:], word[:at] + letter + word[at:], word[:at] + letter + word[at+1:],
			word[:at] + word[at+1:at+2] + word[at:at+1] + word[at+2:],
		} {
			if got, want := problem.DidYouMean(typed, []string{"QQQQQQQQQQQQQQQQ", word}), `Did you mean "`+word+`"?`; got != want {
				t.Errorf("%q for %q: %s", typed, word, got)
			}
		}
	})
}
