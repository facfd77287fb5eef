package kagent

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/google/go-cmp/cmp"
)

// renames lets calls c1 and c2 name other sessions, and refuses to tell of c3.
func renames(m *mention) (string, error) {
	switch {
	case m.call == "c3":
		return "", errors.New("nobody knows")
	case m.call == "c1" && m.was == "old":
		return "new-1", nil
	case m.call == "c2" && m.was == "old":
		return "new-2", nil
	}
	return m.was, nil
}

func TestRewrite(t *testing.T) {
	tests := []struct {
		name, doc string
		want      []string // the pointers that change, with the values
		refused   bool
	}{
		{"legacy", `{"kind": "task", "id": "T", "contextId": "S", "history": [
			{"kind": "message", "contextId": "S", "parts": [{"kind": "text", "text": "S"}], "metadata": {"kagent_session_id": "S", "adk_user_id": "S"}},
			{"contextId": "other", "parts": []}], "status": {"state": "completed", "message": {"contextId": "S", "metadata": {"adk_session_id": "S"}}},
			"artifacts": [{"artifactId": "S", "metadata": {"adk_session_id": "S"}, "parts": [{"kind": "text", "text": "S", "metadata": {"adk_session_id": "S"}}]}],
			"metadata": {"kagent_session_id": "S", "nested": {"kagent_session_id": "S", "session": "S"}}}`, []string{
			"/artifacts/0/metadata/adk_session_id X", "/artifacts/0/parts/0/metadata/adk_session_id X", "/contextId X", "/history/0/contextId X",
			"/history/0/metadata/kagent_session_id X", "/metadata/kagent_session_id X", "/metadata/nested/kagent_session_id X",
			"/status/message/contextId X", "/status/message/metadata/adk_session_id X",
		}, false},
		{"1.0", `{"id":"T","contextId":"S","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"metadata":{"adk_session_id":"S"},"parts":[
			{"data":{"id":"c1","name":"a__NS__b","response":{"result":"ok","subagent_session_id":"old"}},"metadata":{"adk_type":"function_response"}}]}]}`, []string{
			"/artifacts/0/metadata/adk_session_id X", "/artifacts/0/parts/0/data/response/subagent_session_id new-1", "/contextId X",
		}, false},
		{"what tools were told and answered stays", `{"contextId":"S","history":[{"parts":[
			{"kind":"data","data":{"id":"c9","name":"t","args":{"contextId":"S","adk_session_id":"S","data":{"id":"c1","response":{"subagent_session_id":"old"}}}}},
			{"kind":"data","data":{"id":"c9","name":"t","response":{"contextId":"S","metadata":{"kagent_session_id":"S"}}}}]}]}`, []string{"/contextId X"}, false},
		{"calls and their answers", `{"history":[{"parts":[
			{"data":{"id":"c1","name":"w","args":{"request":"old"}},"metadata":{"kagent_type":"function_call","kagent_subagent_session_id":"old"}},
			{"data":{"id":"c2","name":"w","args":{"request":"old"}},"metadata":{"kagent_type":"function_call","kagent_subagent_session_id":"old"}},
			{"data":{"id":"c2","name":"w","response":{"subagent_session_id":"elsewhere"}}},
			{"data":{"id":"c4","name":"w","response":{"subagent_session_id":"old"}}},
			{"data":{"id":"c1","name":"w","response":"subagent_session_id"}}, {"data":{"id":"c1","response":{"subagent_session_id":7}}}]}]}`, []string{
			"/history/0/parts/0/metadata/kagent_subagent_session_id new-1", "/history/0/parts/1/metadata/kagent_subagent_session_id new-2",
		}, false},
		{"a question to a person names the session of the task that moved", `{"status":{"message":{"metadata":{"hitl":{"nested":{"task_id":"T","context_id":"S"}}},
			"parts":[{"data":{"name":"adk_request_confirmation","args":{"toolConfirmation":{"payload":{"task_id":"T","context_id":"S"}}}}},
			{"data":{"args":{"payload":{"task_id":"another","context_id":"S"},"also":{"task_id":"T","context_id":"s"}}}}]}}}`, []string{
			"/status/message/metadata/hitl/nested/context_id X", "/status/message/parts/0/data/args/toolConfirmation/payload/context_id X",
		}, false},
		{"nobody can tell", `{"history":[{"parts":[{"data":{"id":"c3","response":{"subagent_session_id":"old"}}}]}]}`, nil, true},
		{"odd forms", `{"contextId":["S"],"history":"S","parts":[{"data":[]},{"data":null,"metadata":7}],"adk_session_id":{"contextId":"S"}}`,
			[]string{"/adk_session_id/contextId X"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := rewrite{move: move{"S", "X"}, moved: map[string]move{"T": {"S", "X"}}, child: renames}
			got, err := r.applyToTask([]byte(tt.doc))
			if (err != nil) != tt.refused {
				t.Fatal(err)
			}
			if tt.refused {
				return
			}
			if diff := cmp.Diff(tt.want, changed(t, []byte(tt.doc), got)); diff != "" {
				t.Error(diff)
			}
			r.move = move{}
			stays, err := r.applyToTask([]byte(tt.doc))
			if err != nil {
				t.Fatal(err)
			}
			for _, change := range changed(t, []byte(tt.doc), stays) {
				if strings.HasSuffix(change, " X") && !strings.Contains(change, "context_id") {
					t.Errorf("the task stays where it is, and says %s", change)
				}
			}
		})
	}
}

// changed are the values that differ between two documents of the same form.
func changed(t *testing.T, before, after []byte) []string {
	t.Helper()
	was, is := leaves(t, before), leaves(t, after)
	var list []string
	for pointer, value := range is {
		if was[pointer] != value {
			list = append(list, pointer+" "+value)
		}
	}
	for pointer := range was {
		if _, there := is[pointer]; !there {
			t.Errorf("%s is gone", pointer)
		}
	}
	slices.Sort(list)
	return list
}

// leaves are all values of a document but objects and lists, by their pointers.
func leaves(t *testing.T, doc []byte) map[string]string {
	t.Helper()
	list := map[string]string{}
	var walk func(at jsontext.Pointer, value jsontext.Value)
	walk = func(at jsontext.Pointer, value jsontext.Value) {
		var members map[string]jsontext.Value
		var elements []jsontext.Value
		switch {
		case json.Unmarshal(value, &members) == nil:
			for name, member := range members {
				walk(at.AppendToken(name), member)
			}
		case json.Unmarshal(value, &elements) == nil:
			for i, element := range elements {
				walk(at.AppendToken(strconv.Itoa(i)), element)
			}
		default:
			list[string(at)] = strings.Trim(string(value), `"`)
		}
	}
	if !jsontext.Value(doc).IsValid() {
		t.Fatalf("%s is no JSON", doc)
	}
	walk("", doc)
	return list
}

// FuzzRewrite rewrites what is no task, too: it never panics, what is no JSON object is
// refused, and a rewrite back gives the same values again.
func FuzzRewrite(f *testing.F) {
	for _, doc := range []string{
		`{"contextId":"S","history":[{"contextId":"S","metadata":{"adk_session_id":"S"},"parts":[{"data":{"id":"c1","response":{"subagent_session_id":"old"}}}]}]}`,
		`"{\"contextId\":\"S\",\"status\":{\"message\":{\"metadata\":{\"task_id\":\"T\",\"context_id\":\"S\"}}}}"`,
		` {"contextId" : "S", "a": "\u00e9\ud800", "contextId":"S"} `, `[]`, `{"data":{"id":"c2"},"metadata":{"kagent_subagent_session_id":"old"}}`, `"S"`, `{`, ``, `"\ud800{}"`, `{"a":"","a":{}}`,
	} {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, stored string) {
		doc, err := openDocument(stored)
		if err != nil {
			return
		}
		if !jsontext.Value(doc.was).IsValid(lenient) {
			t.Fatalf("%q was taken for a document", stored)
		}
		there := rewrite{move: move{"S", "\x00X"}, moved: map[string]move{"T": {"S", "\x00X"}}, child: renames}
		back := rewrite{
			move: move{"\x00X", "S"}, moved: map[string]move{"T": {"\x00X", "S"}},
			child: func(m *mention) (string, error) {
				return strings.NewReplacer("new-1", "old", "new-2", "old").Replace(m.was), nil
			},
		}
		if strings.Contains(stored, "new-") || strings.Contains(stored, "X") {
			return
		}
		if doc.editObject(there.applyToTask) != nil {
			return
		}
		again, err := openDocument(doc.columnValue())
		if err != nil {
			t.Fatalf("%q became %q: %v", stored, doc.columnValue(), err)
		}
		if err := again.editObject(back.applyToTask); err != nil {
			t.Fatal(err)
		}
		var was, is any
		if json.Unmarshal(doc.was, &was, lenient) != nil {
			return // a name has values of two kinds, which this decoder refuses
		}
		if json.Unmarshal(again.is, &is, lenient) != nil || !cmp.Equal(was, is) {
			t.Fatalf("%q became %q and then %q", stored, doc.columnValue(), again.is)
		}
	})
}
