package adk

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sessctl/sessctl/internal/session"
)

// FuzzDocument holds that no document of an event is too odd to read, that reading
// without bodies gives the same outline, and that equal texts have equal digests.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(`{"author":"a","content":{"role":"model","parts":[{"text":"x"},{"function_call":{"id":"1","name":"f","args":{}}}]}}`))
	f.Add([]byte(`{"author":"user","actions":{"compaction":{"start_timestamp":1,"end_timestamp":2e3,"compacted_content":{"parts":[{"text":"x"}]}}}}`))
	f.Add([]byte(`{"content":{"role":"user","parts":[{"functionResponse":{"id":"1","response":{"error":"[sessctl] x"}}},{"inlineData":{"mimeType":"image/png"}}]}}`))
	f.Add([]byte(`{"branch":{"tokens":[1,2]},"timestamp":"2026-01-01T00:00:00Z","longRunningToolIds":["1"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, g := range []generation{p1, ps} {
			r := row{"timestamp": "2026-11-20 21:40:00", "event_data": data}
			full, bare := session.Item{Key: "k", Shared: &session.Shared{}}, session.Item{Key: "k", Shared: &session.Shared{}}
			notes := &notes{}
			faultsFull, faultsBare := g.decodeItem(r.columns, &full, true, notes), g.decodeItem(r.columns, &bare, false, notes)
			if full.Body == nil || bare.Body != nil {
				t.Fatal("a body is missing, or too much")
			}
			ignore := cmp.Options{
				cmpopts.IgnoreFields(session.Item{}, "Body"), cmpopts.IgnoreFields(session.Call{}, "Args"), cmpopts.IgnoreFields(session.Result{}, "Text"),
			}
			if diff := cmp.Diff(full, bare, ignore); diff != "" || !cmp.Equal(faultsFull, faultsBare) {
				t.Error(diff)
			}
			for _, result := range full.Results {
				if result.Digest != session.DigestOf(result.Text) {
					t.Errorf("a result of %d bytes has the digest of another text", len(result.Text))
				}
			}
			notes.finishSession(&session.Session{Items: []session.Item{full}})
		}
	})
}
