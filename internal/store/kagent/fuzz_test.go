package kagent

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sessctl/sessctl/internal/session"
)

// FuzzEvent holds that no event is too odd to read, that reading without bodies gives
// the same outline, that equal texts have equal digests, that a row names no other
// sessions than its item does, and that what is shown of it is JSON where it was.
func FuzzEvent(f *testing.F) {
	for _, seed := range []string{
		`{"invocation_id":"i","author":"a","content":{"role":"model","parts":[{"text":"x"},{"function_call":{"id":"c","name":"a__NS__b","args":{"request":"go"}}}]}}`,
		`{"InvocationID":"i","Author":"a","Content":{"parts":[{"functionResponse":{"id":"c","name":"a__NS__b","response":{"status":"pending","waiting_for":"x","subagent_session_id":"s"}}}],"role":"user"}}`,
		`{"invocationId":"header_update","author":"system","actions":{"stateDelta":{"headers":{"x-kagent-source":"agent"}},"requestedToolConfirmations":{"c":{"payload":{"context_id":"s"}}}}}`,
		`{"type":"conversation_items","items":[{"type":"function_call","call_id":"c","arguments":"{"},{"type":"function_call_output","call_id":"c","output":"x"},{"role":"user","content":[{"text":"x"}]}]}`,
		`{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"data","data":{"id":"c"},"metadata":{"adk_type":"function_call"}},{"file":{}},{"text":" "}]}`,
		`{"author":"user","content":{"parts":[{"function_response":{"id":"c","name":"b","response":{"result":"x","suBAgent_session_id":"s"}}}],"role":"user"}}`,
		`{"author":"user","content":{"parts":[{"function_response":{"id":"c","name":"b","response":{"result":"x","sub\u0061gent_session_id":"s"}}}],"role":"user"}}`,
		`"{\"invocation_id\":\"i\",\"actions\":{\"state_delta\":{\"headers\":{}}}}"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &reader{}
		row := func(column string) any {
			switch column {
			case "data":
				return data
			case "created_at":
				return "2026-11-20 21:41:51.126593108+00:00"
			}
			return nil
		}
		full, bare := session.Item{Key: "k", Shared: &session.Shared{}}, session.Item{Key: "k", Shared: &session.Shared{}}
		faultsFull, faultsBare := r.decodeItem(row, &full, true), r.decodeItem(row, &bare, false)
		if full.Body == nil || bare.Body != nil {
			t.Fatal("a body is missing, or too much")
		}
		ignore := cmp.Options{
			cmpopts.IgnoreFields(session.Item{}, "Body"), cmpopts.IgnoreFields(session.Call{}, "Args"), cmpopts.IgnoreFields(session.Result{}, "Text"),
		}
		if diff := cmp.Diff(full, bare, ignore); diff != "" || !cmp.Equal(faultsFull, faultsBare) {
			t.Error(diff)
		}
		named := map[string]bool{}
		for _, id := range r.listLinks(row) {
			named[id] = true
		}
		for _, result := range full.Results {
			if result.Digest != session.DigestOf(result.Text) {
				t.Errorf("a result of %d bytes has the digest of another text", len(result.Text))
			}
			if result.Child != "" && !named[result.Child] {
				t.Error("a row does not name the session that its result does")
			}
		}
		if jsontext.Value(data).IsValid(lenient) && !jsontext.Value(redactEvent(data)).IsValid(lenient) {
			t.Errorf("%q is shown as %q", data, redactEvent(data))
		}
		s := &session.Session{Items: []session.Item{bare}}
		r.finishSession(s)
		r.relateItems(s)
	})
}

// FuzzTask holds that no task is too odd to read.
func FuzzTask(f *testing.F) {
	f.Add([]byte(`{"kind":"task","status":{"state":"completed","message":{"parts":[{"text":"x"}]}},"history":[{"parts":[{"data":{"id":"c"},"metadata":{"adk_type":"function_call","kagent_subagent_session_id":"s"}}]}]}`))
	f.Add([]byte(`{"status":{"state":"TASK_STATE_WORKING"},"artifacts":[{"parts":[{"text":"x"}],"metadata":{"adk_invocation_id":"i"}}],"metadata":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &reader{otherTables: otherTables{stamps: map[string]map[string]string{}}}
		got := r.decodeTask(func(column string) any {
			if column == "data" {
				return data
			}
			return nil
		})
		if got.wrong != "" && (got.run.State != "" || !got.run.Open || bytes.ContainsAny([]byte(got.wrong), "\n")) {
			t.Errorf("a task that does not decode is %+v", got.run)
		}
	})
}
