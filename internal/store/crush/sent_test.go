package crush_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/store/storetest"
)

// said leaves out the reminder that Crush puts before the first message.
func said(r *storetest.Request) []string {
	return slices.DeleteFunc(r.Said(), func(line string) bool { return strings.HasPrefix(line, `user "<system_reminder>`) })
}

// TestSent holds what view says of the next request against what Crush sent when it
// resumed the session; "What now?" was the user's next message.
func TestSent(t *testing.T) {
	for _, requests := range corpus.Names(t) {
		name, resumed := strings.CutSuffix(requests, "-resumed")
		if !resumed && !strings.HasSuffix(name, ".repaired") {
			continue
		}
		t.Run(requests, func(t *testing.T) {
			list := corpus.Requests(t, requests)
			sent := said(&list[len(list)-1])
			if next := sent[len(sent)-1]; !strings.HasPrefix(next, `user "What now?`) {
				t.Fatalf("the last message is %s", next)
			}
			if diff := cmp.Diff(sent[:len(sent)-1], storetest.Foretold(t, corpus.Copy(t, name), storetest.Say(false))[0]); diff != "" {
				t.Errorf("-sent +view:\n%s", diff)
			}
		})
	}
}

func TestSentBefore(t *testing.T) {
	ended := []string{"agent", "agent-two", "chat", "compaction", "provider-error", "tools", "killed-child"}
	corpus.SentBefore(t, ended, map[string]string{"compaction": `user "Please go on #big"`}, said, storetest.Say(false))
}
