package goose_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store/storetest"
)

// TestRefusals: what goose stores of a request that was refused, as a text or as a part, is told
// by its exact form and by who said it.
func TestRefusals(t *testing.T) {
	const (
		moon  = "Request failed: Request failed with status: 400 Bad Request. Message: the moon is in the way"
		retry = `.\n\nPlease retry if you think this is a transient or recoverable error.`
		said  = "Ran into this error: " + moon + retry
		hid   = `{"userVisible":true,"agentVisible":false}`
		seen  = `{"userVisible":true,"agentVisible":true}`
		model = `{"userVisible":true,"agentVisible":true,"inference":{"provider":"openai","requestedModel":"gpt-5"}}`
	)
	text := func(said string) string { return `{"type":"text","text":"` + said + `"}` }
	part := func(said string) string { return `{"type":"error","kind":"other","message":"` + said + `"}` }
	for name, tt := range map[string]struct {
		role, content, metadata string
		found                   bool
	}{
		"a text":                      {"assistant", text(said), seen, true},
		"a text, of an old schema":    {"assistant", text(said), "", true},
		"a part":                      {"assistant", part(said), hid, true},
		"a part in other words":       {"assistant", part(moon), hid, true},
		"a network error":             {"assistant", text(`Network error: 400\n\nPlease resend your message to try again.`), seen, false},
		"what a model said":           {"assistant", text(said), model, false},
		"what a model quotes":         {"assistant", text("It said: " + said), seen, false},
		"a quote with more behind it": {"assistant", text(said + " So I stop."), seen, false},
		"two texts":                   {"assistant", text(said) + "," + text("x"), seen, false},
		"what a person said":          {"user", text(said), seen, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := corpus.Copy(t, "chat")
			insert := func(id, role, content, metadata string) string {
				return fmt.Sprintf("insert into messages (message_id, session_id, role, content_json, created_timestamp, metadata_json) select '%s', session_id, '%s', '[%s]', max(created_timestamp), '%s' from messages where session_id = '20261122_1'",
					id, role, content, metadata)
			}
			storetest.Change(t, path, insert("a", "user", text("one"), seen), insert("b", tt.role, tt.content, tt.metadata),
				insert("c", "user", text("two"), seen), insert("d", tt.role, tt.content, tt.metadata))
			found := slices.ContainsFunc(storetest.Findings(t, path), func(f string) bool { return strings.HasPrefix(f, "error SC309") })
			if found != tt.found {
				t.Errorf("found %q", storetest.Findings(t, path))
			}
		})
	}
}
