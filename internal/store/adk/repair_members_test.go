package adk_test

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
)

// TestRepairOfMembers repairs values that keep a session from loading: no message leaves, what
// empties content waits for its word, and the undo gives back every byte.
func TestRepairOfMembers(t *testing.T) {
	for _, tc := range []struct {
		name   string
		gen    adktest.Generation
		change string // of the first event
		holds  string // what it holds then, in the column that holds the message
		allow  string
	}{
		{"metadata of a document", adktest.P1, `event_data = json_set(event_data, '$.avg_logprobs', 'x', '$.usage_metadata', json('[1]'))`, `"avg_logprobs":null,"usage_metadata":null`, ""},
		{"a number for a text", adktest.PS, `event_data = json_set(event_data, '$.error_code', 5)`, `"error_code":"5"`, ""},
		{"actions", adktest.PS, `event_data = json_set(event_data, '$.actions.artifact_delta', json('[]'))`, `"artifact_delta":{}`, ""},
		{"a column", adktest.P0, `usage_metadata = '"null"'`, "go", ""},
		{"a column of adk-go", adktest.G2, `usage_metadata = '{"totalTokenCount":"7"}'`, "go", ""},
		{"a text of a message", adktest.P1, `event_data = json_set(event_data, '$.content.parts[0].text', json('["go"]'))`, `"text":null`, "lossy"},
		{"a part that is none", adktest.P1, `event_data = json_set(event_data, '$.content.parts[#]', 5)`, `"text":"go"`, "lossy"},
		{"content in a column", adktest.G2, `content = '[1]'`, "nil", "lossy"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := created(t, tc.gen, adktest.Session{ID: "s", Events: []adktest.Event{
				{Author: "user", Invocation: "e-1", Parts: []adktest.Part{adktest.Text("go")}},
				{Author: "a", Invocation: "e-1", Parts: []adktest.Part{adktest.Text("gone")}},
			}})
			execute(t, path, `update events set `+tc.change+` where rowid = 1`)
			before := dump(t, path)
			if tc.allow != "" {
				if plan, receipt, err := repairtest.Repair(path); err != nil || receipt != nil {
					t.Fatalf("repaired without its word: %v %s", err, told(plan))
				}
			}
			plan, receipt, err := repairtest.Repair(path, strings.Fields(tc.allow)...)
			if err != nil || receipt == nil || len(plan.Findings) > 0 {
				t.Fatalf("%v %s", err, told(plan))
			}
			column := map[bool]string{true: "event_data", false: "content"}[tc.gen == adktest.P1 || tc.gen == adktest.PS]
			rows := query(t, path, "select "+column+" from events")
			if len(rows) != 2 || !strings.Contains(rows[0][0], tc.holds) {
				t.Errorf("it holds %q", rows)
			}
			stable(t, path, before, receipt)
		})
	}
}
