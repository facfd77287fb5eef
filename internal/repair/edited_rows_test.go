package repair_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// saysTheRest: a message that was edited differs from what it was in ids, a blank
// text and arguments that hold what they were.
func saysTheRest(t *rapid.T, before, after string) {
	var was, is map[string]any
	if json.Unmarshal([]byte(before), &was) != nil || json.Unmarshal([]byte(after), &is) != nil {
		t.Fatalf("%s was edited and is %s", before, after)
	}
	before, _ = was["content"].(string)
	after, _ = is["content"].(string)
	if strings.TrimSpace(before) == "" && after == "" { // a provider that accepts a blank text keeps it
		delete(was, "content")
		delete(is, "content")
	}
	old, _ := was["tool_calls"].([]any)
	now, _ := is["tool_calls"].([]any)
	for i := range min(len(old), len(now)) {
		a, b := old[i].(map[string]any), now[i].(map[string]any)
		delete(a, "id")
		delete(b, "id")
		f, g := a["function"].(map[string]any), b["function"].(map[string]any)
		var wrapped struct{ INVALID_JSON *string } //nolint:revive // the member's own name
		if json.Unmarshal([]byte(fmt.Sprint(g["arguments"])), &wrapped) == nil && wrapped.INVALID_JSON != nil && *wrapped.INVALID_JSON == f["arguments"] {
			g["arguments"] = f["arguments"]
		}
	}
	delete(was, "tool_call_id")
	delete(is, "tool_call_id")
	if d := cmp.Diff(was, is); d != "" {
		t.Fatalf("an edit changed more, before (-), now (+):\n%s", d)
	}
}
