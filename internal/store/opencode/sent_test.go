package opencode_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/store/storetest"
)

// sentOf is what opencode sent when it was asked to go on from a recorded state, as view is to
// foretell it; "What now?" was the user's next message.
func sentOf(t *testing.T, name string) (sent []string) {
	t.Helper()
	list := corpus.Requests(t, name)
	sent = list[len(list)-1].Said()
	if next := sent[len(sent)-1]; !strings.HasPrefix(next, `user "What now?`) {
		t.Fatalf("the last message is %s", next)
	}
	return sent
}

// TestSent holds what view says of the next request against what opencode sent when it
// resumed the session.
func TestSent(t *testing.T) {
	for _, name := range corpus.Names(t) {
		if _, err := os.Stat(filepath.Join(string(corpus), name+".requests.jsonl")); err != nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			sent := sentOf(t, name)
			sent = sent[:len(sent)-1]
			sessions := storetest.Foretold(t, corpus.Copy(t, name), storetest.Say(true))
			if !slices.ContainsFunc(sessions, func(s []string) bool { return slices.Equal(s, sent) }) {
				t.Errorf("no session is sent as\n%s\nbut as\n%s", strings.Join(sent, "\n"), sessions)
			}
		})
	}
}

// TestSentBefore holds the same requests against what view says of the state that they left:
// opencode changed nothing of what it had sent, so the next request begins with it.
func TestSentBefore(t *testing.T) {
	for _, resumed := range corpus.Names(t) {
		name, ok := strings.CutSuffix(resumed, "-resumed")
		if !ok || name == "aborted" { // aborted-resumed is of another session
			continue
		}
		t.Run(resumed, func(t *testing.T) {
			sent, next := sentOf(t, name), storetest.Foretold(t, corpus.Copy(t, resumed), storetest.Say(true))[0]
			if diff := cmp.Diff(sent, next[:min(len(sent), len(next))]); diff != "" {
				t.Errorf("-sent +view:\n%s", diff)
			}
		})
	}
}

func TestSentAll(t *testing.T) {
	corpus.SentAll(t, (*storetest.Request).Said, storetest.Say(true), nil)
}
