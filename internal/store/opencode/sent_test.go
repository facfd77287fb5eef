package opencode_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store/storetest"
)

// differences are the recorded requests that view does not foretell, and why.
var differences = map[string]string{
	"killed-stream": `opencode sends the empty text that a cut stream left as an answer "", and view takes an empty message out: SC401 tells of it`,
}

// TestSent holds what view says of the next request against what opencode sent when it was
// asked to go on; "What now?" was the user's next message.
func TestSent(t *testing.T) {
	all, _ := filepath.Glob(filepath.Join(string(corpus), "*.requests.jsonl"))
	for _, path := range all {
		name := strings.TrimSuffix(filepath.Base(path), ".requests.jsonl")
		t.Run(name, func(t *testing.T) {
			sessions := storetest.Foretold(t, corpus.Copy(t, name), storetest.Say(true))
			for _, r := range corpus.Requests(t, name) {
				sent := r.Said()
				next := sent[len(sent)-1]
				if !strings.HasPrefix(next, `user "What now?`) {
					t.Fatalf("the last message is %s", next)
				}
				want := sent[:len(sent)-1]
				if differences[name] != "" {
					want = slices.DeleteFunc(want, func(line string) bool { return line == `assistant ""` })
				}
				if !slices.ContainsFunc(sessions, func(s []string) bool { return slices.Equal(s, want) }) {
					t.Errorf("no session is sent as\n%s\nbut as\n%s", strings.Join(want, "\n"), sessions)
				}
			}
		})
	}
}
