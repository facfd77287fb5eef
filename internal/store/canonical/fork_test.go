package canonical_test

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store/canonical"
)

// Whatever the runtime notes of a fork, it says that the session is one.
func TestForkOf(t *testing.T) {
	for value, forked := range map[string]bool{
		`{"session":"P","upto":2}`: true, `"P"`: true, "true": true, "2": true, "null": false,
	} {
		text := header + `{"type":"session","id":"C","fork_of":` + value + "}\n"
		if s := filled(t, openStream(t, text))[0].Root(); s.Forked != forked {
			t.Errorf("fork_of %s: forked is %t", value, s.Forked)
		}
		if got := export(t, openStream(t, text), canonical.WriteOptions{}); got != text {
			t.Errorf("exported again:\n%s", got)
		}
	}
	if s := filled(t, openStream(t, header+sessionOf("C")))[0].Root(); s.Forked {
		t.Error("a session that says nothing of a fork is one")
	}
}

func TestARedactedForkIsOne(t *testing.T) {
	text := header + `{"type":"session","id":"C","fork_of":{"session":"secret","upto":2}}` + "\n"
	got := export(t, openStream(t, text), canonical.WriteOptions{Redact: true})
	if s := filled(t, openStream(t, got))[0].Root(); !s.Forked || strings.Contains(got, "secret") {
		t.Errorf("redacted:\n%s", got)
	}
}
